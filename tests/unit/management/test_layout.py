# SPDX-License-Identifier: Apache-2.0

import pathlib

import testtools

from magnum_capi import errors
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import local
from magnum_capi_tempest.management import programs


class ProgramsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.plane = self.processes(endpoint_network='198.18.0.0/16')
        self.programs = {p.name: p for p in self.plane.programs()}

    def processes(self, **kwargs):
        return local.Processes(
            layout.Layout(pathlib.Path('/run/x'), '127.80.0.1', 30000,
                          '127.80.0.0/16'),
            {name: pathlib.Path('/bin') / name
             for name in local.tools(openstack=True)}, **kwargs)

    def test_no_openstack_provider_without_a_cloud(self):
        wanted = self.processes().programs()
        self.assertEqual(list(programs.NAMES), [p.name for p in wanted])
        self.assertNotIn('--machine-socket', ' '.join(wanted[-1].argv))

    def test_the_openstack_provider_is_wanted_with_a_cloud(self):
        error = self.assertRaises(
            errors.UsageError, local.Processes, self.plane.layout,
            dict.fromkeys(local.tools(), ''), endpoint_network='198.18.0.0/16')
        self.assertIn('capo', str(error))

    def test_each_waits_for_all_its_ports(self):
        self.assertEqual(
            sorted(('127.80.0.1', port)
                   for port in self.plane.layout.ports.values()),
            sorted(place for p in self.programs.values()
                   for place in p.listens))
        for p in self.programs.values():
            for _, port in p.listens:
                self.assertIn(str(port), ' '.join(p.argv))

    def test_nothing_listens_elsewhere(self):
        for p in self.programs.values():
            for argument in p.argv:
                self.assertNotIn('0.0.0.0:', argument)
                self.assertNotIn('=0.0.0.0', argument)
        for name in ('kube-apiserver', 'capi',
                     'capo'):
            self.assertIn('--bind-address=127.80.0.1',
                          self.programs[name].argv)

    def test_memory_grows_with_the_machine(self):
        self.assertEqual([1500, 1500, 6000], [
            programs.memory_limit(mib) for mib in (2000, 6000, 24000)])
        self.assertGreater(programs.physical_memory(), 500)
