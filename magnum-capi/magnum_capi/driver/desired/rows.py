# SPDX-License-Identifier: Apache-2.0


"""Magnum's rows as plain facts. Pure: works with any objects of that shape.

The desired state is always read from the latest rows in the database, never
from a request: requests get lost and overtake each other, rows do not.
"""

import dataclasses
import hashlib
import json
import types
import typing

from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec
from magnum_capi.driver.desired import state as state_module

MASTER = goal.MASTER

_GROUP_FIELDS = (
    'uuid', 'role', 'flavor_id', 'image_id', 'labels', 'min_node_count',
    'max_node_count', 'node_labels', 'node_taints')

#: Digest of values that are not computed yet.
_UNKNOWN = 'unknown'


#: Image id and Kubernetes version, by uuids of node groups whose upgrade waits
#: for its turn; see state.State.
Deferred: typing.TypeAlias = typing.Mapping[str, tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Rows:
    """A cluster's rows in Magnum.

    :param cluster, template: Magnum's objects, or similar ones.
    :param groups: all node groups.
    :param naming: names of the cluster's objects.
    """

    cluster: typing.Any
    groups: tuple[typing.Any, ...]
    template: typing.Any
    naming: names.Naming

    @property
    def operation(self) -> str:
        """CREATE, UPDATE, DELETE; anything else is an UPDATE."""
        if is_deletion_requested(self.groups):
            return 'DELETE'
        kind = (self.cluster.status or '').partition('_')[0]
        return kind if kind in ('CREATE', 'DELETE') else 'UPDATE'

    @property
    def in_progress(self) -> bool:
        return is_in_progress(self.cluster)

    def live(self, applied: frozenset[str] = frozenset()
             ) -> tuple[typing.Any, ...]:
        """The desired node groups.

        A group whose creation failed before Helm had it is left out: it has no
        objects, and its mistakes must not block other changes.

        :param applied: see state.State.
        """
        return tuple(
            group for group in self.groups
            if not (group.status or '').startswith('DELETE_')
            and not _was_never_applied(group, applied))

    def workers(self, applied: frozenset[str]) -> tuple[typing.Any, ...]:
        """The desired node groups without the control plane; see live."""
        return tuple(group for group in self.live(applied)
                     if group.role != MASTER)

    def masters(self) -> typing.Any:
        """The row of the control plane, None when there is none."""
        found = [g for g in self.groups if g.role == MASTER]
        return found[0] if found else None

    def digest(self, applied: frozenset[str] = frozenset(),
               deferred: Deferred = types.MappingProxyType({}),
               autoscaled: typing.Container[str] = ()) -> str:
        """Digest of what the rows ask for, 32 hexadecimal digits.

        The uuid stands for the template: Magnum only allows changes of its
        name, tags and visibility (magnum 23.0.0, magnum/db/sqlalchemy/api.py,
        update_cluster_template).

        :param applied, deferred: see state.State.
        :param autoscaled: names in the chart of groups whose sizes are not
            included, because the autoscaler changes them.
        """
        groups = []
        for group in sorted(self.live(applied), key=lambda g: g.uuid):
            facts = {f: getattr(group, f, None) for f in _GROUP_FIELDS}
            if self.naming.node_group(group.uuid) not in autoscaled:
                facts['node_count'] = group.node_count
            if group.uuid in deferred:
                # Digests are in the state of living clusters.
                facts['held'] = deferred[group.uuid]
            groups.append(facts)
        text = json.dumps(
            {'template': self.template.uuid, 'groups': groups},
            sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def desired_digest(self, state: state_module.State) -> str:
        """Digest of the chart and values that the rows ask for.

        A request may have been lost before its values were recorded: then no
        state has this digest.
        """
        desired = state.desired
        if desired is not None and desired.rows == self.digest(
                state.applied, state.deferred,
                desired_values.bounds(desired.values)):
            return desired.digest
        return _UNKNOWN

    def requested_sizes(self, state: state_module.State) -> dict[str, int]:
        """Sizes of autoscaled groups that may be requested only in the rows.

        Call this for an operation that is not in the state. If anything else
        differs from what was recorded, that is what was requested, and the
        size is the autoscaler's.

        :returns: by uuid.
        """
        if self.desired_digest(state) == _UNKNOWN:
            return {}
        autoscaled = desired_values.bounds(state.values)
        return {group.uuid: group.node_count for group in self.groups
                if group.status == 'UPDATE_IN_PROGRESS'
                and self.naming.node_group(group.uuid) in autoscaled}

    def limit(self, minutes: float) -> float:
        """Limit for the operation without progress: goal.DesiredCluster."""
        limited = self.operation == 'UPDATE' or (
            self.operation == 'CREATE' and not self.cluster.create_timeout)
        return minutes if limited else 0.0

    def desired(self, state: state_module.State, *, patience: float = 0.0,
                limit: float = 0.0) -> goal.DesiredCluster:
        """The desired state to compare a snapshot with.

        :param patience, limit: see goal.DesiredCluster.
        """
        cluster = self.cluster
        autoscaled = desired_values.bounds(state.values)
        deleting = self.operation == 'DELETE'
        status = cluster.status
        if deleting and not (status or '').startswith('DELETE_'):
            status = 'DELETE_IN_PROGRESS'
        # Times in rows are by their writers' clocks.
        same = state.operation == self.operation
        return goal.DesiredCluster(
            name=self.naming.release, status=status,
            groups=tuple(
                self._group(group, state, autoscaled) for group in self.groups
                if deleting or not _was_never_applied(group, state.applied)),
            since=state.since if same else None,
            timeout=(cluster.create_timeout if self.operation == 'CREATE'
                     else None),
            limit=self.limit(limit),
            patience=patience,
            failing=dict(state.failing) if same else {},
            progress=state.progress if same else None,
            addons=desired_values.has_addons(state.values),
            digest=None if deleting else self.desired_digest(state))

    def _group(self, group: typing.Any, state: state_module.State,
               autoscaled: typing.Container[str]) -> goal.DesiredGroup:
        asked = state.sizes.get(group.uuid)
        key = self.naming.node_group(group.uuid)
        return goal.DesiredGroup(
            key=key, name=group.name,
            role=group.role, status=group.status or 'UPDATE_COMPLETE',
            count=group.node_count if asked is None else asked,
            autoscaled=asked is None and key in autoscaled,
            deferred=group.uuid in state.deferred)


def is_in_progress(cluster: typing.Any) -> bool:
    """Whether the row of a cluster has an operation in progress."""
    return str(cluster.status or '').endswith('_IN_PROGRESS')


def is_deletion_requested(groups: typing.Iterable[typing.Any]) -> bool:
    """Whether the deletion of the whole cluster was requested.

    The row of the control plane records this permanently. The cluster's own
    status could lose it: Magnum's conductor overwrites that when a resize ends
    late (magnum 23.0.0, magnum/conductor/handlers/cluster_conductor.py,
    cluster_resize).
    """
    return any(group.role == MASTER and group.is_default
               and (group.status or '').startswith('DELETE_')
               for group in groups)


def follows(group: typing.Any, template: typing.Any) -> bool:
    """Whether a node group has the image of the cluster's template."""
    return not group.image_id or bool(group.image_id == template.image_id)


def node_group(group: typing.Any, *, flavor: str | None = None,
               image: spec.Image | None = None,
               deferred: bool = False, adopted_name: str | None = None
               ) -> spec.NodeGroupSpec:
    """A row as plain values.

    :param flavor: name of its flavor.
    :param image: None: the cluster's.
    :param deferred, adopted_name: see spec.NodeGroupSpec.
    """
    return spec.NodeGroupSpec(
        uuid=group.uuid, name=group.name, count=group.node_count,
        flavor=flavor or group.flavor_id, role=group.role,
        min=group.min_node_count or 0, max=group.max_node_count, image=image,
        labels=dict(group.labels or {}),
        node_labels=dict(getattr(group, 'node_labels', None) or {}),
        node_taints=tuple(getattr(group, 'node_taints', None) or ()),
        is_default=bool(group.is_default), deferred=deferred,
        adopted_name=adopted_name)


def _was_never_applied(group: typing.Any, applied: frozenset[str]) -> bool:
    return (group.status == 'CREATE_FAILED' and not group.is_default
            and group.uuid not in applied)
