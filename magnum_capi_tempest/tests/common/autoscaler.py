# SPDX-License-Identifier: Apache-2.0

"""Acts as the cluster autoscaler: sets the size of node groups.

It writes the scale of a MachineDeployment in the management cluster, within
the bounds in its annotations
(https://cluster-api.sigs.k8s.io/tasks/automated-machine-management/autoscaling).
"""

_BOUND = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size'


def bounds(metadata):
    """Return the bounds of a MachineDeployment: pair of texts or None."""
    notes = metadata.get('annotations') or {}
    return tuple(notes.get(_BOUND.format(side)) for side in ('min', 'max'))


def groups(api, stack_id):
    """Return the MachineDeployments of a cluster that have bounds.

    :param api: capi_objects.Management.
    :returns: list of pairs, a capi_objects.Found and its bounds.
    :raises KubeError: the management cluster did not answer.
    """
    return [(found, bounds(found.body['metadata']))
            for found in api.objects(stack_id, ('MachineDeployment',))
            if all(bounds(found.body['metadata']))]


def scale(api, group, size):
    """Set the number of machines of one of :func:`groups`.

    :param group: capi_objects.Found.
    :raises KubeError: the management cluster did not answer, or refused.
    """
    api.replace(f'{group.path}/scale',
                lambda body: body['spec'].update(replicas=size))
