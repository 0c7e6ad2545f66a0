# SPDX-License-Identifier: Apache-2.0

"""Servers, networks and load balancers of ``--infrastructure openstack``."""

import base64
import ipaddress

from tests.system.infrastructure import clouds
from tests.system.infrastructure import machine_service

_USER_DATA = base64.b64encode(b'#cloud-config\n').decode()


class LifeTest(clouds.TestCase):

    def setUp(self):
        super().setUp()
        self.machines = self.useFixture(machine_service.MachineService(
            self.box.sandbox.layout().machines)).machines
        self.addCleanup(self.box.sandbox.layout().machines.unlink)
        self.public = self.admin.network.find_network('public')
        self.image = self.admin.image.find_image('ubuntu-capi')

    def server(self, net, flavor='m1.small', status='ACTIVE', **more):
        compute = self.cloud.compute
        server = compute.create_server(
            name='life', image_id=self.image.id, flavor_id=flavor,
            networks=[{'uuid': net.id}], user_data=_USER_DATA, **more)
        self.addCleanup(self.remove, server)
        return compute.wait_for_server(
            server, status=status, failures=[], wait=90, interval=0.5)

    def remove(self, server):
        compute = self.cloud.compute
        compute.delete_server(server, ignore_missing=True)
        compute.wait_for_delete(server, wait=90, interval=0.5)

    def test_a_server_is_a_machine(self):
        net, _ = self.own_network('life')
        server = self.server(net)
        machine = self.machines[server.id]
        port, = self.cloud.network.ports(device_id=server.id)
        self.assertEqual('life', machine['name'])
        self.assertEqual(_USER_DATA, machine['user_data'])
        self.assertEqual([i['ip_address'] for i in port.fixed_ips],
                         machine['addresses'])
        self.assertEqual('m1.small', machine['flavor']['name'])
        self.assertEqual(self.image.id, machine['image'])
        self.assertEqual('ACTIVE', port.status)
        compute = self.cloud.compute
        self.assertIn('has booted', compute.get_server_console_output(
            server)['output'])
        compute.stop_server(server)
        compute.wait_for_server(server, status='SHUTOFF', wait=60,
                                interval=0.5)
        self.assertEqual('stopped', self.machines[server.id]['state'])
        compute.start_server(server)
        compute.wait_for_server(server, wait=60, interval=0.5)
        self.assertGreater(self.usages(), 0)
        self.remove(server)
        self.assertEqual({}, self.machines)
        self.assertEqual([], [*self.cloud.network.ports(
            device_id=server.id)])
        self.assertEqual(0, self.usages())

    def test_a_flavor_that_fails(self):
        net, _ = self.own_network('life')
        server = self.server(net, 'fault.failed', 'ERROR')
        self.assertIn('No valid host', server.fault['message'])
        self.assertEqual({}, self.machines)

    def test_a_flavor_that_no_host_has_room_for(self):
        net, _ = self.own_network('life')
        server = self.server(net, 'fault.no-host', 'ERROR')
        self.assertIn('No valid host', server.fault['message'])
        self.assertIsNone(self.admin.compute.get_server(server).compute_host)
        self.assertEqual(0, self.usages())

    def test_a_server_that_is_never_built_can_be_deleted(self):
        net, _ = self.own_network('life')
        server = self.server(net, 'fault.build', 'BUILD')
        clouds.wait('the server to be spawning', lambda: (
            self.cloud.compute.get_server(server).task_state == 'spawning'))
        self.remove(server)
        self.assertEqual({}, self.machines)
        self.assertEqual([], [*self.cloud.network.ports(
            device_id=server.id)])
        self.assertEqual(0, self.usages())

    def test_a_server_whose_machine_crashes_is_shut_off(self):
        net, _ = self.own_network('life')
        server = self.server(net)
        self.machines[server.id]['state'] = 'crashed'
        compute = self.cloud.compute
        compute.wait_for_server(server, status='SHUTOFF', wait=60,
                                interval=0.5)
        compute.start_server(server)
        compute.wait_for_server(server, wait=60, interval=0.5)
        self.assertEqual('running', self.machines[server.id]['state'])

    def test_a_port_that_cannot_be_bound(self):
        net, _ = self.own_network('life')
        port = self.admin.network.create_port(
            network_id=net.id, name='fault.unbound')
        self.addCleanup(self.admin.network.delete_port, port)
        port = self.admin.network.update_port(
            port, binding_host_id='sandbox')
        self.assertEqual('binding_failed', port.binding_vif_type)

    def test_a_load_balancer_with_a_member(self):
        net, subnet = self.own_network('life')
        lbs = self.cloud.load_balancer
        lb = lbs.create_load_balancer(
            name='life', vip_subnet_id=subnet.id, provider='amphora')

        def settled():
            return lbs.wait_for_load_balancer(lb.id, wait=30, interval=0.2)

        self.assertEqual('ONLINE', settled().operating_status)
        address = self.cloud.network.create_ip(
            floating_network_id=self.public.id, port_id=lb.vip_port_id)
        self.assertIn(
            ipaddress.ip_address(address.floating_ip_address),
            ipaddress.ip_network(self.box.sandbox.layout().external_network))
        self.assertEqual('ACTIVE', self.cloud.network.get_ip(address).status)
        listener = lbs.create_listener(
            protocol='TCP', protocol_port=6443, load_balancer_id=lb.id)
        settled()
        pool = lbs.create_pool(protocol='TCP', lb_algorithm='ROUND_ROBIN',
                               listener_id=listener.id)
        settled()
        member = lbs.create_member(pool, address='10.6.0.12',
                                   protocol_port=6443, subnet_id=subnet.id)
        settled()
        self.assertEqual('NO_MONITOR',
                         lbs.get_member(member, pool).operating_status)
        self.cloud.network.update_ip(address, port_id=None)
        self.assertEqual('DOWN', self.cloud.network.get_ip(address).status)
        self.cloud.network.delete_ip(address)
        lbs.delete_load_balancer(lb.id, cascade=True)
        clouds.wait('the cloud', lambda: not [*lbs.load_balancers()])
        self.assertEqual([], [*lbs.pools(), *lbs.listeners()])
        self.assertEqual([], [*self.admin.network.ports(
            device_owner='Octavia')])
