# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What the management cluster says about a workload cluster. Read-only.

Magnum's ``status_reason`` is mostly empty while a Cluster API driver waits
(magnum-cluster-api issue 64): the reason is in the conditions of the objects
that this module reads. Objects are found by Magnum's ``stack_id``, which all
known drivers use as name of the Cluster.
"""

import dataclasses
import functools
import json

from magnum_capi_tempest.evidence import helm
from magnum_capi_tempest.evidence import kube

#: API groups of Cluster API and of its addon operator
#: (https://github.com/azimuth-cloud/cluster-api-addon-provider).
_GROUP_END = 'cluster.x-k8s.io'
_ADDON_GROUP = 'addons.stackhpc.com'

#: Other kinds that charts make for a cluster, (group, version, plural, kind):
#: the autoscaler of capi-helm-charts lives on the management cluster.
_CORE = (('secrets', 'Secret'), ('serviceaccounts', 'ServiceAccount'))
_OTHERS = (
    ('apps', 'v1', 'deployments', 'Deployment'),
    ('rbac.authorization.k8s.io', 'v1', 'roles', 'Role'),
    ('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding'),
)

#: Labels and annotations whose value is the name of the Cluster.
_OWNER_KEYS = (
    'cluster.x-k8s.io/cluster-name',
    'capi.stackhpc.com/cluster',
    'addons.stackhpc.com/cluster',
    'meta.helm.sh/release-name',
    'app.kubernetes.io/instance',
)

#: Kinds whose conditions tell why a cluster is not ready.
_TELLING = ('Cluster', 'KubeadmControlPlane', 'MachineDeployment', 'Machine',
            'OpenStackCluster', 'OpenStackMachine', 'HelmRelease', 'Manifests')

#: Conditions that are well when False. Cluster API 1.14,
#: api/core/v1beta2/*_types.go; v1beta1 conditions are all well when True.
_WELL_WHEN_FALSE = frozenset((
    'Deleting', 'Paused', 'Remediating', 'RollingOut', 'ScalingDown',
    'ScalingUp', 'Updating'))

#: Phases of addons that need no attention.
_WELL_PHASES = frozenset((None, '', 'Deployed', 'Provisioned', 'Running'))


@dataclasses.dataclass(frozen=True, order=True)
class Object:
    """An object of the management cluster."""

    kind: str
    namespace: str
    name: str

    def __str__(self):
        return f'{self.kind} {self.namespace}/{self.name}'


@dataclasses.dataclass(frozen=True, order=True)
class Event:
    """Something that a controller reported.

    :param at: time of the last occurrence, as Kubernetes writes it.
    :param count: how often it occurred.
    """

    at: str
    kind: str
    name: str
    type: str
    reason: str
    message: str
    count: int = 1

    def __str__(self):
        return (f'{self.at} {self.type} {self.kind} {self.name} '
                f'{self.reason}: {self.message}'
                + (f' ({self.count} times)' if self.count > 1 else ''))


@dataclasses.dataclass(frozen=True, order=True)
class Condition:
    """A condition that is not as it should be."""

    kind: str
    name: str
    type: str
    status: str
    reason: str
    message: str

    def __str__(self):
        why = ': '.join(t for t in (self.reason, self.message) if t)
        return (f'{self.kind} {self.name} {self.type}={self.status}'
                + (f' ({why})' if why else ''))


def belongs(metadata, stack_id, cluster_uuid=None):
    """Return whether an object belongs to a cluster.

    :param metadata: of the object.
    :param stack_id: name of its Cluster.
    :param cluster_uuid: of Magnum, which magnum-capi-helm puts on Secrets.
    """
    name = metadata.get('name', '')
    if name == stack_id or name.startswith(f'{stack_id}-'):
        return True
    # Helm keeps releases in Secrets: sh.helm.release.v1.<release>.v<number>
    if name.startswith(f'sh.helm.release.v1.{stack_id}.v'):
        return True
    labels = metadata.get('labels') or {}
    notes = metadata.get('annotations') or {}
    if cluster_uuid and cluster_uuid in (
            labels.get('magnum.openstack.org/cluster-uuid'),):
        return True
    return any(stack_id in (labels.get(key), notes.get(key))
               for key in _OWNER_KEYS)


def bad_conditions(kind, obj):
    """Return the conditions of an object that are not as they should be.

    Both shapes of Cluster API: ``status.conditions`` is v1beta1 or v1beta2,
    by the version of the API that answered; the newer ones are under
    ``status.v1beta2`` when v1beta1 answers
    (docs/proposals/20240916-improve-status-in-CAPI-resources.md).

    :returns: sorted list of Condition.
    """
    name = obj['metadata']['name']
    status = obj.get('status') or {}
    conditions = (status.get('conditions') or []) + (
        (status.get('v1beta2') or {}).get('conditions') or [])
    found = {
        Condition(kind, name, c['type'], c['status'], c.get('reason') or '',
                  ' '.join((c.get('message') or '').split()))
        for c in conditions
        if c['status'] != ('False' if c['type'] in _WELL_WHEN_FALSE
                           else 'True')}
    phase = status.get('phase')
    if kind in ('HelmRelease', 'Manifests') and phase not in _WELL_PHASES:
        found.add(Condition(kind, name, 'phase', phase, '',
                            status.get('failureMessage') or ''))
    return sorted(found)


def event(obj):
    """Return an Event out of what the API says of it.

    Both APIs of events write the same objects: the older one fills
    lastTimestamp and count, the newer one eventTime and series.
    """
    about = obj.get('involvedObject') or {}
    series = obj.get('series') or {}
    return Event(
        (obj.get('lastTimestamp') or series.get('lastObservedTime')
         or obj.get('eventTime')
         or obj['metadata'].get('creationTimestamp') or ''),
        about.get('kind', ''), about.get('name', ''), obj.get('type') or '',
        obj.get('reason') or '', ' '.join((obj.get('message') or '').split()),
        obj.get('count') or series.get('count') or 1)


class ManagementCluster:
    """A read-only view of a management cluster.

    :param kubeconfig: path; it may list everything, Secrets too.
    :param reader: function of the path, for tests.

    The file is read when it is first needed; every method raises
    EnvironmentProblem when it or the client library is missing.
    """

    def __init__(self, kubeconfig, reader=kube.Reader):
        self._open = functools.partial(reader, kubeconfig)

    @functools.cached_property
    def _reader(self):
        return self._open()

    def serves_clusters(self):
        """Return whether Cluster API is installed there."""
        return any(kind == 'Cluster' for *_, kind in self._reader.kinds(
            lambda group: group == _GROUP_END))

    def conditions(self, stack_id):
        """Return what is not as it should be of a cluster.

        :returns: sorted list of Condition; empty when all is well.
        :raises KubeReadFailed: the management cluster did not answer.
        """
        found = []
        for kind, obj in self._cluster_api_objects():
            if kind in _TELLING and belongs(obj['metadata'], stack_id):
                found += bad_conditions(kind, obj)
        return sorted(found)

    def events(self, stack_id, most=50):
        """Return the latest events about the objects of a cluster.

        :returns: sorted list of Event, the latest last.
        :raises KubeReadFailed: the management cluster did not answer.
        """
        return sorted(
            event(obj) for obj in self._reader.core('events')
            if belongs({'name': (obj.get('involvedObject') or {}).get(
                'name', '')}, stack_id))[-most:]

    def releases(self, stack_id):
        """Return the history of the Helm releases of a cluster.

        :returns: as helm.history.
        :raises KubeReadFailed: the management cluster did not answer.
        """
        return helm.history(self._reader, stack_id)

    def objects_of(self, stack_id, cluster_uuid=None):
        """Return every object that still belongs to a cluster.

        :returns: sorted list of Object; empty when nothing is left.
        :raises KubeReadFailed: the management cluster did not answer.
        """
        return sorted(
            Object(kind, obj['metadata'].get('namespace', ''),
                   obj['metadata']['name'])
            for kind, obj in self._all_objects()
            if belongs(obj['metadata'], stack_id, cluster_uuid))

    def spec(self, kind, stack_id):
        """Return the spec of the object that is named after a cluster.

        :param kind: of Cluster API or its providers.
        :returns: dict; None when there is no such object.
        :raises KubeReadFailed: the management cluster did not answer.
        """
        for found, obj in self._cluster_api_objects():
            if found == kind and obj['metadata']['name'] == stack_id:
                return obj.get('spec') or {}
        return None

    def objects(self):
        """Return every object of the kinds that are known here.

        :returns: sorted list of Object.
        :raises KubeReadFailed: the management cluster did not answer.
        """
        return sorted(
            Object(kind, obj['metadata'].get('namespace', ''),
                   obj['metadata']['name'])
            for kind, obj in self._all_objects())

    def objects_mentioning(self, *words):
        """Return every object whose metadata has one of these words in it.

        For clusters whose Magnum never said which ``stack_id`` they have.

        :param words: texts that are like nothing else there.
        :returns: sorted list of Object.
        :raises KubeReadFailed: the management cluster did not answer.
        """
        return sorted(
            Object(kind, obj['metadata'].get('namespace', ''),
                   obj['metadata']['name'])
            for kind, obj in self._all_objects()
            if any(word in json.dumps(obj['metadata']) for word in words))

    def left_of(self, clusters):
        """Return what there is of several clusters, in one look.

        :param clusters: mapping of anything, by which a cluster is known to
            the caller, and (stack_id or None, words): an object is a
            cluster's that belongs to its stack_id, or has one of the words
            in its metadata.
        :returns: list of (key, Object).
        :raises KubeReadFailed: the management cluster did not answer.
        """
        found = []
        for kind, obj in self._all_objects():
            text = json.dumps(obj['metadata'])
            found += [
                (key, Object(kind, obj['metadata'].get('namespace', ''),
                             obj['metadata']['name']))
                for key, (stack_id, words) in clusters.items()
                if (stack_id and belongs(obj['metadata'], stack_id))
                or any(word in text for word in words)]
        return found

    @functools.cached_property
    def _kinds(self):
        # They change with the installation of a provider only; asking for
        # them takes as long as all of their objects.
        return self._reader.kinds(
            lambda group: group == _ADDON_GROUP or group == _GROUP_END
            or group.endswith(f'.{_GROUP_END}'))

    def _cluster_api_objects(self):
        for group, version, plural, kind in self._kinds:
            for obj in self._reader.custom(group, version, plural):
                yield kind, obj

    def _all_objects(self):
        yield from self._cluster_api_objects()
        for group, version, plural, kind in _OTHERS:
            for obj in self._reader.custom(group, version, plural):
                yield kind, obj
        for plural, kind in _CORE:
            for obj in self._reader.core(plural):
                yield kind, obj
