# SPDX-License-Identifier: Apache-2.0

"""What labels do to the objects of a cluster, and which of two values counts.

The labels are those that magnum-capi-helm and magnum-cluster-api have in
common.
"""

import collections.abc
import typing

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import autoscaler
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

CIDR = '10.77.0.0/24'

#: Nobody's defaults. ``floating_ip_enabled`` of the template says the opposite
#: of its label.
LABELS = {'boot_volume_size': '12', 'etcd_volume_size': '3',
          'fixed_subnet_cidr': CIDR, 'octavia_provider': 'amphora',
          'master_lb_floating_ip_enabled': 'true',
          'auto_healing_enabled': 'false', 'auto_scaling_enabled': 'true',
          'min_node_count': '1', 'max_node_count': '6'}

#: Bounds of a node group, other than those of the labels.
LOW, HIGH = 2, 4


class _Objects:
    """The objects of a cluster in the management cluster.

    :param bodies: their kinds and bodies.
    """

    def __init__(self, bodies: list[tuple[str, json_types.Object]]) -> None:
        self._bodies = bodies

    def of(self, kind: str) -> list[json_types.Object]:
        return [obj for found, obj in self._bodies if found == kind]

    def cluster(self, *path: str) -> typing.Any:
        """Value at a path of the spec of the OpenStackCluster, or None."""
        cluster, = self.of('OpenStackCluster')
        return _value(cluster['spec'], *path)

    def machines(self, kind: str, *path: str) -> list[typing.Any]:
        """Values at a path of the specs of the machines, one for each object.

        :param kind: KubeadmControlPlane or MachineDeployment.
        """
        templates = {obj['metadata']['name']: obj['spec']['template']['spec']
                     for obj in self.of('OpenStackMachineTemplate')}
        return [_value(templates[_template(obj)], *path)
                for obj in self.of(kind)]

    def bounds(self) -> list[autoscaler.Bounds]:
        """The bounds of the autoscaler; a group without any comes last."""
        return sorted((autoscaler.bounds(obj['metadata'])
                       for obj in self.of('MachineDeployment')), key=str)


def _template(obj: json_types.Object) -> str:
    """Name of the template of the machines of an object."""
    spec = obj['spec'].get('machineTemplate') or obj['spec']['template']
    return str((spec.get('spec') or spec)['infrastructureRef']['name'])


def _value(value: typing.Any, *path: str) -> typing.Any:
    for key in path:
        value = (value or {}).get(key)
    return value


def _etcd(devices: list[json_types.Object] | None) -> list[int]:
    return [device['sizeGiB'] for device in devices or ()
            if device['name'] == 'etcd']


#: (label, what it changes, function of _Objects).
EFFECTS: tuple[tuple[
    str, object, collections.abc.Callable[[_Objects], object]], ...] = (
    ('boot_volume_size', [12], lambda objects: objects.machines(
        'KubeadmControlPlane', 'rootVolume', 'sizeGiB')),
    ('boot_volume_size', [12], lambda objects: objects.machines(
        'MachineDeployment', 'rootVolume', 'sizeGiB')),
    ('etcd_volume_size', [[3]], lambda objects: list(map(
        _etcd, objects.machines('KubeadmControlPlane',
                                'additionalBlockDevices')))),
    # Only nodes of the control plane have an etcd.
    ('etcd_volume_size', [[]], lambda objects: list(map(
        _etcd, objects.machines('MachineDeployment',
                                'additionalBlockDevices')))),
    ('fixed_subnet_cidr', [CIDR], lambda objects: [
        subnet['cidr'] for subnet in objects.cluster('managedSubnets') or ()]),
    ('octavia_provider', 'amphora', lambda objects: objects.cluster(
        'apiServerLoadBalancer', 'provider')),
    ('master_lb_floating_ip_enabled', False, lambda objects: bool(
        objects.cluster('disableAPIServerFloatingIP'))),
    ('auto_healing_enabled', [], lambda objects: objects.of(
        'MachineHealthCheck')),
    ('min_node_count, max_node_count', [('1', '6')],
     lambda objects: objects.bounds()),
)

KINDS = ('KubeadmControlPlane', 'MachineDeployment', 'MachineHealthCheck',
         'OpenStackCluster', 'OpenStackMachineTemplate')


@flags.promise('lifecycle.cluster.labels-count')
class LabelsTest(operations.BaseOperationsTest):

    # Groups of any minimum came with 1.10.
    min_microversion = '1.10'
    needs = ('management_kubeconfig', 'master_lb_enabled')
    management: capi.ManagementCluster

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.cluster = cls.create_class_cluster(cls.create_class_template(
            master_lb_enabled=True, floating_ip_enabled=False,
            labels={**CONF.magnum_capi.labels, **LABELS}))

    def objects(self) -> _Objects:
        found = _Objects(self.management.bodies(
            KINDS, observations.stack_id(self.cluster)))
        if not found.of('OpenStackCluster'):
            self.skipTest('There is no OpenStackCluster')
        return found

    @decorators.idempotent_id('053fd3a8-cffc-4b28-8f0d-8e5a75a08618')
    def test_each_has_its_effect(self) -> None:
        objects = self.objects()

        self.assertEqual([], [
            f'{label}: {seen!r} and not {wanted!r}'
            for label, wanted, read in EFFECTS
            if (seen := read(objects)) != wanted])

    @flags.needs(flags.RESIZE)
    @decorators.idempotent_id('18ca4ca9-ede6-4b1c-83c5-036d51bdd719')
    def test_bounds_of_a_node_group_count_before_labels(self) -> None:
        group = self.create_group(
            self.cluster, node_count=LOW, min_node_count=LOW,
            max_node_count=HIGH)

        self.assertEqual([('1', '6'), (str(LOW), str(HIGH))],
                         self.objects().bounds())
        self.delete_group(self.cluster, group)
