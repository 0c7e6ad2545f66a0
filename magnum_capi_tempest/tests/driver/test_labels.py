# SPDX-License-Identifier: Apache-2.0

"""What labels do to the objects of a cluster, and which of two values counts.

The labels are those that magnum-capi-helm and magnum-cluster-api have in
common.
"""

import collections.abc
import typing

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import autoscaler
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import requested
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

CIDR = '10.77.0.0/24'

#: Bounds of all node groups that have none of their own.
BOUNDS = {'auto_scaling_enabled': 'true',
          'min_node_count': '1', 'max_node_count': '6'}

#: Nobody's defaults. ``floating_ip_enabled`` of the template says the opposite
#: of its label. Those of the cloud that do not go with ovn are left out.
LABELS = {'boot_volume_size': '12', 'etcd_volume_size': '3',
          'fixed_subnet_cidr': CIDR, 'octavia_provider': 'ovn',
          'octavia_lb_algorithm': None, 'api_master_lb_allowed_cidrs': None,
          'master_lb_floating_ip_enabled': 'true',
          'auto_healing_enabled': 'false', **BOUNDS}

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
        return [_value(templates.get(capi.template(obj)), *path)
                for obj in self.of(kind)]

    def are_all(self) -> bool:
        """Whether all are there that a cluster with workers has for sure."""
        makers = [obj for kind in MAKERS for obj in self.of(kind)]
        templates = {obj['metadata']['name']
                     for obj in self.of('OpenStackMachineTemplate')}
        return bool(self.of('OpenStackCluster')) and all(
            map(self.of, MAKERS)) and templates.issuperset(
                map(capi.template, makers))

    def bounds(self) -> list[autoscaler.Bounds]:
        """The bounds of the autoscaler; a group without any comes last."""
        return sorted((autoscaler.bounds(obj['metadata'])
                       for obj in self.of('MachineDeployment')), key=str)


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
    ('octavia_provider', 'ovn', lambda objects: objects.cluster(
        'apiServerLoadBalancer', 'provider')),
    ('master_lb_floating_ip_enabled', False, lambda objects: bool(
        objects.cluster('disableAPIServerFloatingIP'))),
    ('auto_healing_enabled', [], lambda objects: objects.of(
        'MachineHealthCheck')),
    ('min_node_count, max_node_count', [('1', '6')],
     lambda objects: objects.bounds()),
)

#: Kinds whose objects make machines from templates.
MAKERS = ('KubeadmControlPlane', 'MachineDeployment')

KINDS = (*MAKERS, 'MachineHealthCheck', 'OpenStackCluster',
         'OpenStackMachineTemplate')


def _faults(objects: _Objects) -> str | None:
    """Return which labels do not have their effects, or None."""
    return '; '.join(
        f'{label}: {seen!r} and not {wanted!r}'
        for label, wanted, read in EFFECTS
        if (seen := read(objects)) != wanted) or None


@flags.promise('lifecycle.cluster.labels-count')
class LabelsTest(operations.BaseOperationsTest):
    """Only the objects of the cluster count.

    On many clouds it is never complete: images are larger than its volumes,
    or there is only one provider of load balancers.
    """

    needs = ('management_kubeconfig', 'master_lb_enabled',
             'service_available.cinder')
    management: capi.ManagementCluster

    def objects(self, stack_id: str) -> _Objects:
        return _Objects(self.management.bodies(KINDS, stack_id))

    @decorators.idempotent_id('053fd3a8-cffc-4b28-8f0d-8e5a75a08618')
    def test_each_has_its_effect(self) -> None:
        try:
            template = self.create_template(
                master_lb_enabled=True, floating_ip_enabled=False,
                labels=LABELS)
        except lib_exc.ServerFault as e:
            # Magnum 21.0.1 compares the text of boot_volume_size with a
            # number (deviations.rst).
            self.skipTest(f'Magnum has no templates with these labels: {e}')
        uuid = self.request_cluster(template, keypair=self.create_keypair())
        look = requested.until_there(
            self.waiter, uuid, self.objects, _Objects.are_all,
            'machines, and their templates')
        if not look.found or not look.found.of('OpenStackCluster'):
            self.skipTest('There is no OpenStackCluster')

        # What comes a moment later, as a health check may, counts as well.
        stack_id = look.cluster.stack_id or ''
        waiters.until_over(
            operations.STAYS_AWAY, lambda: self.objects(stack_id), _faults,
            'each label to have its effect')


@flags.promise('lifecycle.cluster.labels-count')
class BoundsTest(operations.BaseOperationsTest):

    # Groups of any minimum came with 1.10.
    min_microversion = '1.10'
    needs = ('management_kubeconfig',)
    management: capi.ManagementCluster

    @flags.needs(flags.RESIZE)
    @decorators.idempotent_id('18ca4ca9-ede6-4b1c-83c5-036d51bdd719')
    def test_bounds_of_a_node_group_count_before_labels(self) -> None:
        cluster = self.create_cluster(self.create_template(labels=BOUNDS))

        group = self.create_group(
            cluster, node_count=LOW, min_node_count=LOW, max_node_count=HIGH)

        self.assertEqual(
            [('1', '6'), (str(LOW), str(HIGH))],
            _Objects(self.management.bodies(
                KINDS, observations.stack_id(cluster))).bounds())
        self.delete_group(cluster, group)
