# SPDX-License-Identifier: Apache-2.0

"""Leaked resources of servers are found, each kind by its name."""

import contextlib

from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import cloud as seen_clouds
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from tests.system.infrastructure import clouds

_NAME = 'left-behind'


class LeaksTest(clouds.TestCase):

    def setUp(self):
        super().setUp()
        self.made = self.enterContext(contextlib.ExitStack())
        self.clouds = self.box.directory / 'clouds.yaml'

    def keep(self, remove, thing, **more):
        self.made.callback(remove, thing, **more)
        return thing

    def make(self):
        """Create one of each kind of a cluster's resources, as the user."""
        network, compute = self.cloud.network, self.cloud.compute
        balancers, volumes = self.cloud.load_balancer, self.cloud.block_storage
        public = network.find_network('public')
        net = self.keep(network.delete_network,
                        network.create_network(name=_NAME))
        subnet = network.create_subnet(
            network_id=net.id, ip_version=4, cidr='10.9.0.0/24')
        self.keep(network.delete_port, network.create_port(
            network_id=net.id, name=_NAME))
        self.keep(network.delete_router, network.create_router(name=_NAME))
        self.keep(network.delete_ip, network.create_ip(
            floating_network_id=public.id, description=_NAME))
        self.keep(network.delete_security_group,
                  network.create_security_group(name=_NAME))
        self.keep(compute.delete_server_group, compute.create_server_group(
            name=_NAME, policy='anti-affinity'))
        self.keep(volumes.delete_volume, volumes.create_volume(
            name=_NAME, size=1))
        balancer = balancers.create_load_balancer(
            name=_NAME, vip_subnet_id=subnet.id)
        self.made.callback(self.gone, balancers.find_load_balancer)
        self.keep(balancers.delete_load_balancer, balancer)
        balancers.wait_for_load_balancer(balancer.id, wait=60)
        server = compute.create_server(
            name=_NAME, flavor_id='fault.failed', networks=[
                {'uuid': net.id}],
            image_id=self.cloud.image.find_image('ubuntu-capi').id)
        self.made.callback(compute.wait_for_delete, server, wait=60)
        self.keep(compute.delete_server, server)

    def gone(self, find):
        clouds.wait(f'{_NAME} to be gone',
                    lambda: find(_NAME, ignore_missing=True) is None)

    def run_seen_by_admin(self):
        return leaks.take('sandbox-admin', clouds=self.clouds,
                          real_nodes=True)

    def assert_each_kind(self, found):
        """Assert that each kind was found; only floating IPs have no name."""
        self.assertEqual(set(), set(model.REAL) - {
            leak.thing.kind for leak in found})
        for leak in found:
            if leak.thing.kind not in ('floating IP', model.PORT):
                self.assertEqual(_NAME, leak.thing.name)

    def test_each_kind(self):
        user = seen_clouds.Cloud('sandbox', self.clouds)
        before = self.run_seen_by_admin()
        self.assertEqual({}, dict(before.unread))
        one = watch.Watch(
            user.get, user=user.user, project=user.project, test='a.test',
            real_nodes=True, timeout=20)
        one.begin()
        self.make()
        error = self.assertRaises(watch.LeakFound, one.check, {})
        self.assert_each_kind(error.leaks)
        self.assertIn('left by: a.test', str(error))
        self.assert_each_kind(
            leaks.compare(before, self.run_seen_by_admin()).leaks)
        self.made.close()
        one.check({})
        self.assertEqual(
            (), leaks.compare(before, self.run_seen_by_admin()).leaks)
