# SPDX-License-Identifier: Apache-2.0

"""The management cluster with its real programs."""

import contextlib
import os
import pathlib
import signal
import socket

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import listeners
from magnum_capi_tempest.management import manifests
from magnum_capi_tempest.management import network
from magnum_capi_tempest.management import requirements
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from magnum_capi_tempest import toolchain
from tests.functional import workload

#: Not the default one, as a developer's own cluster may run meanwhile.
PORT_BASE = 26000


class _Base(testtools.TestCase):

    def folder(self):
        return pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path) / 'cluster'

    def up(self, directory, progress=progress.Silent()):
        return standalone.up(directory, progress, port_base=PORT_BASE)


class RunningTest(_Base):
    """One management cluster for all tests of the class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls._temporary = fixtures.TempDir(rootdir='/tmp')
        cls._temporary.setUp()
        cls.addClassCleanup(cls._temporary.cleanUp)
        cls.directory = pathlib.Path(cls._temporary.path) / 'cluster'
        cls.addClassCleanup(standalone.down, cls.directory)
        cls.plane = standalone.up(
            cls.directory, progress.Silent(), port_base=PORT_BASE)
        cls.supervisor = supervision.Supervisor(
            cls.directory / 'supervisor')

    def setUp(self):
        super().setUp()
        self.api = kube.Client(self.plane.kubeconfig)
        self.addOnException(self._attach_logs)

    def _attach_logs(self, exc_info):
        for name in ('kube-apiserver', 'capi'):
            self.addDetail(f'{name}.log', testtools.content.text_content(
                supervision.tail(self.supervisor.log(name), 30)))

    def pids(self):
        return {s.name: s.pid for s in self.supervisor.status()}

    def test_second_up_changes_nothing(self):
        before = self.pids()
        again = self.up(self.directory)
        self.assertEqual(before, self.pids())
        self.assertEqual(self.plane.kubeconfig, again.kubeconfig)

    def test_all_programs_are_ready(self):
        found = {s.name: ready
                 for s, ready in standalone.status(self.directory)}
        self.assertEqual(
            {'etcd': True, 'kube-apiserver': True, 'capi': True,
             'supervisord': True}, found)

    def test_check_finds_nothing_missing(self):
        self.assertEqual(
            [], requirements.missing(requirements.served(self.api)))

    def test_others_of_this_machine_are_refused(self):
        layout = self.plane.layout
        stranger = kube.Endpoint(layout.url('kube-apiserver'),
                                 layout.pki / 'ca.crt')
        e = self.assertRaises(kube.KubeError, stranger.ask, 'GET',
                              '/version')
        self.assertEqual(401, e.status)
        etcd = kube.Endpoint(layout.url('etcd'), layout.pki / 'ca.crt')
        self.assertRaises(kube.KubeError, etcd.ask, 'GET', '/version')

    def test_files_are_private(self):
        self.assertEqual(0, self.directory.stat().st_mode & 0o077)
        for folder in (self.directory, self.plane.layout.pki):
            for path in folder.iterdir():
                if path.is_file():
                    self.assertEqual(0, path.stat().st_mode & 0o077, path)

    def test_life_of_a_cluster(self):
        workload.create(self.api, 'life')
        self.addCleanup(workload.delete, self.api, 'life')
        workload.wait_available(self.api, 'life')

        nodes = workload.nodes(self.api, 'life')
        self.assertEqual({'v1.34.2'}, set(nodes.values()))
        self.assertEqual(2, len(nodes))
        for version in requirements.BOTH:
            with self.subTest(version):
                read = workload.get(self.api, 'life', version)
                self.assertEqual(f'cluster.x-k8s.io/{version}',
                                 read['apiVersion'])
        self.assert_only_this_machine_can_connect()

        workload.delete(self.api, 'life')
        self.assertEqual([], workload.left_over(self.api))

    def assert_only_this_machine_can_connect(self):
        pids = runmarks.marked(self.supervisor.directory)
        found = listeners.of_processes(pids)
        # The servers of the management cluster, and the workload API server.
        ports = {(f.address, f.port) for f in found}
        self.assertThat(len(ports), testtools.matchers.GreaterThan(
            sum(len(p.listens) for p in self.plane.programs())))
        self.assertEqual([], [f for f in found if not f.loopback])

    def test_rejects_what_a_webhook_rejects(self):
        e = self.assertRaises(
            kube.KubeError, workload.create, self.api, 'bad',
            version='latest')
        self.addCleanup(workload.delete, self.api, 'bad')
        self.assertIn('version', str(e))

    def change(self, kind, change, dry_run=False):
        """Change the object of a kind; returns the refusal or None."""
        path = workload.path(
            'infrastructure.cluster.x-k8s.io/v1beta1', kind, 'fixed')
        found = self.api.get(path)
        change(found)
        try:
            self.api.ask('PUT', path + '?dryRun=All' * dry_run, found)
        except kube.KubeError as e:
            self.assertEqual(422, e.status)
            return str(e)
        return None

    def test_rejects_what_the_openstack_provider_rejects(self):
        for o in workload.objects('fixed'):
            if o['kind'] in ('OpenStackCluster', 'OpenStackMachineTemplate'):
                o['spec'].update({'managedSubnets': [
                    {'cidr': '10.1.0.0/16', 'dnsNameservers': ['192.0.2.1']}],
                    'apiServerPort': 6443,
                } if o['kind'] == 'OpenStackCluster' else {})
                path = workload.path(o['apiVersion'], o['kind'])
                self.api.ask('POST', path, o)
                self.addCleanup(self.api.ask, 'DELETE', f'{path}/fixed')
        template, cluster = 'OpenStackMachineTemplate', 'OpenStackCluster'

        def flavor(o):
            o['spec']['template']['spec']['flavor'] = 'm1.other'

        def topology(o):
            o['metadata']['annotations'] = {
                'topology.cluster.x-k8s.io/dry-run': ''}
            flavor(o)

        waiting.wait_for(
            lambda: self.change(template, flavor), timeout=30,
            done=lambda refusal: refusal and 'is immutable' in refusal,
            what='the refusal of another flavor')
        self.assertIsNone(self.change(template, topology, dry_run=True))
        self.assertIn('immutable', self.change(template, topology))
        self.assertIsNone(self.change(
            template, lambda o: o['metadata'].update(labels={'a': 'b'})))
        for field, value in (
                ('managedSubnets', [{'cidr': '10.2.0.0/16'}]),
                ('managedSubnets', []), ('tags', ['a']),
                ('network', {'id': '3a7c8f9e-6a59-4f2d-8d21-3c5f0f7b9f10'}),
                ('apiServerPort', 7443), ('disableAPIServerFloatingIP', True),
                ('apiServerLoadBalancer', {'enabled': True})):
            self.assertIn('cannot be modified', self.change(
                cluster, lambda o: o['spec'].update({field: value})))
        for field, value in (
                ('managedSubnets', [{'cidr': '10.1.0.0/16'}]),
                ('managedSecurityGroups', {}),
                ('controlPlaneEndpoint', {'host': '127.0.0.1', 'port': 1})):
            self.assertIsNone(self.change(
                cluster, lambda o: o['spec'].update({field: value})), field)
        self.assertIn('cannot be modified', self.change(
            cluster, lambda o: o['spec']['controlPlaneEndpoint'].update(
                port=2)))

    def test_api_server_is_killed_and_restarted_during_a_resize(self):
        workload.create(self.api, 'resized')
        self.addCleanup(workload.delete, self.api, 'resized')
        workload.wait_available(self.api, 'resized')
        workload.resize(self.api, 'resized', 3)
        self.supervisor.signal('kube-apiserver', 'KILL')
        waiting.wait_for(
            lambda: {s.name: s.state for s in self.supervisor.status()},
            done=lambda states: states['kube-apiserver'] != 'RUNNING',
            timeout=120, what='kube-apiserver to be gone')
        self.up(self.directory)

        def count():
            # Its API server comes back a moment after the controllers.
            try:
                return len(workload.nodes(self.api, 'resized'))
            except kube.KubeError as e:
                return str(e)

        waiting.wait_for(count, done=lambda n: n == 4, timeout=600,
                         what='4 nodes')


class UpDownTest(_Base):

    def assert_nothing_left(self, directory):
        self.assertEqual(
            [], runmarks.marked(directory / 'supervisor'))
        self.assertFalse(directory.exists())

    def test_down_leaves_nothing(self):
        directory = self.folder()
        self.addCleanup(standalone.down, directory)
        plane = self.up(directory)
        address, ports = plane.layout.address, plane.layout.ports.values()
        standalone.down(directory)
        self.assert_nothing_left(directory)
        network.require_free(address, ports)
        standalone.down(directory)

    def test_down_after_supervisord_was_killed(self):
        directory = self.folder()
        self.addCleanup(standalone.down, directory)
        self.up(directory)
        pids = {s.name: s.pid for s, _ in standalone.status(directory)}
        os.kill(pids['supervisord'], signal.SIGKILL)
        standalone.down(directory)
        self.assert_nothing_left(directory)

    def test_interrupted_up_leaves_nothing(self):
        class Interrupt(progress.Silent):
            @contextlib.contextmanager
            def step(self, what):
                if what == 'Custom resource definitions':
                    raise KeyboardInterrupt
                yield print

        directory = self.folder()
        self.addCleanup(standalone.down, directory)
        self.assertRaises(KeyboardInterrupt, self.up, directory, Interrupt())
        self.assert_nothing_left(directory)

    def test_busy_port_is_one_clear_line(self):
        directory = self.folder()
        with socket.socket() as s:
            # Connections of an earlier test may be in TIME_WAIT.
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(('0.0.0.0', PORT_BASE + 443))
            s.listen()
            e = self.assertRaises(
                errors.EnvironmentProblem, self.up, directory)
        self.assertIn(f'Port {PORT_BASE + 443} is taken', str(e))
        self.assertIn(f'(pid {os.getpid()})', str(e))
        self.assertNotIn('\n', str(e))
        self.assert_nothing_left(directory)


class ManifestsTest(_Base):

    def test_broken_cache_file_is_rendered_again(self):
        capi = toolchain.ensure(['capi'], progress.Silent())['capi']
        directory = self.folder()
        arguments = (capi, progress.Silent(), directory)
        first = manifests.load(*arguments)
        cached, = directory.iterdir()
        cached.write_bytes(cached.read_bytes()[:-100])
        self.assertEqual(first, manifests.load(*arguments))
        self.useFixture(fixtures.MockPatchObject(manifests, 'render', None))
        self.assertEqual(first, manifests.load(*arguments))
