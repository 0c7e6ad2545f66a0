# SPDX-License-Identifier: Apache-2.0

"""Acts as the cluster autoscaler: sets the size of node groups.

It writes the scale of a MachineDeployment in the management cluster, within
the bounds in its annotations
(https://cluster-api.sigs.k8s.io/tasks/automated-machine-management/autoscaling).
"""

import typing

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common.management import capi_objects

#: The least and the most nodes of a group, as texts; None: there is no bound.
Bounds: typing.TypeAlias = tuple[str | None, str | None]

_BOUND = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size'


def bounds(metadata: json_types.Object) -> Bounds:
    """Return the bounds of a MachineDeployment: pair of texts or None."""
    notes = metadata.get('annotations') or {}
    return notes.get(_BOUND.format('min')), notes.get(_BOUND.format('max'))


def groups(api: capi_objects.Management, stack_id: str
           ) -> list[tuple[capi_objects.Found, Bounds]]:
    """Return the MachineDeployments of a cluster that have bounds.

    :returns: the objects and their bounds.
    :raises KubeError: the management cluster did not answer.
    """
    return [(found, bounds(found.body['metadata']))
            for found in api.objects(stack_id, ('MachineDeployment',))
            if all(bounds(found.body['metadata']))]


def scale(api: capi_objects.Management, group: capi_objects.Found, size: int
          ) -> None:
    """Set the number of machines of one of :func:`groups`.

    :raises KubeError: the management cluster did not answer, or refused.
    """
    api.replace(f'{group.path}/scale',
                lambda body: body['spec'].update(replicas=size))
