# SPDX-License-Identifier: Apache-2.0

"""A cluster on networks of its owner, by their UUIDs or by a name.

The tests read the objects of Cluster API Provider OpenStack.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import networks
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

EXTRA = 'network.cluster.extra'


@flags.promise('network.cluster.name-of-the-project')
class NamesTest(operations.BaseOperationsTest):
    """Another project has a network with the same name.

    Only the management cluster shows which of them is used. Without access to
    it, a test can only see that the cluster is complete.
    """

    credentials = ['primary', 'admin']
    needs = ('service_available.neutron',)

    @classmethod
    def setup_clients(cls) -> None:
        super().setup_clients()
        cls.require_project('admin', own=False)

    @decorators.idempotent_id('b6c7e1d2-40b1-4b3d-9f6e-2f1d5a7c8e03')
    def test_own_network_is_meant(self) -> None:
        own = networks.Networks(
            self.os_primary, self.addCleanup, self.id())
        network = own.create()
        own.connect(own.create_subnet(network, '10.99.3.0/24'))
        name = network['name']
        networks.Networks(
            self.os_admin, self.addClassResourceCleanup, self.id()).create(
                name)

        cluster = self.create_cluster(
            self.create_template(fixed_network=name))

        if not self.management:
            self.not_checked('which of two networks with one name is used',
                             'management_kubeconfig')
            return
        spec = self.management.spec(
            'OpenStackCluster', observations.stack_id(cluster))
        if spec is None:
            self.skipTest('There is no OpenStackCluster')
        self.assertTrue(
            networks.refers_to(spec.get('network'), network),
            f'{spec.get("network")} is not {network["id"]}')


@flags.promise('network.cluster.own')
class NetworksTest(operations.BaseOperationsTest):
    """All tests check one cluster."""

    needs = ('management_kubeconfig', 'service_available.neutron')
    management: capi.ManagementCluster

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        # Networks first, so that they are deleted last.
        own = networks.Networks(
            cls.os_primary, cls.addClassResourceCleanup, cls._id())
        cls.network = own.create()
        cls.subnet = own.create_subnet(cls.network, '10.99.1.0/24')
        own.connect(cls.subnet)
        cls.extra = own.create()
        # No router has this gateway. With one, servers had two default routes.
        own.create_subnet(cls.extra, '10.99.2.0/24', gateway_ip=None)
        cls.external = networks.external(cls.os_primary)
        cls.cluster = cls.create_class_cluster(cls.create_class_template(
            fixed_network=cls.network['id'], fixed_subnet=cls.subnet['id'],
            external_network_id=cls.external['id'], labels={
                **CONF.magnum_capi.labels,
                **({'extra_network_names': cls.extra['name']}
                   if not flags.not_promised(EXTRA) else {})}))
        spec = cls.management.spec(
            'OpenStackCluster', observations.stack_id(cls.cluster))
        if not spec:
            raise cls.skipException('There is no OpenStackCluster')
        cls.spec = spec

    @decorators.idempotent_id('476301eb-3b6b-432a-a8ea-52abe465ef6f')
    def test_internal_network(self) -> None:
        self.assertTrue(
            networks.refers_to(self.spec.get('network'), self.network),
            f'network {self.spec.get("network")} is not {self.network["id"]}')

    @decorators.idempotent_id('19c911b3-55f9-4899-8da7-187e0845f8a9')
    def test_internal_subnet(self) -> None:
        found = self.spec.get('subnets') or []

        self.assertEqual(
            [True], [networks.refers_to(one, self.subnet) for one in found],
            f'subnets {found} are not {self.subnet["id"]} alone')
        self.assertFalse(
            self.spec.get('managedSubnets'),
            'With a subnet of its owner, another one may not be created')

    @decorators.idempotent_id('c22b6700-48c2-4a6e-bcdb-620089526cc7')
    def test_external_network(self) -> None:
        self.assertTrue(
            networks.refers_to(
                self.spec.get('externalNetwork'), self.external),
            f'externalNetwork {self.spec.get("externalNetwork")} is not '
            f'{self.external["id"]}')

    @flags.promise(EXTRA)
    @decorators.idempotent_id('b82a64e9-1c27-46fb-9dcf-499a8db6f4e0')
    def test_workers_are_on_the_extra_network(self) -> None:
        stack_id = observations.stack_id(self.cluster)
        ports = {
            body['metadata']['name']: body['spec']['template']['spec'].get(
                'ports') or []
            for _, body in self.management.bodies(
                ('OpenStackMachineTemplate',), stack_id)}
        # Others may be of the control plane, or of no machine any more.
        of_workers = {
            capi.template(body): ports.get(capi.template(body), [])
            for _, body in self.management.bodies(
                ('MachineDeployment',), stack_id)}

        self.assertNotEqual({}, of_workers, 'There is no MachineDeployment')
        for name, found in of_workers.items():
            self.assertTrue(
                any(networks.refers_to(port.get('network'), self.extra)
                    for port in found),
                f'OpenStackMachineTemplate {name} of workers has no port on '
                f'network {self.extra["id"]}, but: {found}')

    @decorators.idempotent_id('bc061457-eab2-486a-a3f1-672bafe8556d')
    def test_the_cluster_works(self) -> None:
        self.assertEqual(
            (self.network['id'], self.subnet['id']),
            (self.cluster['fixed_network'], self.cluster['fixed_subnet']))
        self.assert_usable(self.cluster)
