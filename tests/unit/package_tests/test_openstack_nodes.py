# SPDX-License-Identifier: Apache-2.0

"""What others have in the project is none of a cluster's."""

import types
import unittest.mock

import fixtures
import testtools

from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.leaks import model
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


class StrangersTest(testtools.TestCase):
    """Others create and delete things in the project meanwhile."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            f'{test_openstack_nodes.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=types.SimpleNamespace(
                    build_timeout=0.1, build_interval=0.01))))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.management.remediation.CONF',
            types.SimpleNamespace(magnum_capi=types.SimpleNamespace(
                build_interval=0.01))))
        self.ours = set()
        self.looks = 0
        self.inside = unittest.mock.Mock()
        self.inside.create_service.side_effect = self.create_balancer
        self.inside.delete_service.side_effect = lambda name: (
            self.ours.clear())
        self.inside.create_claim.side_effect = self.create_volume
        self.inside.delete_claim.side_effect = lambda name: self.ours.clear()

    def create_balancer(self, name):
        # pkg/openstack/loadbalancer.go of cloud-provider-openstack,
        # GetLoadBalancerName.
        self.ours.add(model.Thing(
            model.BALANCER, 'b', f'kube_service_c_default_{name}'))

    def create_volume(self, name):
        # The name that csi-provisioner gives a volume.
        self.ours.add(model.Thing(model.VOLUME, 'v', 'pvc-0f8f-uid'))
        return '0f8f-uid'

    def things(self, kind):
        self.looks += 1
        return frozenset((*self.ours, *(
            model.Thing(kind, f'{self.looks}-{number}', 'of somebody else')
            for number in range(self.looks))))

    def run_test(self, name):
        test = test_openstack_nodes.OpenStackNodesTest(name)
        test.inside, test.things = self.inside, self.things
        test.require_listed = self.things
        getattr(test, name)()

    def test_a_load_balancer(self):
        self.run_test('test_a_load_balancer_comes_and_goes')

        self.assertEqual(set(), self.ours)

    def test_a_load_balancer_that_stays(self):
        self.run_test('test_a_load_balancer_goes_with_its_cluster')

        self.assertEqual(1, len(self.ours))

    def test_a_volume(self):
        self.run_test('test_a_volume_comes_and_goes')

        self.assertEqual(set(), self.ours)
