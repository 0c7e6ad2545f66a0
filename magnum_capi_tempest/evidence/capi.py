# SPDX-License-Identifier: Apache-2.0

"""What the management cluster says about a workload cluster. Read-only.

Magnum's ``status_reason`` is mostly empty while a Cluster API driver waits
(magnum-cluster-api issue 64): the reason is in the conditions of the objects
that this module reads. Objects are found by Magnum's ``stack_id``, which all
known drivers use as the name of the Cluster.
"""

import collections.abc
import dataclasses
import functools

from magnum_capi_tempest.evidence import conditions
from magnum_capi_tempest.evidence import events
from magnum_capi_tempest.evidence import helm
from magnum_capi_tempest.evidence import owners
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import changes
from magnum_capi_tempest.kubeclient import kube

#: API groups of Cluster API and of its addon operator
#: (https://github.com/azimuth-cloud/cluster-api-addon-provider).
_GROUP_END = 'cluster.x-k8s.io'
_ADDON_GROUP = 'addons.stackhpc.com'

_SECRETS = '/api/v1/secrets'

#: Lists of other kinds that charts create for a cluster: the autoscaler of
#: capi-helm-charts runs in the management cluster.
_OTHERS = (
    ('/apis/apps/v1/deployments', 'Deployment'),
    ('/apis/rbac.authorization.k8s.io/v1/roles', 'Role'),
    ('/apis/rbac.authorization.k8s.io/v1/rolebindings', 'RoleBinding'),
    (_SECRETS, 'Secret'),
    ('/api/v1/serviceaccounts', 'ServiceAccount'),
)


@dataclasses.dataclass(frozen=True, order=True)
class Object:
    """An object of the management cluster."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, kind: str, obj: json_types.Object) -> 'Object':
        metadata = obj['metadata']
        return cls(kind, metadata.get('namespace', ''), metadata['name'])

    def __str__(self) -> str:
        return f'{self.kind} {self.namespace}/{self.name}'


def template(obj: json_types.Object) -> str:
    """Return the name of the template of the machines that an object makes.

    :param obj: a MachineDeployment, or a KubeadmControlPlane, which has it
        elsewhere, and in v1beta2 one level deeper.
    """
    spec = obj['spec'].get('machineTemplate') or obj['spec']['template']
    return str((spec.get('spec') or spec)['infrastructureRef']['name'])


def is_served(group: str) -> bool:
    """Whether an API group is one of Cluster API or its addons."""
    return (group in (_GROUP_END, _ADDON_GROUP)
            or group.endswith(f'.{_GROUP_END}'))


class ManagementCluster:
    """A read-only view of a management cluster.

    :param kubeconfig: path; its user may list everything, including Secrets.

    The file is read on first use; every method raises EnvironmentProblem if it
    or the client library is missing, and KubeError if the management cluster
    does not answer.
    """

    def __init__(self, kubeconfig: str) -> None:
        self._kubeconfig = kubeconfig

    @functools.cached_property
    def _reader(self) -> kube.Client:
        return kube.Client(self._kubeconfig, patient=True)

    @functools.cached_property
    def _lists(self) -> tuple[tuple[str, str], ...]:
        # They only change when a provider is installed; querying them takes as
        # long as querying all of their objects.
        return (*((f'/apis/{group}/{version}/{plural}', kind) for
                  group, version, plural, kind in self._reader.kinds(
                      is_served)), *_OTHERS)

    def serves_clusters(self) -> bool:
        """Return whether Cluster API is installed there."""
        return bool(self._reader.kinds(lambda group: group == _GROUP_END))

    def bodies(
            self, kinds: collections.abc.Container[str] | None = None,
            stack_id: str | None = '') -> list[tuple[str, json_types.Object]]:
        """Return objects of the known kinds, with their content.

        :param kinds: "Secret", "Cluster"; None: all.
        :param stack_id: of the cluster that they belong to; empty: of any.
        :returns: list of (kind, dict).
        """
        return [
            (kind, obj) for path, kind in self._lists
            if kinds is None or kind in kinds
            for obj in self._reader.items(path)
            if not stack_id or owners.belongs(obj['metadata'], stack_id)]

    def objects_of(self, stack_id: str | None, cluster_uuid: str | None = None,
                   words: collections.abc.Sequence[str] = ()) -> list[Object]:
        """Return all objects of a cluster.

        :param words: see :func:`.owners.belongs`, like the others.
        :returns: sorted list of Object; empty if nothing is left.
        """
        return sorted(Object.of(kind, obj) for kind, obj in self.bodies()
                      if owners.belongs(obj['metadata'], stack_id,
                                        cluster_uuid, words))

    def spec(self, kind: str, stack_id: str) -> json_types.Object | None:
        """Return the spec of an object that a cluster has exactly one of.

        It has the name of the cluster, or another one if Cluster API created
        it from a ClusterClass; in both cases it refers to the cluster.

        :param kind: of Cluster API or its providers.
        :returns: dict; None if there is no such object.
        """
        return next((obj.get('spec') or {} for _, obj in self.bodies((kind,))
                     if _is_the_clusters(obj['metadata'], stack_id)), None)

    def conditions(self, stack_id: str) -> list[conditions.Condition]:
        """Return the abnormal conditions of a cluster.

        :returns: sorted list of conditions.Condition; empty if all is well.
        """
        return sorted(
            one for kind, obj in self.bodies(conditions.EXPLAINING, stack_id)
            for one in conditions.bad(kind, obj))

    def events(self, stack_id: str, most: int = 50) -> list[events.Event]:
        """Return the latest events for the objects of a cluster.

        :returns: sorted list of events.Event, the latest last.
        """
        return sorted(
            found for found in map(events.event, self._reader.core('events'))
            if owners.belongs({'name': found.name}, stack_id))[-most:]

    def releases(self, stack_id: str) -> dict[str, list[helm.Revision]]:
        """Return the history of the Helm releases of a cluster.

        :returns: see helm.history.
        """
        return helm.history(self._reader, stack_id)

    def changes_of(self, stack_id: str) -> changes.Recording:
        """Return a context that records changes of a cluster's Secrets.

        :returns: changes.Recording.
        """
        return changes.Recording(
            self._reader, _SECRETS,
            lambda obj: owners.belongs(obj['metadata'], stack_id))


def _is_the_clusters(metadata: json_types.Object, stack_id: str) -> bool:
    return metadata['name'] == stack_id or any(
        (owner['kind'], owner['name']) == ('Cluster', stack_id)
        for owner in metadata.get('ownerReferences', ()))
