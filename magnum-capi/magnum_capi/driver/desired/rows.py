# SPDX-License-Identifier: Apache-2.0


"""Magnum's rows as plain facts. Pure: works with any objects of that shape.

The desired state is always read from the latest rows in the database, never
from a request: requests get lost and overtake each other, rows do not.
"""

import dataclasses
import datetime
import hashlib
import json
import types
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.desired import pins as pins_module
from magnum_capi.driver.desired import spec

MASTER = goal.MASTER

_TEMPLATE_FIELDS = (
    'uuid', 'image_id', 'external_network_id', 'dns_nameserver',
    'network_driver', 'http_proxy', 'https_proxy', 'no_proxy', 'labels')
_CLUSTER_FIELDS = (
    'labels', 'keypair', 'fixed_network', 'fixed_subnet',
    'floating_ip_enabled')
_GROUP_FIELDS = (
    'uuid', 'role', 'flavor_id', 'image_id', 'labels', 'min_node_count',
    'max_node_count', 'node_labels', 'node_taints')


#: Image id and Kubernetes version by a node group's uuid; see state.State.
Held: typing.TypeAlias = typing.Mapping[str, tuple[str, str]]


class State(typing.Protocol):
    """The part of state.State that is needed here; a higher layer has it."""

    @property
    def operation(self) -> str:
        """CREATE, UPDATE, DELETE, or nothing."""

    @property
    def since(self) -> datetime.datetime | None:
        """When the operation began."""

    @property
    def applied(self) -> frozenset[str]:
        """Uuids of node groups."""

    @property
    def addons(self) -> bool:
        """Whether the chart deploys any."""

    @property
    def pins(self) -> pins_module.Pins | None:
        """What the cluster was made of."""

    @property
    def failing(self) -> typing.Mapping[str, datetime.datetime]:
        """What is seen to fail, and since when."""

    @property
    def progress(self) -> goal.Progress | None:
        """Of the operation."""

    @property
    def sizes(self) -> typing.Mapping[str, int]:
        """Of node groups by uuid."""

    @property
    def held(self) -> Held:
        """What node groups keep."""


@dataclasses.dataclass(frozen=True)
class Rows:
    """A cluster's rows in Magnum.

    :param cluster, template: Magnum's objects, or similar ones.
    :param groups: all node groups.
    :param policy: the operator's.
    :param scale_from_zero: see node_groups.bounds.
    :param given: names of a cluster that another driver created; None: those
        of this driver.
    """

    cluster: typing.Any
    groups: tuple[typing.Any, ...]
    template: typing.Any
    policy: label_rules.Policy = label_rules.Policy()
    scale_from_zero: bool = False
    given: names.Naming | None = None

    @property
    def naming(self) -> names.Naming:
        """Names of the cluster's objects."""
        return self.given or names.Naming(names.cluster(self.cluster.uuid))

    @property
    def operation(self) -> str:
        """CREATE, UPDATE, DELETE; anything else is an UPDATE."""
        if is_deletion_requested(self.groups):
            return 'DELETE'
        kind = (self.cluster.status or '').partition('_')[0]
        return kind if kind in ('CREATE', 'DELETE') else 'UPDATE'

    @property
    def in_progress(self) -> bool:
        return str(self.cluster.status or '').endswith('_IN_PROGRESS')

    def pinned(self, pins: pins_module.Pins | None) -> 'Rows':
        """These rows, with the default labels that the cluster was made of.

        :param pins: None, or without default labels: those of now count.
        """
        if pins is None or pins.default_labels is None:
            return self
        return dataclasses.replace(self, policy=dataclasses.replace(
            self.policy, defaults=pins.default_labels))

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
            and not _stillborn(group, applied))

    def masters(self) -> typing.Any:
        """The row of the control plane, None when there is none."""
        found = [g for g in self.groups if g.role == MASTER]
        return found[0] if found else None

    def digest(self, applied: frozenset[str] = frozenset(),
               held: Held = types.MappingProxyType({}),
               pins: pins_module.Pins | None = None) -> str:
        """Digest of the desired state, 32 hexadecimal digits, for a release.

        It is made from rows, not from a chart's values, so that the periodic
        status needs neither Glance nor Nova. Sizes of autoscaled groups are
        not included, because the autoscaler changes them.

        :param applied, held: see state.State.
        :param pins: source of the chart and its values, which an upgrade to
            the same template may change.
        """
        pinned, groups = self.pinned(pins), []
        for group in sorted(self.live(applied), key=lambda g: g.uuid):
            facts = {f: getattr(group, f, None) for f in _GROUP_FIELDS}
            if pinned.bounds(group) is None:
                facts['node_count'] = group.node_count
            if group.uuid in held:
                facts['held'] = held[group.uuid]
            groups.append(facts)
        text = json.dumps({
            'template': {f: getattr(self.template, f, None)
                         for f in _TEMPLATE_FIELDS},
            'cluster': {f: getattr(self.cluster, f, None)
                        for f in _CLUSTER_FIELDS},
            'groups': groups,
            **({'pins': pins.digest} if pins and pins.digest else {})},
            sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def bounds(self, group: typing.Any) -> tuple[int, int] | None:
        """Bounds of the autoscaler, None when the size is fixed.

        Call this on :meth:`pinned` rows.
        """
        if group.role == MASTER:
            return None
        cluster = dict(self.cluster.labels or {})
        try:
            read = label_rules.parse(label_rules.merged(
                cluster, self.template.labels), self.policy)
            own = label_rules.node_group(
                read, group.labels, cluster, self.policy)
        except spec.InvalidSpec:
            return None
        return node_groups.bounds(
            node_group(group), own, scale_from_zero=self.scale_from_zero)

    def limit(self, minutes: float) -> float:
        """Limit for the operation without progress: goal.DesiredCluster."""
        limited = self.operation == 'UPDATE' or (
            self.operation == 'CREATE' and not self.cluster.create_timeout)
        return minutes if limited else 0.0

    def wanted(self, state: State, *, patience: float = 0.0,
               limit: float = 0.0) -> goal.DesiredCluster:
        """The desired state to compare a snapshot with.

        :param patience, limit: see goal.DesiredCluster.
        """
        cluster, pinned = self.cluster, self.pinned(state.pins)
        deleting = self.operation == 'DELETE'
        status = cluster.status
        if deleting and not (status or '').startswith('DELETE_'):
            status = 'DELETE_IN_PROGRESS'
        # Times in rows are by their writers' clocks.
        same = state.operation == self.operation
        return goal.DesiredCluster(
            name=self.naming.release, status=status,
            groups=tuple(
                pinned._group(group, state) for group in self.groups
                if deleting or not _stillborn(group, state.applied)),
            since=state.since if same else None,
            timeout=(cluster.create_timeout if self.operation == 'CREATE'
                     else None),
            limit=self.limit(limit),
            patience=patience,
            failing=dict(state.failing) if same else {},
            progress=state.progress if same else None,
            addons=state.addons,
            digest=None if deleting else self.digest(
                state.applied, state.held, state.pins))

    def _group(self, group: typing.Any, state: State) -> goal.DesiredGroup:
        asked = state.sizes.get(group.uuid)
        return goal.DesiredGroup(
            key=self.naming.node_group(group.uuid), name=group.name,
            role=group.role, status=group.status or 'UPDATE_COMPLETE',
            count=group.node_count if asked is None else asked,
            autoscaled=asked is None and self.bounds(group) is not None,
            held=group.uuid in state.held)


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
               held: bool = False, given: str | None = None
               ) -> spec.NodeGroupSpec:
    """A row as plain values.

    :param flavor: name of its flavor.
    :param image: None: the cluster's.
    :param held, given: see spec.NodeGroupSpec.
    """
    return spec.NodeGroupSpec(
        uuid=group.uuid, name=group.name, count=group.node_count,
        flavor=flavor or group.flavor_id, role=group.role,
        min=group.min_node_count or 0, max=group.max_node_count, image=image,
        labels=dict(group.labels or {}),
        node_labels=dict(getattr(group, 'node_labels', None) or {}),
        node_taints=tuple(getattr(group, 'node_taints', None) or ()),
        is_default=bool(group.is_default), held=held, given=given)


def _stillborn(group: typing.Any, applied: frozenset[str]) -> bool:
    return (group.status == 'CREATE_FAILED' and not group.is_default
            and group.uuid not in applied)
