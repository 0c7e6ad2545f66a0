# SPDX-License-Identifier: Apache-2.0

"""What the management cluster says about a workload cluster. Read-only.

Magnum's ``status_reason`` is mostly empty while a Cluster API driver waits
(magnum-cluster-api issue 64): the reason is in the conditions of the objects
that this module reads. Objects are found by Magnum's ``stack_id``, which all
known drivers use as the name of the Cluster.
"""

import dataclasses
import functools
import json

from magnum_capi_tempest.evidence import changes
from magnum_capi_tempest.evidence import conditions
from magnum_capi_tempest.evidence import events
from magnum_capi_tempest.evidence import helm
from magnum_capi_tempest.evidence import owners
from magnum_capi_tempest.kubeclient import kube

#: API groups of Cluster API and of its addon operator
#: (https://github.com/azimuth-cloud/cluster-api-addon-provider).
_GROUP_END = 'cluster.x-k8s.io'
_ADDON_GROUP = 'addons.stackhpc.com'

_SECRETS = '/api/v1/secrets'

#: Other kinds that charts create for a cluster, (group, version, plural,
#: kind): the autoscaler of capi-helm-charts runs in the management cluster.
_CORE = (('secrets', 'Secret'), ('serviceaccounts', 'ServiceAccount'))
_OTHERS = (
    ('apps', 'v1', 'deployments', 'Deployment'),
    ('rbac.authorization.k8s.io', 'v1', 'roles', 'Role'),
    ('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding'),
)


@dataclasses.dataclass(frozen=True, order=True)
class Object:
    """An object of the management cluster."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, kind, metadata):
        return cls(kind, metadata.get('namespace', ''), metadata['name'])

    def __str__(self):
        return f'{self.kind} {self.namespace}/{self.name}'


def is_served(group: str) -> bool:
    """Whether an API group is one of Cluster API or its addons."""
    return (group in (_GROUP_END, _ADDON_GROUP)
            or group.endswith(f'.{_GROUP_END}'))


class ManagementCluster:
    """A read-only view of a management cluster.

    :param kubeconfig: path; its user may list everything, including Secrets.

    The file is read on first use; every method raises EnvironmentProblem if it
    or the client library is missing.
    """

    def __init__(self, kubeconfig):
        self._kubeconfig = kubeconfig

    @functools.cached_property
    def _reader(self):
        return kube.Client(self._kubeconfig)

    def serves_clusters(self):
        """Return whether Cluster API is installed there."""
        return any(kind == 'Cluster' for *_, kind in self._reader.kinds(
            lambda group: group == _GROUP_END))

    def conditions(self, stack_id):
        """Return the abnormal conditions of a cluster.

        :returns: sorted list of conditions.Condition; empty if all is well.
        :raises KubeError: the management cluster did not answer.
        """
        found = []
        for kind, obj in self._cluster_api_objects():
            if kind in conditions.TELLING and owners.belongs(
                    obj['metadata'], stack_id):
                found += conditions.bad(kind, obj)
        return sorted(found)

    def events(self, stack_id, most=50):
        """Return the latest events for the objects of a cluster.

        :returns: sorted list of events.Event, the latest last.
        :raises KubeError: the management cluster did not answer.
        """
        return sorted(
            events.event(obj) for obj in self._reader.core('events')
            if owners.belongs({'name': (obj.get('involvedObject') or {}).get(
                'name', '')}, stack_id))[-most:]

    def releases(self, stack_id):
        """Return the history of the Helm releases of a cluster.

        :returns: see helm.history.
        :raises KubeError: the management cluster did not answer.
        """
        return helm.history(self._reader, stack_id)

    def objects_of(self, stack_id, cluster_uuid=None):
        """Return all remaining objects of a cluster.

        :returns: sorted list of Object; empty if nothing is left.
        :raises KubeError: the management cluster did not answer.
        """
        return self._objects(
            lambda metadata: owners.belongs(metadata, stack_id, cluster_uuid))

    def spec(self, kind, stack_id):
        """Return the spec of an object that a cluster has exactly one of.

        It has the name of the cluster, or another one if Cluster API created
        it from a ClusterClass; in both cases it refers to the cluster.

        :param kind: of Cluster API or its providers.
        :returns: dict; None if there is no such object.
        :raises KubeError: the management cluster did not answer.
        """
        for found, obj in self._cluster_api_objects():
            if found == kind and _is_the_clusters(obj['metadata'], stack_id):
                return obj.get('spec') or {}
        return None

    def bodies(self, kinds):
        """Return every object of some of the known kinds, with its content.

        :param kinds: "Secret", "Cluster".
        :returns: list of (kind, dict).
        :raises KubeError: the management cluster did not answer.
        """
        return list(self._all_objects(kinds))

    def bodies_of(self, stack_id, kinds):
        """Return the objects of some kinds that belong to a cluster.

        :param kinds: "MachineDeployment", "Cluster".
        :returns: list of (kind, dict).
        :raises KubeError: the management cluster did not answer.
        """
        return [(kind, obj) for kind, obj in self._all_objects(kinds)
                if owners.belongs(obj['metadata'], stack_id)]

    def changes_of(self, stack_id):
        """Return a context that records changes of a cluster's Secrets.

        :returns: changes.Changes.
        """
        return changes.Changes(
            self._reader, _SECRETS,
            lambda obj: owners.belongs(obj['metadata'], stack_id))

    def objects(self):
        """Return every object of the known kinds.

        :returns: sorted list of Object.
        :raises KubeError: the management cluster did not answer.
        """
        return self._objects(lambda metadata: True)

    def objects_mentioning(self, *words):
        """Return every object whose metadata contains one of these words.

        For clusters whose ``stack_id`` Magnum never showed.

        :param words: texts that occur nowhere else.
        :returns: sorted list of Object.
        :raises KubeError: the management cluster did not answer.
        """
        return self._objects(lambda metadata: _mentions(metadata, words))

    def left_of(self, clusters):
        """Return the objects of several clusters, in one pass.

        :param clusters: mapping of the caller's key for a cluster to (stack_id
            or None, words): an object belongs to the cluster if it belongs to
            its stack_id, or has one of the words in its metadata.
        :returns: list of (key, Object).
        :raises KubeError: the management cluster did not answer.
        """
        return [
            (key, Object.of(kind, obj['metadata']))
            for kind, obj in self._all_objects()
            for key, (stack_id, words) in clusters.items()
            if (stack_id and owners.belongs(obj['metadata'], stack_id))
            or _mentions(obj['metadata'], words)]

    def _objects(self, matches):
        return sorted(Object.of(kind, obj['metadata'])
                      for kind, obj in self._all_objects()
                      if matches(obj['metadata']))

    @functools.cached_property
    def _kinds(self):
        # They only change when a provider is installed; querying them takes as
        # long as querying all of their objects.
        return self._reader.kinds(is_served)

    def _cluster_api_objects(self):
        return self._custom(self._kinds)

    def _all_objects(self, kinds=None):
        """Yield (kind, object).

        :param kinds: those to read, None for all.
        """
        others = {kind for *_, kind in (*_OTHERS, *_CORE)}
        if kinds is None or not others.issuperset(kinds):
            yield from self._custom(self._kinds, kinds)
        yield from self._custom(_OTHERS, kinds)
        for plural, kind in _CORE:
            if kinds is None or kind in kinds:
                for obj in self._reader.core(plural):
                    yield kind, obj

    def _custom(self, resources, kinds=None):
        for group, version, plural, kind in resources:
            if kinds is None or kind in kinds:
                for obj in self._reader.custom(group, version, plural):
                    yield kind, obj


def _is_the_clusters(metadata, stack_id):
    return metadata['name'] == stack_id or any(
        (owner['kind'], owner['name']) == ('Cluster', stack_id)
        for owner in metadata.get('ownerReferences', ()))


def _mentions(metadata, words):
    text = json.dumps(metadata)
    return any(word in text for word in words)
