# SPDX-License-Identifier: Apache-2.0

"""Acts as the cluster autoscaler: sets the size of node groups.

It writes the scale of a MachineDeployment in the management cluster, within
the bounds in its annotations
(https://cluster-api.sigs.k8s.io/tasks/automated-machine-management/autoscaling).
"""

import dataclasses

from magnum_capi_tempest.evidence import owners
from magnum_capi_tempest.kubeclient import kube

_GROUP = 'cluster.x-k8s.io'
_PLURAL = 'machinedeployments'
_BOUND = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size'


def bounds(metadata):
    """Return the bounds of a MachineDeployment: pair of texts or None."""
    notes = metadata.get('annotations') or {}
    return tuple(notes.get(_BOUND.format(side)) for side in ('min', 'max'))


@dataclasses.dataclass(frozen=True)
class NodeGroup:
    """A MachineDeployment that may be autoscaled.

    :param bounds: pair of texts, lowest and highest number of machines.
    """

    namespace: str
    name: str
    bounds: tuple


class Autoscaler(kube.Client):
    """Lists and scales node groups.

    :param kubeconfig: path; its user may change MachineDeployments.
    """

    def groups(self, stack_id):
        """Return the node groups of a cluster that have bounds.

        :raises KubeError: the management cluster did not answer.
        """
        version, = {v for _, v, plural, _ in self.kinds(
            lambda group: group == _GROUP) if plural == _PLURAL}
        self._version = version
        found = []
        for obj in self.custom(_GROUP, version, _PLURAL):
            metadata = obj['metadata']
            if owners.belongs(metadata, stack_id) and all(bounds(metadata)):
                found.append(NodeGroup(
                    metadata['namespace'], metadata['name'],
                    bounds(metadata)))
        return found

    def scale(self, group, size):
        """Set the number of machines of a node group from :meth:`groups`.

        :raises KubeError: the management cluster did not answer, or
            refused.
        """
        self.replace(
            f'/apis/{_GROUP}/{self._version}/namespaces/{group.namespace}/'
            f'{_PLURAL}/{group.name}/scale',
            lambda scale: scale['spec'].update(replicas=size))
