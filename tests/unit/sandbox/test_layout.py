# SPDX-License-Identifier: Apache-2.0

import ipaddress
import itertools
import pathlib

import testtools

from magnum_capi_sandbox import catalog
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

    def test_every_port_hangs_on_the_base(self):
        moved = layouts.Layout(pathlib.Path('/box'), '127.80', 31000)
        for service in layouts.PORTS:
            self.assertEqual(1000, moved.port(service)
                             - self.layout.port(service))

    def test_endpoints(self):
        self.assertEqual(
            {'identity': 'http://127.80.0.1:30000/v3',
             'image': 'http://127.80.0.1:30292',
             'compute': 'http://127.80.0.1:30774/v2.1',
             'network': 'http://127.80.0.1:30696',
             'block-storage': 'http://127.80.0.1:30776/v3',
             'container-infra': 'http://127.80.0.1:30511/v1'},
            {service.type_: self.layout.url(service.type_)
             for service in catalog.services()})

    def test_endpoints_for_pods_have_the_address_of_a_gateway(self):
        here = layouts.Layout(pathlib.Path('/box'), '127.78', 30000)
        self.assertEqual('http://198.18.8.1:30774/v2.1',
                         here.public_url('compute'))

    def test_the_management_cluster_shares_the_network(self):
        management = self.layout.management
        self.assertEqual(
            ('127.80.0.1', '127.80.0.0/16', 30000),
            (management.address, management.workload_network,
             management.port_base))

    def test_external_networks_do_not_meet(self):
        reserved = ipaddress.ip_network('198.18.0.0/15')
        all_ = [ipaddress.ip_network(layouts.Layout(
            pathlib.Path('/box'), f'127.{number}').external_network)
            for number in network.NUMBERS]
        for one in all_:
            self.assertTrue(one.subnet_of(reserved), one)
        for one, other in itertools.combinations(all_, 2):
            self.assertFalse(one.overlaps(other), (one, other))

    def test_one_kubeconfig(self):
        self.assertEqual(
            self.layout.management.kubeconfig, self.layout.kubeconfig)

    def test_every_file_is_in_the_folder(self):
        for path in (self.layout.etc, self.layout.databases,
                     self.layout.log, self.layout.kubeconfig):
            self.assertTrue(path.is_relative_to('/box'), path)
