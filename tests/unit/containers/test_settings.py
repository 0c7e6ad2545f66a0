# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import testtools

from magnum_capi import errors
from magnum_capi_tempest.containers import host
from magnum_capi_tempest.containers import layout as layouts
from magnum_capi_tempest.containers import networks
from magnum_capi_tempest.containers import settings

LAYOUT = layouts.Layout(pathlib.Path('/state/run'), pathlib.Path('/images'))
NETWORK = networks.parse('10.213.0.0/16')


class LayoutTest(testtools.TestCase):

    def test_names_differ_by_folder(self):
        other = layouts.Layout(pathlib.Path('/state/run2'), LAYOUT.store)
        self.assertNotEqual(LAYOUT.link, other.link)
        self.assertNotEqual(LAYOUT.cgroup, other.cgroup)

    def test_name_of_the_interface_is_short_enough(self):
        # IFNAMSIZ of netdevice(7) is 16, with the zero at the end.
        self.assertLess(len(LAYOUT.link), 16)

    def test_unfit_folders(self):
        layouts.check(LAYOUT)
        for folder in ('/run/x', '/var/run/x', '/' + 'x' * 100):
            self.assertRaises(errors.UsageError, layouts.check, layouts.Layout(
                pathlib.Path(folder), LAYOUT.store))
        self.assertRaises(errors.UsageError, layouts.check, layouts.Layout(
            LAYOUT.directory, pathlib.Path('/run/images')))


class DaemonTest(testtools.TestCase):

    def daemon(self, **kwargs):
        return json.loads(settings.daemon(LAYOUT, NETWORK, **kwargs))

    def test_listens_at_its_socket_only(self):
        self.assertEqual(
            ['unix:///state/run/docker.sock'], self.daemon()['hosts'])

    def test_translates_and_filters_nothing(self):
        found = self.daemon()
        self.assertEqual('none', found['bridge'])
        for key in ('iptables', 'ip6tables', 'ip-masq'):
            self.assertFalse(found[key])

    def test_networks_are_those_of_the_plan(self):
        self.assertEqual([{'base': '10.213.128.0/18', 'size': 24}],
                         self.daemon()['default-address-pools'])

    def test_runtime_only_where_it_is_needed(self):
        self.assertNotIn('default-runtime', self.daemon())
        found = self.daemon(runtime=pathlib.Path('/x/runc-nores'))
        self.assertEqual({'path': '/x/runc-nores'},
                         found['runtimes'][found['default-runtime']])


class CommandTest(testtools.TestCase):

    def test_takes_the_store_then_the_namespaces_then_becomes_dockerd(self):
        argv = settings.command(
            LAYOUT, NETWORK, {name: f'/bin/{name}' for name in host.PROGRAMS},
            pathlib.Path('/run/x.engine'))
        self.assertEqual(
            ['/bin/flock', '--shared', '--no-fork', '/run/x.engine',
             '/bin/flock'], argv[:5])
        self.assertIn('/images/lock', argv)
        script = argv.index('/bin/sh') + 1
        self.assertTrue(pathlib.Path(argv[script]).is_file())
        self.assertEqual(
            ['outside', LAYOUT.link, '10.213.255.253/30',
             '10.213.255.254/30', '10.213.0.0/16', '/bin/tini', '--',
             '/bin/dockerd', '--config-file', '/state/run/daemon.json'],
            argv[script + 1:])
