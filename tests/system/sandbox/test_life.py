# SPDX-License-Identifier: Apache-2.0

"""A sandbox of the embedded profile: its features and repairs."""

import contextlib
import json

import psutil
from testtools import content
from testtools import matchers

from magnum_capi import processes
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import services
from magnum_capi_tempest import listeners
from tests.functional import boxes
from tests.unit import loopback

SERVICES = tuple(service.name for service in catalog.services())

#: The goal of the project is 2 GiB; the rest is for other kernels.
MOST_MEMORY = 2.3 * 2**30


def udp_sockets(pids):
    """Local addresses of the UDP sockets of these processes."""
    pids = set(pids)
    return [found.laddr for found in psutil.net_connections('udp')
            if found.pid in pids]


class RunningTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one = boxes.shared(cls)

    def openstack(self, *arguments):
        """Run the OpenStack client in a shell with the sandbox's env."""
        ended = self.one.call('env')
        self.assert_done(ended)
        return processes.run(
            ['bash', '-euc', 'eval "$1"; shift; "$SANDBOX_OPENSTACK" "$@"',
             'bash', ended.out, *arguments], env=self.one.env, timeout=600)

    def listed(self, *arguments):
        """The rows of a "list": dicts by column."""
        return json.loads(self.openstack(
            *arguments, 'list', '--format', 'json'))

    def test_every_program_runs(self):
        ended = self.one.call('status', '-f', 'json')
        self.assert_done(ended)
        rows = {row.pop('Program'): row for row in json.loads(ended.out)}
        total = rows.pop('total')
        self.assertEqual(
            {*SERVICES, 'etcd', 'kube-apiserver',
             'capi', 'supervisord'}, set(rows))
        self.assertEqual({'RUNNING'}, {r['State'] for r in rows.values()})
        self.assertThat(total['Memory MiB'] * 2**20,
                        matchers.LessThan(MOST_MEMORY))

    def test_second_up_changes_nothing(self):
        before = self.one.pids()
        self.assert_done(self.one.up())
        self.assertEqual(before, self.one.pids())

    def test_env_selects_the_sandbox_in_a_shell(self):
        self.assertEqual({s.type_ for s in catalog.services()}, {
            row['Type'] for row in self.listed('catalog')})

    def test_magnum_answers_the_user(self):
        self.assertEqual([], self.listed('coe', 'cluster', 'template'))

    def test_logs(self):
        ended = self.one.call('logs', '--lines', '1', 'magnum', 'etcd')
        self.assert_done(ended)
        self.assertEqual({'magnum', 'etcd'}, {
            line.split(' | ')[0].strip() for line in ended.out.splitlines()})

    def test_nothing_listens_where_others_could_reach_it(self):
        pids = self.one.processes()
        found = listeners.of_processes(pids)
        self.addDetail('listeners', content.text_content(str(found)))
        layout = self.one.sandbox.layout()
        ports = {f.port for f in found}
        # Machines in memory need no cloud provider.
        provider, management = set(), set()
        for name, port in layout.management.ports.items():
            (provider if name.startswith('capo-') else management).add(port)
        self.assertThat(ports, matchers.ContainsAll([
            layout.port('magnum'), layout.port('keystone'), *management]))
        self.assertEqual(set(), ports & provider)
        self.assertEqual([], [
            f for f in found if f.address != layout.address])
        self.assertEqual([], udp_sockets(pids))

    def test_killed_service_is_started_again(self):
        before = self.one.pids()
        self.one.kill('glance')
        self.assert_done(self.one.call('status'), 1)
        self.assert_done(self.one.up())
        after = self.one.pids()
        self.assertNotEqual(before.pop('glance'), after.pop('glance'))
        self.assertEqual(before, after)

    def test_another_program_on_the_port_of_a_service_gets_no_password(self):
        layout = self.one.sandbox.layout()
        self.one.kill('keystone')
        with loopback.Stranger(
                layout.address, layout.port('keystone')) as stranger:
            ended = self.one.up()
        self.assertEqual([], stranger.heard)
        self.assert_done(ended, 1)
        self.assertIn('keystone has ended', ended.err)
        self.assert_done(self.one.up())

    def test_data_survive_the_death_of_supervisord(self):
        self.openstack('coe', 'cluster', 'template', 'create', 'kept',
                       '--image', 'ubuntu-capi', '--coe', 'kubernetes',
                       '--flavor', 'm1.small', '--master-flavor', 'm1.small',
                       '--external-network', 'public')
        self.addCleanup(self.openstack, 'coe', 'cluster', 'template',
                        'delete', 'kept')
        before = self.one.pids()
        self.one.kill('supervisord')
        self.assert_done(self.one.call('status'), 1)
        self.assert_done(self.one.up())
        self.assertEqual(['kept'], [
            row['name']
            for row in self.listed('coe', 'cluster', 'template')])
        self.assertEqual(set(before), set(self.one.pids()))
        self.assertEqual(set(), set(before.values())
                         & set(self.one.processes()))

    def test_another_one_beside_it_leaves_nothing(self):
        two = self.box()
        self.assert_done(two.up())
        layouts_of_both = [b.sandbox.layout() for b in (self.one, two)]
        self.assertEqual(2, len({x.prefix for x in layouts_of_both}))
        found = listeners.of_processes(two.processes())
        self.assertNotEqual([], found)

        self.assert_done(two.down())

        self.assert_nothing_left(two)
        for f in found:
            with contextlib.suppress(ConnectionRefusedError):
                services.answers(f.address, f.port)()
                self.fail(f'Somebody listens on {f}')
        self.assert_done(two.down())
        self.assert_done(self.one.call('status'))
        first = layouts_of_both[0]
        self.assertTrue(services.answers(
            first.address, first.port('magnum'))())
