# SPDX-License-Identifier: Apache-2.0

"""Ports of other servers are none of a cluster's nodes."""

import types

import testtools

from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.scenario import test_openstack_nodes


class PortsTest(testtools.TestCase):

    def run_against(self, *devices, servers=('s1', 's2')):
        """Run the test in a project whose ports have these device_ids."""
        test = test_openstack_nodes.OpenStackNodesTest('test_nodes_have_ports')
        test.cluster = {'uuid': 'c'}
        test.assert_usable = lambda *args: None
        test.look_at_nodes = lambda cluster: access.NodesLook(tuple(
            workload.Node(f'n-{server}', True, 'v1', server=server)
            for server in servers))
        test.os_primary = types.SimpleNamespace(
            ports_client=types.SimpleNamespace(list_ports=lambda device_id: {
                'ports': [{'device_id': one} for one in devices
                          if one == device_id]}))
        test.test_nodes_have_ports()

    def test_every_server_has_one(self):
        self.run_against('s1', 's2', 's2', 'of somebody else')

    def test_ports_of_other_servers(self):
        error = self.assertRaises(
            AssertionError, self.run_against, 's1', 'other', 'another')

        self.assertIn('n-s2', str(error))

    def test_nodes_that_are_no_servers(self):
        error = self.assertRaises(
            AssertionError, self.run_against, 's1', 'other', 'another',
            servers=('s1', ''))

        self.assertIn('n-', str(error))
