# SPDX-License-Identifier: Apache-2.0

import configparser
import dataclasses
import os
import pathlib

import fixtures
import jinja2
import testtools

from magnum_capi.discovery import paste
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import configuration
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

    def test_every_client_of_another_service_has_the_authority(self):
        expected = f'{self.layout.directory}/tls/ca.crt'
        where = dataclasses.replace(self.layout, https=True)
        for release in releases.RELEASES:
            samples.write_services(where, 'full', release=release)
            for name in FILES:
                config = configparser.RawConfigParser(strict=True)
                config.read_string((where.etc / name).read_text())
                for section in config.sections():
                    if 'auth_url' in config[section]:
                        self.assertEqual(
                            expected, config[section]['cafile'],
                            (name, section))
            magnum = configparser.RawConfigParser(strict=True)
            magnum.read(where.etc / 'magnum.conf')
            self.assertEqual(
                expected, magnum['drivers']['openstack_ca_file'])
            self.assertEqual(expected, magnum['glance_client']['ca_file'])
            broker = magnum['oslo_messaging_rabbit']
            self.assertEqual(('true', expected),
                             (broker['ssl'], broker['ssl_ca_file']))

    def test_without_tls_no_authority_is_named(self):
        samples.write_services(self.layout)
        for name in FILES:
            text = (self.layout.etc / name).read_text()
            self.assertNotRegex(text, 'ca_?file', name)


class RenderTest(testtools.TestCase):

    def test_a_missing_value_is_an_error(self):
        self.assertRaises(
            jinja2.UndefinedError, configuration.render, 'clouds.yaml')
