# SPDX-License-Identifier: Apache-2.0

"""Which nodes are in which server group of Nova. Pure.

A server group is part of the machine template, so another one replaces nodes:
it is chosen when a cluster or node group is created, and by an upgrade.
"""

import copy
import dataclasses
import typing

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec as spec_model

#: Key of the control plane among uuids of node groups.
CONTROL_PLANE = names.CONTROL_PLANE
_DEFAULT = 'soft-anti-affinity'


@dataclasses.dataclass(frozen=True)
class ServerGroup:
    """A desired server group.

    :param name: in Nova.
    :param requested: whether a label asks for it; otherwise the cluster does
        without it if Nova refuses.
    """

    name: str
    policy: str
    requested: bool


def server_groups(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
                  policy: label_rules.Policy, chart: charts.Features,
                  values: typing.Mapping[str, typing.Any]
                  ) -> dict[str, ServerGroup]:
    """Server groups that a cluster should have.

    :param labels: of the cluster.
    :param policy: the operator's, for labels.
    :param values: of the cluster, without these. An overlay of the operator
        that names a server group replaces them.
    :returns: by CONTROL_PLANE and names of node groups.
    """
    if not chart.server_groups:
        return {}
    result = {}
    label = labels.server_group_policies
    if label != 'none' and not values['controlPlane'].get('serverGroupId'):
        result[CONTROL_PLANE] = ServerGroup(
            names.server_group(spec.release, CONTROL_PLANE),
            label or _DEFAULT, label is not None)
    if (values.get('nodeGroupDefaults') or {}).get('serverGroupId'):
        return result
    for group in spec.node_groups:
        own = label_rules.node_group(
            labels, group.labels, spec.labels, policy).server_group_policies
        if own not in (None, 'none'):
            result[group.kube_name] = ServerGroup(names.server_group(
                spec.release, group.kube_name), own, True)
    return result


def members(values: typing.Mapping[str, typing.Any],
            more: typing.Container[str] = ()) -> dict[str, int]:
    """Nodes of each part that is in a server group, as many as may be.

    :param more: keys of parts that will be in one.
    :returns: by CONTROL_PLANE and names of node groups; autoscaled ones with
        their maximum.
    """
    parts = {CONTROL_PLANE: values['controlPlane'],
             **{group['name']: group for group in values['nodeGroups']}}
    default = (values.get('nodeGroupDefaults') or {}).get('serverGroupId')
    return {
        key: int(part.get('machineCountMax' if part.get('autoscale')
                          else 'machineCount') or 0)
        for key, part in parts.items()
        if part.get('serverGroupId') or key in more
        or default and key != CONTROL_PLANE}


def with_server_groups(values: dict[str, typing.Any],
                       ids: typing.Mapping[str, str]) -> dict[str, typing.Any]:
    """The values with the ids of server groups.

    :param ids: by the keys of :func:`server_groups`.
    """
    result = copy.deepcopy(values)
    parts = {CONTROL_PLANE: result['controlPlane'],
             **{group['name']: group for group in result['nodeGroups']}}
    for key, made in ids.items():
        parts[key]['serverGroupId'] = made
    return result
