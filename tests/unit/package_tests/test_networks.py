# SPDX-License-Identifier: Apache-2.0

import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common import networks
from magnum_capi_tempest.tests.scenario import test_networks

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
        self.networks_client = self.subnets_client = self
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

    def list_networks(self, **wanted):
        return {'networks': [PUBLIC]}

    def create_network(self, name):
        return {'network': {'id': 'n', 'name': name, 'tenant_id': id(self)}}

    def create_subnet(self, network_id, **subnet):
        self.done.append(('subnet', network_id))
        return {'subnet': {'id': 's', **subnet}}

    def delete_network(self, network):
        self.done.append(('no network', network))

    def delete_subnet(self, subnet):
        self.done.append(('no subnet', subnet))


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

    def test_a_cluster_on_the_network_of_its_name_can_be_reached(self):
        self.useFixture(fixtures.MonkeyPatch(
            f'{test_networks.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=types.SimpleNamespace(
                    external_network='public', dns_nameserver=''))))
        neutron = Neutron('router')
        test = test_networks.NamesTest('test_own_network_is_meant')
        case = type(test)
        for name, value in (
                ('os_primary', neutron), ('os_admin', Neutron()),
                ('rand_name', staticmethod(lambda kind: kind)),
                ('addClassResourceCleanup', self.addCleanup)):
            self.useFixture(fixtures.MonkeyPatch(
                f'{case.__module__}.{case.__name__}.{name}', value))
        neutron.credentials = types.SimpleNamespace(project_id='p')
        test.create_template = lambda **changes: changes
        asked = []
        test.create_cluster = lambda template: (
            asked.append((template, list(neutron.done)))
            or {'status': 'CREATE_COMPLETE'})

        test.test_own_network_is_meant()

        (template, done), = asked
        self.assertEqual({'fixed_network': 'network'}, template)
        self.assertEqual([('subnet', 'n'), ('router', '1'),
                          ('interface', 'r', 's')], done)
        # A DHCP agent creates its port when it likes, and the port stays as
        # long as the network: the test that created it deletes it.
        self.assertNotIn(('no network', 'n'), neutron.done)
        test.doCleanups()
        self.assertEqual(('no network', 'n'), neutron.done[-1])


class MeansTest(testtools.TestCase):

    def test_what_means_it(self):
        for parameter in ({'id': '1'}, {'filter': {'name': 'public'}},
                          {'filter': {'id': '1'}}, {'name': 'public'}):
            self.assertTrue(networks.refers_to(parameter, PUBLIC), parameter)

    def test_what_does_not(self):
        for parameter in (None, {}, {'id': '2'}, {'filter': {}},
                          {'filter': {'tags': 'public'}}):
            self.assertFalse(networks.refers_to(parameter, PUBLIC), parameter)
