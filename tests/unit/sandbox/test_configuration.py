# SPDX-License-Identifier: Apache-2.0

import configparser
import os
import pathlib

import fixtures
import jinja2
import testtools

from magnum_capi.discovery import paste
from magnum_capi import outfile
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import releases
from tests.unit.sandbox import samples

FILES = tuple(service.file for service in catalog.services())


class ServicesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = samples.a_layout(
            self.useFixture(fixtures.TempDir()).path)

    def read(self, name, profile, **values):
        samples.write_services(self.layout, profile, **values)
        config = configparser.RawConfigParser(strict=True)
        config.read_string((self.layout.etc / name).read_text())
        return config

    def test_every_file_parses_in_every_profile(self):
        for profile in profiles.PROFILES:
            for name in FILES:
                with self.subTest(f'{name} of {profile}'):
                    config = self.read(name, profile)
                    self.assertTrue(config.get('database', 'connection'))

    def test_who_finds_sqlite_locked_waits(self):
        for name in FILES:
            with self.subTest(name):
                self.assertEqual(
                    'timeout=30', self.read(name, 'embedded')['database'][
                        'connection_parameters'])
                self.assertNotIn(
                    'connection_parameters',
                    self.read(name, 'full')['database'])

    def test_files_are_private(self):
        samples.write_services(self.layout)
        self.assertEqual(
            {name: 0o600 for name in (*FILES, configuration.OVERLAY)}
            | {'magnum.d': 0o700},
            {p.name: p.stat().st_mode & 0o777
             for p in self.layout.etc.iterdir()})
        self.assertEqual(0o700, self.layout.etc.stat().st_mode & 0o777)

    def test_also_with_a_generous_umask(self):
        self.addCleanup(os.umask, os.umask(0))
        self.test_files_are_private()

    def test_also_when_an_open_one_is_replaced(self):
        self.layout.etc.mkdir()
        for name in FILES:
            (self.layout.etc / name).touch(0o666)
        self.layout.etc.chmod(0o700)
        self.test_files_are_private()

    def test_magnum_is_told_where_everything_is(self):
        config = self.read('magnum.conf', 'full')
        self.assertEqual(
            ('127.77.0.1', '25511', '/charts/x',
             str(self.layout.kubeconfig),
             'rabbit://sandbox:brokersecret@127.77.0.1:25672/'),
            (config['api']['host'], config['api']['port'],
             config['capi_helm']['helm_chart_name'],
             config['capi_helm']['kubeconfig_file'],
             config['DEFAULT']['transport_url']))

    def test_only_releases_with_trusts_have_a_domain_for_them(self):
        for release in releases.RELEASES:
            config = self.read('magnum.conf', 'full', release=release)
            self.assertEqual(release.version < 23, 'trust' in config)

    def test_magnum_without_the_discovery_filter(self):
        config = self.read('magnum.conf', 'embedded')
        self.assertEqual(str(samples.VENV / 'etc/magnum/api-paste.ini'),
                         config['api']['api_paste_config'])

    def test_magnum_with_the_discovery_filter(self):
        folder = self.useFixture(fixtures.TempDir()).path
        venv = samples.a_cloud(pathlib.Path(folder) / 'cloud')
        samples.write_services(self.layout, venv=venv,
                               discovery_filter=True)
        config = configparser.RawConfigParser()
        config.read(self.layout.etc / 'magnum.conf')
        path = pathlib.Path(config['api']['api_paste_config'])
        self.assertEqual(self.layout.etc, path.parent)
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        text = path.read_text()
        self.assertIs(paste.Position.IN_PLACE, paste.position(text))
        self.assertEqual(samples.PASTE, (
            venv / 'etc/magnum/api-paste.ini').read_text())

    def test_every_key_of_keystone_is_in_the_folder(self):
        """Receipts have keys of their own, by default in /etc/keystone."""
        config = self.read('keystone.conf', 'embedded')
        for section in ('fernet_tokens', 'fernet_receipts', 'credential'):
            self.assertTrue(config[section]['key_repository'].startswith(
                f'{self.layout.directory}/'), section)

    def test_services_but_keystone_log_in_at_this_keystone(self):
        for name in FILES:
            if name == 'keystone.conf':
                continue
            with self.subTest(name):
                section = self.read(name, 'embedded')['keystone_authtoken']
                self.assertEqual(
                    (self.layout.auth_url, 'servicesecret'),
                    (section['auth_url'], section['password']))

    def sandbox(self, name, option, containers):
        config = self.read(name, 'embedded', containers=containers,
                           kind=infrastructure.OPENSTACK)
        return config.get('sandbox', option, fallback=None)

    def test_nova_learns_whether_servers_are_containers(self):
        self.assertEqual('true', self.sandbox(
            'nova.conf', 'containers', True))
        self.assertIsNone(self.sandbox('nova.conf', 'containers', False))

    def test_who_forwards_is_told_what_if_servers_are_containers(self):
        machines = str(self.layout.machines)
        for name in ('neutron.conf', 'octavia.conf'):
            self.assertEqual(machines, self.sandbox(name, 'machines', True))
            self.assertIsNone(self.sandbox(name, 'machines', False))


class RenderTest(testtools.TestCase):

    def test_a_missing_value_is_an_error(self):
        self.assertRaises(
            jinja2.UndefinedError, configuration.render, 'clouds.yaml')

    def test_a_failed_write_keeps_the_old_file(self):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'secret'
        outfile.write_private(path, 'old')
        self.assertRaises(
            TypeError, outfile.write_private, path, 1)
        self.assertEqual('old', path.read_text())
