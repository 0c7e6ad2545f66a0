# SPDX-License-Identifier: Apache-2.0

"""Which nodes are in which server group of Nova. Pure.

A server group is part of the machine template, so another one replaces nodes:
the decision is pinned when a cluster is created, and renewed by an upgrade.
"""

import dataclasses
import types
import typing

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec as spec_model

#: Key of the control plane among uuids of node groups.
CONTROL_PLANE = names.CONTROL_PLANE
_DEFAULT = 'soft-anti-affinity'

Ids: typing.TypeAlias = typing.Mapping[str, str]

#: For a cluster that another driver made, or whose memory is lost: no part of
#: it has one, as far as known, and a resize adds none.
NOBODY: Ids = types.MappingProxyType({'*': ''})


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A desired server group.

    :param name: in Nova.
    :param asked: whether it was requested; otherwise the cluster does without
        it if Nova refuses.
    """

    name: str
    policy: str
    asked: bool


def wanted(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
           policy: label_rules.Policy, chart: charts.Features,
           overlays: typing.Iterable[
               tuple[str, typing.Mapping[str, typing.Any]]] = ()
           ) -> dict[str, Wanted]:
    """Server groups of a cluster, by CONTROL_PLANE and uuids of node groups.

    :param labels: of the cluster.
    :param policy: the operator's, for labels.
    :param overlays: one that names a server group replaces this.
    """
    if not chart.server_groups:
        return {}
    parts = {part for _, overlay in overlays
             for part in ('controlPlane', 'nodeGroupDefaults')
             if (overlay.get(part) or {}).get('serverGroupId')}
    result = {}
    asked = labels.server_group_policies
    if asked != 'none' and 'controlPlane' not in parts:
        result[CONTROL_PLANE] = Wanted(
            names.server_group(spec.release, CONTROL_PLANE),
            asked or _DEFAULT, asked is not None)
    for group in spec.node_groups:
        own = label_rules.node_group(
            labels, group.labels, spec.labels, policy).server_group_policies
        if own not in (None, 'none') and 'nodeGroupDefaults' not in parts:
            result[group.uuid] = Wanted(names.server_group(
                spec.release, group.kube_name), own, True)
    return result


def missing(found: typing.Mapping[str, Wanted],
            known: Ids | None) -> dict[str, Wanted]:
    """Those of :func:`wanted` that are not decided yet."""
    if known is not None and '*' in known:
        return {}
    return {key: group for key, group in found.items()
            if key not in (known or {})}


def decided(spec: spec_model.ClusterSpec,
            undecided: typing.Container[str],
            known: Ids | None) -> dict[str, str]:
    """The pinned decisions, including that a part has none."""
    return {**{key: '' for key in (
        CONTROL_PLANE, *[group.uuid for group in spec.node_groups])
        if key not in undecided}, **(known or {})}


def with_group_ids(spec: spec_model.ClusterSpec,
                   ids: Ids | None) -> spec_model.ClusterSpec:
    """The cluster with the ids of its server groups."""
    ids = ids or {}
    return dataclasses.replace(
        spec, server_group=ids.get(CONTROL_PLANE) or None,
        node_groups=tuple(
            dataclasses.replace(
                group, server_group=ids.get(group.uuid) or None)
            for group in spec.node_groups))
