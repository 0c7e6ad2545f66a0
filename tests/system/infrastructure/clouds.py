# SPDX-License-Identifier: Apache-2.0

"""A sandbox with a real OpenStack, one for all tests of a class."""

import openstack

from magnum_capi import waiting
from tests.functional import boxes
from tests.functional import cloud


def wait(what, condition, timeout=300):
    """Wait until a condition, a function without arguments, is true.

    :param timeout: seconds.
    """
    return waiting.wait_for(condition, done=bool, timeout=timeout, what=what)


class TestCase(boxes.TestCase):
    """With connections of a user, ``cloud``, and of an ``admin``."""

    #: More arguments for ``sandbox up``.
    arguments = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = boxes.shared(cls, '--infrastructure', 'openstack',
                               *cls.arguments)
        config = openstack.config.OpenStackConfig(
            config_files=[str(cls.box.directory / 'clouds.yaml')],
            secure_files=[], load_envvars=False)
        cls.cloud, cls.admin = (
            openstack.connection.Connection(config=config.get_one(name))
            for name in ('sandbox', 'sandbox-admin'))

    @classmethod
    def template(cls, name, **change):
        """Create a cluster template of our driver, as the user; its uuid."""
        # openstacksdk omits the driver.
        return cloud.Cloud(cls.box.sandbox, 'k8s_capi_v1').make_template(
            name=name, **change)

    def own_network(self, name):
        """A network of the user with a router, removed at the end.

        :returns: it and its subnet.
        """
        network = self.cloud.network
        net = network.create_network(name=name)
        self.addCleanup(network.delete_network, net)
        subnet = network.create_subnet(
            network_id=net.id, ip_version=4, cidr='10.6.0.0/24')
        public = self.admin.network.find_network('public')
        router = network.create_router(
            external_gateway_info={'network_id': public.id})
        self.addCleanup(network.delete_router, router)
        network.add_interface_to_router(router, subnet=subnet.id)
        self.addCleanup(network.remove_interface_from_router, router,
                        subnet=subnet.id)
        return net, subnet

    def usages(self):
        """Units of all kinds in use, according to placement."""
        return sum(
            sum(self.admin.placement.get(
                f'/resource_providers/{host.id}/usages').json()[
                    'usages'].values())
            for host in self.admin.placement.resource_providers())

    def resources(self):
        """All projects' resources, as pairs of kind and id."""
        network, balancers = self.admin.network, self.admin.load_balancer
        # Neutron makes a default group for each project that sends requests.
        groups = (group for group in network.security_groups()
                  if group.name != 'default')
        return {(kind, one.id) for kind, found in {
            'server': self.admin.compute.servers(all_projects=True),
            'server group': self.admin.compute.server_groups(
                all_projects=True),
            'volume': self.admin.block_storage.volumes(all_projects=True),
            'port': network.ports(), 'router': network.routers(),
            'network': network.networks(), 'subnet': network.subnets(),
            'floating IP': network.ips(), 'security group': groups,
            'load balancer': balancers.load_balancers(),
            'listener': balancers.listeners(), 'pool': balancers.pools(),
        }.items() for one in found}
