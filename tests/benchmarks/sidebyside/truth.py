# SPDX-License-Identifier: Apache-2.0
"""Whether a cluster is what was asked for, by its objects alone. Pure.

Neither driver's judgement is used: a Cluster has to be Available and seen by
its controller, and the Machines of control plane and workers have to be as
many as wanted, Ready, and of the wanted version. Addons have to be deployed,
but that is counted apart.
"""

import bisect
import dataclasses

#: Labels of Cluster API.
OF_CLUSTER = 'cluster.x-k8s.io/cluster-name'
MASTERS = 'cluster.x-k8s.io/control-plane'
#: What both charts put on the addons of a cluster.
_ADDONS = 'capi.stackhpc.com/cluster'

CLUSTER, MACHINE, ADDON = 'Cluster', 'Machine', 'Addon'


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What was asked for; a version as in "v1.34.2"."""

    masters: int
    workers: int
    version: str


def lacks(cluster, machines, wanted):
    """What a cluster is short of, a text; empty when it is complete.

    :param cluster: Cluster of cluster.x-k8s.io/v1beta2, or None.
    :param machines: its Machines, of the same version.
    """
    if cluster is None:
        return 'there is no Cluster'
    metadata, status = cluster['metadata'], cluster.get('status') or {}
    if status.get('observedGeneration', 0) < metadata.get('generation', 0):
        return 'the Cluster was changed and not seen by its controller'
    if not _true(cluster, 'Available'):
        return 'the Cluster is not Available'
    for what, want, found in (
            ('control plane', wanted.masters,
             [m for m in machines if _is_master(m)]),
            ('worker', wanted.workers,
             [m for m in machines if not _is_master(m)])):
        if len(found) != want:
            return f'{len(found)} of {want} {what} machines'
        for machine in found:
            if machine['metadata'].get('deletionTimestamp'):
                return f'a {what} machine is being deleted'
            if machine['spec'].get('version') != wanted.version:
                return f'a {what} machine has another version'
            if not _true(machine, 'Ready'):
                return f'a {what} machine is not Ready'
    return ''


def lacks_addons(addons):
    """Names of addons that are not deployed; "none" without any."""
    if not addons:
        return 'none'
    return ', '.join(sorted(
        a['metadata']['name'] for a in addons
        if (a.get('status') or {}).get('phase') != 'Deployed'))


class History:
    """When each cluster was complete, and when it was not.

    :param wanted: Wanted of clusters of which nothing else is said.
    """

    def __init__(self, wanted):
        self._initial = wanted
        self._wanted = {}
        self._objects = {}
        self._changes = {}

    def want(self, name, wanted, at):
        """From now on something else is asked for."""
        self._wanted[name] = wanted
        self._judge(name, at)

    def wanted(self, name):
        return self._wanted.get(name, self._initial)

    def see(self, kind, gone, obj, at):
        """An object came, changed or is gone.

        :param kind: CLUSTER, MACHINE or ADDON.
        :param at: seconds of any clock, never less than before.
        """
        metadata = obj['metadata']
        labels = metadata.get('labels') or {}
        name = metadata['name'] if kind == CLUSTER else labels.get(
            OF_CLUSTER if kind == MACHINE else _ADDONS)
        if name is None:
            return
        mine = self._objects.setdefault(name, {})
        key = kind, obj.get('kind'), metadata['name']
        if gone:
            mine.pop(key, None)
        else:
            mine[key] = obj
        self._judge(name, at)

    def lacks(self, name):
        """As :func:`lacks`, of what was seen last."""
        found = self._objects.get(name, {})
        clusters = [o for k, o in found.items() if k[0] == CLUSTER]
        return lacks(clusters[0] if clusters else None,
                     [o for k, o in found.items() if k[0] == MACHINE],
                     self.wanted(name))

    def lacks_addons(self, name):
        """As :func:`lacks_addons`, of what was seen last."""
        return lacks_addons([
            o for k, o in self._objects.get(name, {}).items()
            if k[0] == ADDON])

    def since(self, name, at):
        """When it became complete, of what was known at a time.

        :returns: seconds, None when it was not complete then.
        """
        changes = self._changes.get(name, [])
        last = bisect.bisect_right(changes, at, key=lambda c: c[0]) - 1
        if last < 0 or not changes[last][1]:
            return None
        return changes[last][0]

    def next(self, name, at):
        """When it first was complete after a time, None: not yet."""
        return next((when for when, complete in self._changes.get(name, [])
                     if complete and when > at), None)

    def _judge(self, name, at):
        complete = not self.lacks(name)
        changes = self._changes.setdefault(name, [])
        if not changes or changes[-1][1] != complete:
            changes.append((at, complete))


def _is_master(machine):
    return MASTERS in (machine['metadata'].get('labels') or {})


def _true(obj, kind):
    return any(c['type'] == kind and c['status'] == 'True'
               for c in (obj.get('status') or {}).get('conditions') or ())
