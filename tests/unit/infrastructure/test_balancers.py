# SPDX-License-Identifier: Apache-2.0

"""The provider driver, without Octavia."""

import types
from unittest import mock

import testtools

from tests.unit.infrastructure import drivers

OCTAVIA = ('octavia', 'octavia.api', 'octavia.api.drivers',
           'octavia.api.drivers.driver_agent', 'octavia.common', 'octavia.db',
           'octavia_lib', 'octavia_lib.api', 'octavia_lib.api.drivers',
           'oslo_config', 'oslo_log')


class UnsupportedOptionError(Exception):

    def __init__(self, user_fault_string, operator_fault_string):
        super().__init__(user_fault_string)


def balancers():
    """The module with a stand-in for each package that it imports."""
    stubs = drivers.stand_ins(*OCTAVIA)
    interface = stubs['octavia_lib.api.drivers']
    interface.provider_base.ProviderDriver = object
    interface.exceptions.UnsupportedOptionError = UnsupportedOptionError
    return drivers.load_with('balancers', stubs)


class ProviderTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.module = balancers()

    def provider(self, name):
        self.settler = mock.Mock()
        with mock.patch.object(self.module, '_settler',
                               return_value=self.settler):
            driver = self.module.ProviderDriver()
        driver.name = name
        return driver

    def test_refuses_what_its_provider_would(self):
        ovn = self.provider('ovn')
        pool = types.SimpleNamespace(lb_algorithm='ROUND_ROBIN')
        listener = types.SimpleNamespace(protocol='HTTP')
        for method, *parts in (
                (ovn.pool_create, pool), (ovn.pool_update, 'old', pool),
                (ovn.listener_create, listener),
                (ovn.loadbalancer_create,
                 types.SimpleNamespace(pools=[pool])),
                (ovn.loadbalancer_create,
                 types.SimpleNamespace(listeners=[listener]))):
            self.assertRaises(UnsupportedOptionError, method, *parts)
        for method in ('l7policy_create', 'l7rule_update',
                       'loadbalancer_failover'):
            self.assertRaises(NotImplementedError, getattr(ovn, method), 'x')
        self.settler.call.assert_not_called()
        ovn.pool_delete(pool)
        self.settler.call.assert_called_once_with()


class SettlerTest(testtools.TestCase):

    def test_an_error_of_the_database_does_not_stay(self):
        # given an updater that an error has left in a transaction
        module = balancers()
        module.CONF.sandbox.machines = ''
        module.pending = lambda: {'members': [{'id': 'm'}]}
        broken, whole = mock.Mock(), mock.Mock()
        for updater, code in ((broken, 500), (whole, 200)):
            updater.update_loadbalancer_status.return_value = {
                module.constants.STATUS_CODE: code}
        module.driver_updater.DriverUpdater.side_effect = [broken, whole]
        settler = module._Settler()
        # when it settles again
        settler._settle()
        settler._settle()
        # then with another one
        broken.update_loadbalancer_status.assert_called_once()
        whole.update_loadbalancer_status.assert_called_once()
