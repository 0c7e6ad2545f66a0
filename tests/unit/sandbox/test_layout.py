# SPDX-License-Identifier: Apache-2.0

import ipaddress
import itertools
import pathlib

import testtools

from magnum_capi_sandbox import layout as layouts
from magnum_capi_tempest.management import network


class LayoutTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = layouts.Layout(pathlib.Path('/box'), '127.80', 30000)

    def test_no_port_is_given_twice(self):
        ports = [*map(self.layout.port, layouts.PORTS),
                 *self.layout.management.ports.values()]
        self.assertEqual(sorted(set(ports)), sorted(ports))

    def test_endpoints_for_pods_have_the_address_of_a_gateway(self):
        here = layouts.Layout(pathlib.Path('/box'), '127.78', 30000)
        self.assertEqual('http://198.18.8.1:30774/v2.1',
                         here.public_url('compute'))

    def test_endpoints_with_tls(self):
        here = layouts.Layout(pathlib.Path('/box'), '127.78', 30000, True)
        self.assertEqual('https://127.78.0.1:30000/v3', here.auth_url)
        self.assertEqual(pathlib.Path('/box/tls/ca.crt'), here.authority)
        self.assertIsNone(self.layout.authority)
        self.assertEqual('http://127.80.0.1:30000/v3', self.layout.auth_url)

    def test_external_networks_do_not_meet(self):
        reserved = ipaddress.ip_network('198.18.0.0/15')
        all_ = [ipaddress.ip_network(layouts.Layout(
            pathlib.Path('/box'), f'127.{number}').external_network)
            for number in network.NUMBERS]
        for one in all_:
            self.assertTrue(one.subnet_of(reserved), one)
        for one, other in itertools.combinations(all_, 2):
            self.assertFalse(one.overlaps(other), (one, other))
