# SPDX-License-Identifier: Apache-2.0

"""The compute driver, without Nova."""

import types
from unittest import mock

import testtools

from tests.unit.infrastructure import drivers

NOVA = ('nova', 'nova.api', 'nova.api.metadata', 'nova.compute', 'nova.conf',
        'nova.objects', 'nova.virt', 'os_resource_classes', 'oslo_config',
        'oslo_log')


class ComputeDriver:

    capabilities = types.MappingProxyType({})

    def __init__(self, virtapi):
        pass


def compute():
    stubs = drivers.stand_ins(*NOVA)
    stubs['nova.virt'].driver.ComputeDriver = ComputeDriver
    return drivers.load_with('compute', stubs)


class ConsoleTest(testtools.TestCase):

    def test_any_character(self):
        """Nova encodes a string as Latin-1, which lacks most characters."""
        module = compute()
        driver = module.MachineDriver(None)
        driver._machines = mock.Mock()
        driver._machines.console.return_value = 'Starting Create list of\u2026'
        found = driver.get_console_output(None, mock.Mock())
        self.assertEqual(b'Starting Create list of\xe2\x80\xa6', found)
