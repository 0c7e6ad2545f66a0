# SPDX-License-Identifier: Apache-2.0

"""Judges one node group: existing, as desired, ready, failed, gone?

Workers are a MachineDeployment, masters the control plane. Phases are
unreliable: "Running" of a MachineDeployment means that the number of machines
is right, whatever their template and whether they are ready (Cluster API 1.14,
core/reconcilers/machinedeployment/machinedeployment_status.go).
"""

import collections.abc
import dataclasses
import enum
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.kube import kinds

#: Conditions that must be True, in the v1beta2 and v1beta1 vocabulary. With
#: external etcd there is no condition about it, so it is not included; if it
#: exists and is not good, it still blocks.
_CONTROL_PLANE_NEW = ('Initialized', 'Available', 'MachinesReady')
_CONTROL_PLANE_OLD = ('Available', 'Ready')
_DEPLOYMENT_NEW = ('Available', 'MachinesReady', 'MachinesUpToDate')
_DEPLOYMENT_OLD = ('Available',)


class State(enum.Enum):

    READY = 'ready'
    WAITING = 'waiting'
    FAILED = 'failed'
    GONE = 'gone'
    #: It stays unchanged until its turn in an upgrade.
    DEFERRED = 'deferred'


@dataclasses.dataclass(frozen=True)
class Observation:
    """The observed state of a node group.

    :param why: what it waits for or why it failed.
    :param drift: whether the specs in the management cluster are not the
        desired ones: the request was lost or has not arrived.
    :param count: machines that it should have now, None when unknown.
    :param failures: texts about failed objects, by ``<part of the
        snapshot>/<name>``.
    """

    state: State
    why: str = ''
    drift: bool = False
    count: int | None = None
    failures: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)


class _Found(typing.TypedDict):
    """Fields of an Observation that do not depend on the state."""

    count: int | None
    drift: bool


def observe(snapshot: snapshot_module.Snapshot, group: goal.DesiredGroup,
            desired: goal.DesiredCluster) -> Observation:
    """Judge one node group."""
    if group.role == goal.MASTER:
        return _control_plane(snapshot, group)
    if group.deleting:
        return _removal(snapshot, group, desired)
    return _workers(snapshot, group, desired)


def same_version(one: str | None, other: str | None) -> bool:
    """Whether two versions are equal, with or without "v"."""
    return (one or '').removeprefix('v') == (other or '').removeprefix('v')


def _control_plane(snapshot: snapshot_module.Snapshot,
                   group: goal.DesiredGroup) -> Observation:
    plane = snapshot.control_plane
    if plane is None:
        return _waiting('control plane: does not exist yet', drift=True)
    if conditions.deleting(plane):
        return _waiting('control plane: is being deleted', drift=True)
    counts = conditions.replicas(plane)
    drift = _differs(counts.desired, group.count)
    found: _Found = {'count': counts.desired, 'drift': bool(drift)}
    failures = _failures('control plane', 'control_plane', plane,
                         machines.masters(snapshot), snapshot)
    if failures:
        return _failed(failures, **found)
    blocked = drift or _unsettled(plane, counts, _CONTROL_PLANE_NEW,
                                  _CONTROL_PLANE_OLD, strict=True)
    running = conditions.status(plane).get('version')
    if not blocked and not same_version(
            running, conditions.spec(plane).get('version')):
        blocked = [f'runs version {running or "unknown"}']
    if blocked:
        return _waiting('control plane: ' + ', '.join(blocked), **found)
    return _joined('control plane', machines.masters(snapshot), found)


def _workers(snapshot: snapshot_module.Snapshot, group: goal.DesiredGroup,
             desired: goal.DesiredCluster) -> Observation:
    label = f'node group {group.name}'
    deployment = snapshot.machine_deployments.get(group.key)
    if deployment is None:
        return _waiting(f'{label}: does not exist yet', drift=True)
    if conditions.deleting(deployment):
        return _waiting(f'{label}: is being deleted', drift=True)
    counts = conditions.replicas(deployment)
    template = conditions.spec(
        conditions.spec(deployment).get('template') or {})
    drift = [] if group.autoscaled else _differs(
        counts.desired, group.count)
    found: _Found = {'count': counts.desired, 'drift': bool(drift)}
    if group.deferred:
        # Its failures do not count before its turn: the upgrade may repair it.
        return Observation(
            State.DEFERRED, f'{label}: waits for its turn', **found)
    own = machines.of_group(snapshot, group, desired)
    failures = _failures(label, 'machine_deployments', deployment, own,
                         snapshot)
    if failures:
        return _failed(failures, **found)
    blocked = drift or _unsettled(deployment, counts, _DEPLOYMENT_NEW,
                                  _DEPLOYMENT_OLD)
    if blocked:
        return _waiting(f'{label}: ' + ', '.join(
            (*_replaced(snapshot, deployment, counts), *blocked)), **found)
    mixed = _not_rolled(snapshot, deployment, template, counts.desired)
    if mixed:
        return _waiting(f'{label}: {mixed}', **found)
    return _joined(label, own, found)


def _joined(label: str, own: kinds.Objects, found: _Found) -> Observation:
    """The final check, of the machines themselves.

    Counts in a status lag behind: they may still include a machine as ready
    that was just deleted.
    """
    nodes = sum(machines.is_node(machine) for machine in own)
    if nodes != found['count']:
        return _waiting(f'{label}: {nodes} of {found["count"]} machines '
                        'are nodes', **found)
    return Observation(State.READY, **found)


def _failures(label: str, part: str, obj: kinds.Object,
              own: kinds.Objects, snapshot: snapshot_module.Snapshot
              ) -> dict[str, str]:
    """Failures of a group: its own, and those of its machines."""
    found = {f'machines/{name}': text
             for name, text in machines.failed(own, snapshot.servers).items()}
    text = conditions.failure(obj)
    if text:
        found = {f'{part}/{conditions.name(obj)}': text, **found}
    return {key: f'{label}: {text}' for key, text in found.items()}


def _waiting(why: str, drift: bool = False,
             count: int | None = None) -> Observation:
    return Observation(State.WAITING, why, drift, count)


def _failed(failures: dict[str, str], drift: bool,
            count: int | None) -> Observation:
    return Observation(State.FAILED, next(iter(failures.values())), drift,
                       count, failures=failures)


def _removal(snapshot: snapshot_module.Snapshot, group: goal.DesiredGroup,
             desired: goal.DesiredCluster) -> Observation:
    label = f'node group {group.name}'
    deployment = snapshot.machine_deployments.get(group.key)
    if deployment is not None:
        # A deletion request that got lost is drift.
        return _waiting(f'{label}: ' + _deletion(deployment),
                        drift=not conditions.deleting(deployment))
    # A MachineDeployment is deleted at once, its machines take their time.
    left = machines.of_group(snapshot, group, desired)
    if left:
        return _waiting(f'{label}: {len(left)} machines left, '
                        f'{conditions.name(left[0])} {_deletion(left[0])}')
    return Observation(State.GONE)


def _deletion(obj: kinds.Object) -> str:
    if not conditions.deleting(obj):
        return 'is not being deleted yet'
    found = conditions.newer(obj).get('Deleting')
    if found and found.status == 'True' and found.message:
        return f'is being deleted: {found.message}'
    return 'is being deleted'


def _differs(there: int | None, desired: int) -> list[str]:
    if there == desired:
        return []
    return [f'requests {there} machines instead of {desired}']


def _unsettled(obj: kinds.Object, counts: conditions.Replicas,
               new: tuple[str, ...], old: tuple[str, ...],
               strict: bool = False) -> list[str]:
    """What keeps an object from being settled, most specific first."""
    blocked = []
    problems = conditions.problems(obj)
    lacking = conditions.missing(obj, new, old)
    if not counts.settled:
        blocked.append(_counted(counts))
    if lacking or blocked or strict:
        blocked += [str(problem) for problem in problems[:1]]
    if not blocked and not conditions.observed(obj):
        blocked.append('its change is not yet seen by its controller')
    return blocked or [f'{kind} is not known' for kind in lacking]


def _counted(counts: conditions.Replicas) -> str:
    text = f'{counts.ready} of {counts.desired} machines ready'
    if counts.updated != counts.desired:
        text += f', {counts.updated} up to date'
    if counts.there != counts.desired:
        text += f', {counts.there} there'
    return text


def older(snapshot: snapshot_module.Snapshot,
          deployment: kinds.Object) -> int:
    """Number of machines that are not from the present template."""
    template = conditions.spec(
        conditions.spec(deployment).get('template') or {})
    return sum(conditions.replicas(found).there
               for found in _own(snapshot, deployment)
               if not _is_made_of(found, template))


def _replaced(snapshot: snapshot_module.Snapshot, deployment: kinds.Object,
              counts: conditions.Replicas) -> collections.abc.Iterator[str]:
    """Progress of a rollout; nothing when there is none."""
    left = older(snapshot, deployment)
    if left and counts.desired:
        yield (f'{max(counts.desired - left, 0)} of {counts.desired} machines '
               'replaced')


def _own(snapshot: snapshot_module.Snapshot,
         deployment: kinds.Object) -> kinds.Objects:
    return [found for found in snapshot.machine_sets
            if conditions.labels(found).get(machines.DEPLOYMENT)
            == conditions.name(deployment)]


def _is_made_of(machine_set: kinds.Object, template: kinds.Object) -> bool:
    return _essence(template) == _essence(conditions.spec(
        conditions.spec(machine_set).get('template') or {}))


def _not_rolled(snapshot: snapshot_module.Snapshot, deployment: kinds.Object,
                template: kinds.Object, count: int | None) -> str:
    """Why not all machines are from the present template; empty if they are.

    A MachineDeployment's own count of up-to-date machines is summed up from
    before the machines were compared with the new template (Cluster API 1.14,
    mdutil.GetUptoDateReplicaCountForMachineSets), so it is briefly too high. A
    MachineSet names its template, which never changes.
    """
    present = 0
    for found in _own(snapshot, deployment):
        counts = conditions.replicas(found)
        if not _is_made_of(found, template):
            if counts.there or counts.desired:
                return f'{counts.there} machines of an older template left'
        elif not conditions.observed(found):
            return 'its change is not yet seen by its controller'
        else:
            present += counts.there
            if not counts.there == counts.ready == counts.available:
                return f'{counts.ready} of {counts.there} machines ready'
    if present != count:
        return f'{present} of {count} machines of the present template'
    return ''


def _essence(template: kinds.Object) -> tuple[typing.Any, ...]:
    """What makes machines differ: version, templates, failure domain.

    Other fields of a template change in place, without new machines (Cluster
    API 1.14, mdutil.MachineTemplateUpToDate).
    """
    def name(ref: kinds.Object | None) -> tuple[str | None, str | None]:
        return (ref or {}).get('kind'), (ref or {}).get('name')
    return (template.get('version'), name(template.get('infrastructureRef')),
            name((template.get('bootstrap') or {}).get('configRef')),
            template.get('failureDomain'))
