# SPDX-License-Identifier: Apache-2.0

import hashlib
import os
import socket
from unittest import mock

import fixtures
import urllib3

from magnum_capi import errors
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import pins
from tests.unit.toolchain import base

CONTENT = bytes(range(256)) * 4096


class _Base(base.TestCase):

    def setUp(self):
        super().setUp()
        self.set(NO_PROXY='127.0.0.1')
        self.useFixture(fixtures.MockPatchObject(
            download, '_unreachable', {}))
        self.target = self.folder / 'p'

    def set(self, **variables):
        for name, value in variables.items():
            self.useFixture(fixtures.EnvironmentVariable(name, value))


class TestFetch(_Base):

    def setUp(self):
        super().setUp()
        self.server = self.host()
        self.server.files['/p'] = CONTENT
        self.pin = base.release(self.server.url + '/p', CONTENT)

    def fetch(self, **kwargs):
        download.fetch(self.pin, self.target, **kwargs)

    def refused(self, kind):
        error = self.assertRaises(errors.EnvironmentProblem, self.fetch)
        self.assertIs(kind, type(error), error)
        self.assertFalse(self.target.exists())
        return str(error)

    def test_checked_file(self):
        notes = []
        self.fetch(note=notes.append)

        self.assertEqual(CONTENT, self.target.read_bytes())
        self.assertEqual('1.0 MiB of 1.0 MiB', notes[-1])
        self.assertEqual([self.target], list(self.folder.iterdir()))

    def test_sha512(self):
        self.pin = pins.Download(
            self.pin.url, hashlib.sha512(CONTENT).hexdigest(),
            algorithm='sha512')
        self.fetch()

        self.assertEqual(CONTENT, self.target.read_bytes())
        self.server.files['/p'] = CONTENT[:-1]
        self.target.unlink()
        self.assertIn('sha512', self.refused(errors.EnvironmentProblem))

    def test_mirror(self):
        self.server.files = {'/m/dl.k8s.io/release/p': CONTENT}
        self.pin = base.release('https://dl.k8s.io/release/p', CONTENT)
        self.set(MAGNUM_CAPI_MIRROR=f'{self.server.url}/m/')
        self.fetch()

        self.assertEqual(CONTENT, self.target.read_bytes())

    def test_a_broken_transfer_is_tried_again(self):
        self.server.break_after = [300000, 300000]
        self.fetch()

        self.assertEqual(CONTENT, self.target.read_bytes())
        self.assertEqual(3, len(self.server.requests))

    def test_a_library_that_takes_a_broken_transfer_for_whole(self):
        """As urllib3 1.26, which OpenStack's constraints had until 2026."""
        self.useFixture(fixtures.MockPatchObject(
            urllib3.HTTPResponse, 'enforce_content_length', new=property(
                lambda answer: False, lambda answer, value: None),
            create=True))
        self.server.break_after = [300000, 300000]
        self.fetch()

        self.assertEqual(CONTENT, self.target.read_bytes())

    def test_a_transfer_that_breaks_each_time(self):
        self.server.break_after = [100000] * download.ATTEMPTS
        self.assertIn('interrupted', self.refused(download.Unavailable))

    def test_another_file_than_the_pinned_one_stops(self):
        for content in b'x' * len(CONTENT), CONTENT[:-1], b'':
            self.server.files['/p'] = content
            message = self.refused(errors.EnvironmentProblem)
            self.assertIn('is not the pinned one', message)
            self.assertIn(self.pin.digest, message)
        self.assertEqual(3, len(self.server.requests))

    def test_missing_file_says_nothing_of_the_publisher(self):
        self.server.files = {'/q': CONTENT}
        self.assertIn('HTTP 404', self.refused(download.Unavailable))
        self.pin = base.release(self.server.url + '/q', CONTENT)
        self.fetch()

        self.assertEqual(CONTENT, self.target.read_bytes())

    def test_closed_access(self):
        for self.server.status in (403, 407, 502, 503, 504):
            self.assertIn(f'HTTP {self.server.status}',
                          self.refused(download.Closed))

    def test_refused_connection_is_asked_once(self):
        self.server.close()
        self.assertIn('Connection refused', self.refused(download.Closed))
        with mock.patch.object(download.requests, 'get',
                               side_effect=AssertionError):
            self.assertIn('Connection refused',
                          self.refused(download.Closed))

    def test_unknown_host(self):
        self.pin = base.release('http://host.invalid/p', CONTENT)
        with mock.patch.object(socket, 'getaddrinfo', side_effect=(
                socket.gaierror(-2, 'Name or service not known'))):
            message = self.refused(download.Closed)

        self.assertIn('host.invalid cannot be reached', message)
        self.assertIn('Name or service not known', message)

    def test_proxy_of_the_environment_is_used(self):
        """A plain HTTP proxy gets the whole URL as path."""
        self.server.files['http://release.invalid/p'] = CONTENT
        self.pin = base.release('http://release.invalid/p', CONTENT)
        self.set(http_proxy=self.server.url, NO_PROXY='', no_proxy='')
        self.fetch()

        self.assertEqual(CONTENT, self.target.read_bytes())

    def test_proxy_without_a_scheme(self):
        self.server.files['http://release.invalid/p'] = CONTENT
        self.pin = base.release('http://release.invalid/p', CONTENT)
        self.set(http_proxy=self.server.url.removeprefix('http://'),
                 NO_PROXY='', no_proxy='')
        self.fetch()

        self.assertEqual(CONTENT, self.target.read_bytes())

    def test_proxy_that_refuses_the_tunnel(self):
        """GET is all that this proxy knows: 501 to CONNECT."""
        self.pin = base.release('https://release.invalid/p', CONTENT)
        self.set(https_proxy=self.server.url, NO_PROXY='', no_proxy='')
        message = self.refused(download.Closed)

        self.assertIn('release.invalid cannot be reached', message)
        self.assertIn('501', message)

    def test_no_disk_space(self):
        self.useFixture(fixtures.MockPatchObject(
            download.disk.shutil, 'disk_usage',
            lambda path: mock.Mock(free=1 << 20)))
        message = self.refused(errors.EnvironmentProblem)

        self.assertIn('1.0 MiB free, 2.0 MiB needed', message)
        self.assertIn(str(self.folder), message)


class TestExtract(base.TestCase):

    def extract(self, content):
        archive = self.folder / 'a.tar.gz'
        archive.write_bytes(content)
        download.extract(base.release('https://h/a.tar.gz', content,
                                      'linux/p'), archive, self.folder / 'p')

    def test_only_the_wanted_member(self):
        self.extract(base.archive('linux/p', b'program'))

        self.assertEqual(b'program', (self.folder / 'p').read_bytes())
        self.assertEqual({'a.tar.gz', 'p'}, {*os.listdir(self.folder)})

    def test_archives_that_lack_the_program(self):
        for content in base.archive('other', b'program'), b'x' * 99:
            error = self.assertRaises(
                errors.EnvironmentProblem, self.extract, content)
            self.assertIn('does not contain linux/p', str(error))
