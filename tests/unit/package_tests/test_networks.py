# SPDX-License-Identifier: Apache-2.0

import types

import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common import networks

PUBLIC = {'id': '1', 'name': 'public'}


def client(*found):
    def list_networks(**wanted):
        assert wanted == {'router:external': True}
        return {'networks': list(found)}

    return types.SimpleNamespace(list_networks=list_networks)


class ExternalTest(testtools.TestCase):

    def test_by_id_and_by_name(self):
        for name in PUBLIC.values():
            self.assertEqual(PUBLIC, networks.external(
                client({'id': '2', 'name': 'other'}, PUBLIC), name))

    def test_none_and_two(self):
        for found in ((), (PUBLIC, {'id': '2', 'name': 'public'})):
            error = self.assertRaises(
                errors.EnvironmentProblem, networks.external, client(*found),
                'public')
            self.assertIn(f'There are {len(found)} external', str(error))


class Neutron:
    """Writes down what it is asked for; all of its clients in one."""

    def __init__(self, *extensions):
        self.network_extensions_client = self.routers_client = self
        self.extensions = extensions
        self.done = []

    def list_extensions(self):
        return {'extensions': [{'alias': one} for one in self.extensions]}

    def create_router(self, name, external_gateway_info):
        self.done.append(('router', external_gateway_info['network_id']))
        return {'router': {'id': 'r'}}

    def add_router_interface(self, router, subnet_id):
        self.done.append(('interface', router, subnet_id))

    def remove_router_interface(self, router, subnet_id):
        self.done.append(('no interface', router, subnet_id))

    def delete_router(self, router):
        self.done.append(('no router', router))


class ConnectTest(testtools.TestCase):

    def connect(self, *extensions):
        neutron = Neutron(*extensions)
        networks.connect(neutron, self.addCleanup, 's', '1', 'n')
        return neutron

    def test_a_router_that_goes_again(self):
        neutron = self.connect('quotas', 'router')

        self.doCleanups()

        self.assertEqual(
            [('router', '1'), ('interface', 'r', 's'),
             ('no interface', 'r', 's'), ('no router', 'r')], neutron.done)

    def test_a_cloud_without_routers(self):
        self.assertEqual([], self.connect('quotas').done)


class MeansTest(testtools.TestCase):

    def test_what_means_it(self):
        for parameter in ({'id': '1'}, {'filter': {'name': 'public'}},
                          {'filter': {'id': '1'}}, {'name': 'public'}):
            self.assertTrue(networks.refers_to(parameter, PUBLIC), parameter)

    def test_what_does_not(self):
        for parameter in (None, {}, {'id': '2'}, {'filter': {}},
                          {'filter': {'tags': 'public'}},
                          {'id': '2', 'name': 'public'},
                          {'id': '2', 'filter': {'name': 'public'}},
                          {'filter': {'id': '2', 'name': 'public'}}):
            self.assertFalse(networks.refers_to(parameter, PUBLIC), parameter)
