# SPDX-License-Identifier: Apache-2.0

import pathlib

import testtools

from magnum_capi import errors
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import local
from magnum_capi_tempest.management import programs


class LayoutTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = layout.Layout(
            pathlib.Path('/run/x'), '127.80.0.1', 30000, '127.80.0.0/16')

    def test_ports_are_unique(self):
        ports = self.layout.ports.values()
        self.assertEqual(len(ports), len(set(ports)))

    def test_ports_hang_on_the_base(self):
        self.assertEqual(30443, self.layout.port('kube-apiserver'))
        self.assertEqual('https://127.80.0.1:30443',
                         self.layout.url('kube-apiserver'))

    def test_all_files_are_in_the_folder(self):
        for path in (self.layout.kubeconfig, self.layout.pki,
                     self.layout.etcd, self.layout.behaviours):
            self.assertEqual(self.layout.directory, path.parent)


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
             for name in local.tools(openstack=True)},
            lock=pathlib.Path('/cache/127.80.lock'), **kwargs)

    def test_starting_order(self):
        self.assertEqual([*programs.NAMES, 'capo'], list(self.programs))

    def test_no_openstack_provider_without_a_cloud(self):
        wanted = self.processes().programs()
        self.assertEqual(list(programs.NAMES), [p.name for p in wanted])
        self.assertNotIn('--machine-socket', ' '.join(wanted[-1].argv))

    def test_machines_of_a_cloud(self):
        argv = self.programs['capi'].argv
        self.assertIn('--machine-socket=/run/x/machines.sock', argv)
        self.assertIn('--endpoint-network=198.18.0.0/16', argv)

    def test_the_openstack_provider_is_wanted_with_a_cloud(self):
        error = self.assertRaises(
            errors.UsageError, local.Processes, self.plane.layout,
            dict.fromkeys(local.TOOLS, ''), endpoint_network='198.18.0.0/16')
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

    def test_every_port_is_given_to_one_program(self):
        for port in self.plane.layout.ports.values():
            users = [name for name, p in self.programs.items()
                     if any(f':{port}' in a and 'listen' in a
                            or a.startswith(('--secure-port', '--webhook-p',
                                             '--health-addr'))
                            and a.endswith(str(port)) for a in p.argv)]
            self.assertEqual(1, len(users), f'{port}: {users}')

    def test_nothing_listens_elsewhere(self):
        for p in self.programs.values():
            for argument in p.argv:
                self.assertNotIn('0.0.0.0:', argument)
                self.assertNotIn('=0.0.0.0', argument)
        for name in ('kube-apiserver', 'kube-controller-manager', 'capi',
                     'capo'):
            self.assertIn('--bind-address=127.80.0.1',
                          self.programs[name].argv)

    def test_etcd_holds_the_network(self):
        argv = self.programs['etcd'].argv
        self.assertIn('/cache/127.80.lock', argv)
        self.assertIn('--shared', argv)
        self.assertLess(argv.index('/cache/127.80.lock'),
                        argv.index('/bin/etcd'))

    def test_memory_grows_with_the_machine(self):
        self.assertEqual([1500, 1500, 6000], [
            programs.memory_limit(mib) for mib in (2000, 6000, 24000)])
        self.assertGreater(programs.physical_memory(), 500)

    def test_gates(self):
        gates, = (a for a in self.programs['capi'].argv
                  if a.startswith('--feature-gates='))
        self.assertIn('ClusterTopology=true', gates)
        self.assertIn('ReconcilerRateLimiting=false', gates)

    def test_rate_limiting(self):
        program = programs.capi(self.plane.layout, 'capi', None, True)
        gates, = (a for a in program.argv
                  if a.startswith('--feature-gates='))
        self.assertIn('ReconcilerRateLimiting=true', gates)
        self.assertNotIn('ReconcilerRateLimiting=false', gates)

    def test_all_arguments_are_text(self):
        for p in self.programs.values():
            for argument in p.argv:
                self.assertIsInstance(argument, str)
