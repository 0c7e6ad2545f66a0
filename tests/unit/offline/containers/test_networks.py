# SPDX-License-Identifier: Apache-2.0

import itertools

import testtools

from magnum_capi import errors
from tools.offline.containers import networks


class ChooseTest(testtools.TestCase):

    def test_default_route_and_ipv6_do_not_count(self):
        found = networks.choose(['0.0.0.0/0', 'fd00::/8'])
        self.assertEqual('10.213.0.0/16', str(found.whole))

    def test_routes_and_single_addresses_count(self):
        found = networks.choose(['10.213.4.0/24', '10.214.0.1'])
        self.assertEqual('10.215.0.0/16', str(found.whole))

    def test_none_is_free(self):
        e = self.assertRaises(
            errors.EnvironmentProblem, networks.choose, ['10.0.0.0/8'])
        self.assertIn('10.0.0.0/8', str(e))


class PlanTest(testtools.TestCase):

    def test_parts_do_not_overlap(self):
        network = networks.parse('10.213.0.0/16')
        parts = [network.kind, network.minikube, network.pool, network.link]
        for one, other in itertools.combinations(parts, 2):
            self.assertFalse(one.overlaps(other), (one, other))
        for part in parts:
            self.assertTrue(part.subnet_of(network.whole))


class TakenTest(testtools.TestCase):

    def test_of_what_ip_prints(self):
        routes = [
            {'dst': 'default', 'gateway': '192.0.2.1'},
            {'dst': '192.0.2.0/24', 'dev': 'eth0'},
            {'type': 'local', 'dst': '10.220.0.1', 'table': 'local'},
            {'type': 'broadcast', 'dst': '192.0.2.255'}]
        addresses = [
            {'ifname': 'lo', 'addr_info': [
                {'local': '127.0.0.1', 'prefixlen': 8}]},
            {'ifname': 'ifb0'}, {}]
        self.assertEqual(
            ['192.0.2.0/24', '10.220.0.1', '127.0.0.1/8'],
            networks.taken(routes, addresses))
