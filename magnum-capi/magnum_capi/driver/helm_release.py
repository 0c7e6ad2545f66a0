# SPDX-License-Identifier: Apache-2.0

"""The Helm release of a cluster: applied, and repaired where Helm cannot see.

Helm compares manifests, not objects, and works on from the record of its last
revision. So what a dead helm, a move to another management cluster or a newer
Cluster API left behind is put right around each run.
"""

import collections.abc
import typing

from oslo_log import log as logging

from magnum_capi.driver.desired import names
from magnum_capi.driver import gather
from magnum_capi.driver.helm import helm as helm_module
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.helm import releases
from magnum_capi.kube import client
from magnum_capi.kube import kinds

LOG = logging.getLogger(__name__)

_Done = typing.TypeVar('_Done')

#: Kinds of a chart's objects that keep their names when they change.
_OVERWRITTEN = ('Cluster', 'KubeadmControlPlane', 'MachineDeployment',
                'MachineHealthCheck', 'OpenStackCluster', 'DevCluster')

#: Annotation of all objects that Helm has made or adopted: their release
#: (helm 3, pkg/action/validate.go).
_HELM_RELEASE = 'meta.helm.sh/release-name'


class HelmRelease:
    """The release of one cluster.

    :param name: of the release, and of the Cluster.
    :param uuid: of the cluster, for the log.
    :param check: raises an error unless the lock of the cluster is held.
    """

    def __init__(self, kube: client.Kube, helm: helm_module.Helm,
                 namespace: str, name: str, uuid: str,
                 check: collections.abc.Callable[[], None]) -> None:
        self._kube = kube
        self._helm = helm
        self._namespace = namespace
        self._name = name
        self._uuid = uuid
        self._check = check

    def applied(self) -> kinds.Objects | None:
        """What Helm has applied, None when nothing is deployed."""
        found = releases.applied(self._kube, self._namespace, self._name)
        return None if found is None else releases.parse(found)

    def preview(self, plan: gather.Plan) -> kinds.Objects:
        """What Helm would apply for a plan."""
        return releases.parse(self.run(lambda helm: helm.preview(
            self._name, plan.chart, plan.values, self._namespace)))

    def run(self, run: collections.abc.Callable[[helm_module.Helm], _Done]
            ) -> _Done:
        """Run helm, again if its record named versions that are not served.

        :param run: runs helm with the release of this cluster.
        """
        try:
            return run(self._helm)
        except helm_errors.VersionGone:
            if not releases.update_versions(
                    self._kube, self._namespace, self._name):
                raise
            LOG.warning('Cluster %s: the record of its Helm release %s named '
                        'API versions that are not served any more; it names '
                        'those of now', self._uuid, self._name)
            return run(self._helm)

    def apply(self, plan: gather.Plan,
              unwanted: collections.abc.Iterable[str]) -> None:
        """Have Helm apply a plan; a stuck release is repaired first.

        :param plan: see reconcile.Reconciler.record.
        :param unwanted: names of MachineDeployments of node groups that are
            not in the plan.
        """
        self._check()
        if releases.repair(self._kube, self._namespace, self._name,
                           self._helm.dead_after):
            LOG.warning('Repaired the Helm release %s, which a dead helm '
                        'left pending', self._name)
        adopted = self._is_unrecorded()
        self._check()
        revision = self.run(lambda helm: helm.upgrade(
            self._name, plan.chart, plan.values, self._namespace,
            digest=plan.desired.digest, adopted=adopted))
        # Helm may run for longer than the lock lasts.
        self._check()
        if adopted:
            self._drop_unrecorded(unwanted)
            self._write_over(revision)
        # The chart has no value for these annotations, and Helm keeps what it
        # did not write.
        for group, annotations in plan.capacities.items():
            self._kube.annotate(
                'MachineDeployment', self._namespace,
                names.machine_deployment(self._name, group), annotations)

    def _is_unrecorded(self) -> bool:
        """Whether the cluster may differ from what Helm has deployed.

        This is the case after "clusterctl move", which leaves Helm's Secrets
        behind, when a helm failed or was killed half-way, and when a process
        died before the objects were written over.
        """
        kube = self._kube
        left = releases.revisions(kube, self._namespace, self._name)
        if left:
            return left[-1].adopted or left[-1].status != 'deployed'
        return kube.get('Cluster', self._namespace, self._name) is not None

    def _drop_unrecorded(
            self, unwanted: collections.abc.Iterable[str]) -> None:
        """Delete what Helm never deletes of node groups that are not wanted.

        A helm that failed or was killed may have made a MachineDeployment.
        Once its group is not wanted any more, no manifest has it: it would
        run forever, and hold up each later operation.
        """
        for name in unwanted:
            found = self._kube.get(
                'MachineDeployment', self._namespace, name)
            metadata = (found or {}).get('metadata', {})
            if ((metadata.get('annotations') or {}).get(_HELM_RELEASE)
                    == self._name and 'deletionTimestamp' not in metadata):
                LOG.warning('Cluster %s: Helm has no record of the '
                            'MachineDeployment %s of a node group that is not '
                            'wanted; it is deleted', self._uuid, name)
                self._kube.delete(
                    'MachineDeployment', self._namespace, name)

    def _write_over(self, revision: int) -> None:
        """Write what Helm has rendered over objects that it left alone.

        Helm assumes that they are up to date: for custom resources it compares
        the manifest that was deployed last with the new one, not with the
        objects, and where it has only the new one, with that (helm 3,
        pkg/kube/client.go, createPatch). Objects of other kinds it compares
        with what is there, or has created again.
        """
        LOG.warning('Cluster %s: Helm had no record of all that is in its '
                    'release %s; it has one now', self._uuid,
                    self._name)
        for obj in self.applied() or ():
            if obj['kind'] in _OVERWRITTEN:
                obj['metadata']['namespace'] = self._namespace
                self._kube.apply(obj)
        releases.finish_takeover(
            self._kube, self._namespace, self._name, revision)
