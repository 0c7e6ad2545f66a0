# SPDX-License-Identifier: Apache-2.0

import socket
import threading
from unittest import mock

from magnum_capi import errors
from magnum_capi_tempest.toolchain import download
from tests.unit.toolchain import base

CONTENT = bytes(range(256)) * 4096


class TestFetch(base.TestCase):

    def setUp(self):
        super().setUp()
        # The release host is on loopback; a proxy must not come between.
        patch = mock.patch.dict('os.environ', {'NO_PROXY': '127.0.0.1'})
        patch.start()
        self.addCleanup(patch.stop)
        self.server = self.host()
        self.server.files['/p'] = CONTENT
        self.pin = base.release(self.server.url + '/p', CONTENT)
        self.part = self.folder / 'p.part'
        self.hosts = download.Hosts()

    def fetch(self, **kwargs):
        download.fetch(self.pin, self.part, hosts=self.hosts, **kwargs)

    def test_checked_file(self):
        notes = []
        self.fetch(note=notes.append)

        self.assertEqual(CONTENT, self.part.read_bytes())
        self.assertEqual('1.0 MiB of 1.0 MiB', notes[-1])

    def test_resumes_what_is_there(self):
        self.part.write_bytes(CONTENT[:1000])
        self.fetch()

        self.assertEqual([('/p', 'bytes=1000-')], self.server.requests)
        self.assertEqual(CONTENT, self.part.read_bytes())

    def test_whole_part_is_not_transferred_again(self):
        self.part.write_bytes(CONTENT)
        self.fetch()

        self.assertEqual(1, len(self.server.requests))

    def test_host_without_range(self):
        self.server.ranges = False
        self.part.write_bytes(b'x' * 1000)
        self.fetch()

        self.assertEqual(CONTENT, self.part.read_bytes())

    def test_truncated_part_of_another_file_is_thrown_away(self):
        self.part.write_bytes(b'x' * 1000)
        self.fetch()

        self.assertEqual([('/p', 'bytes=1000-'), ('/p', None)],
                         self.server.requests)
        self.assertEqual(CONTENT, self.part.read_bytes())

    def test_broken_transfer_is_taken_up_again(self):
        self.server.break_after = [300000, 300000]
        self.fetch()

        # What a broken connection had not filled a block with is lost.
        self.assertEqual([None, 'bytes=262144-', 'bytes=524288-'],
                         [r for _, r in self.server.requests])
        self.assertEqual(CONTENT, self.part.read_bytes())

    def test_gives_up_and_keeps_the_part(self):
        self.server.break_after = [100000] * download.ATTEMPTS
        error = self.assertRaises(download.Unavailable, self.fetch)

        self.assertIn('interrupted', str(error))
        self.assertEqual(CONTENT[:3 * 65536], self.part.read_bytes())

    def test_other_content_than_pinned(self):
        self.server.files['/p'] = b'x' * len(CONTENT)
        error = self.assertRaises(download.Unavailable, self.fetch)

        self.assertIn('not match its pinned checksum', str(error))
        self.assertIn(self.pin.digest, str(error))
        self.assertFalse(self.part.exists())
        self.assertEqual(1, len(self.server.requests))

    def test_sha512(self):
        self.pin = base.release(self.pin.url, CONTENT, algorithm='sha512')
        self.fetch()

        self.assertEqual(CONTENT, self.part.read_bytes())

    def test_missing_file_says_nothing_of_the_host(self):
        self.server.files = {'/q': CONTENT}
        self.assertRaises(download.Unavailable, self.fetch)
        self.pin = base.release(self.server.url + '/q', CONTENT)
        self.fetch()

        self.assertEqual(CONTENT, self.part.read_bytes())

    def test_403_is_remembered_for_the_run(self):
        self.server.status = 403
        self.assertRaises(download.Unavailable, self.fetch)
        error = self.assertRaises(download.Unavailable, self.fetch)

        self.assertIn('403', str(error))
        self.assertEqual(1, len(self.server.requests))

    def test_refused_connection_is_remembered(self):
        self.server.close()
        first = self.assertRaises(download.Unavailable, self.fetch)
        again = self.assertRaises(download.Unavailable, self.fetch)

        self.assertIn('cannot be reached', str(first))
        self.assertIn('did not respond to an earlier request', str(again))
        self.assertIn('Connection refused', str(again))

    def test_unknown_host(self):
        self.pin = base.release('http://host.invalid/p', CONTENT)
        with mock.patch.object(socket, 'getaddrinfo', side_effect=(
                socket.gaierror(-2, 'Name or service not known'))):
            error = self.assertRaises(download.Unavailable, self.fetch)

        self.assertIn('host.invalid cannot be reached', str(error))
        self.assertIn('Name or service not known', str(error))

    def test_name_server_that_never_answers(self):
        never = threading.Event()
        self.pin = base.release('http://host.invalid/p', CONTENT)
        with mock.patch.object(download, 'ANSWER', 0.1), \
                mock.patch.object(socket, 'getaddrinfo',
                                  side_effect=lambda *a: never.wait(3)):
            error = self.assertRaises(download.Unavailable, self.fetch)
            never.set()

        self.assertIn('no answer within 0.1 s', str(error))

    def test_proxy_of_the_environment_is_used(self):
        """A plain HTTP proxy gets the whole URL as path."""
        self.server.files['http://release.invalid/p'] = CONTENT
        self.pin = base.release('http://release.invalid/p', CONTENT)
        with mock.patch.dict('os.environ', {
                'http_proxy': self.server.url, 'NO_PROXY': '',
                'no_proxy': ''}):
            self.fetch()

        self.assertEqual(CONTENT, self.part.read_bytes())

    def test_proxy_that_refuses_the_tunnel(self):
        """GET is all that this proxy knows: 501 to CONNECT."""
        self.pin = base.release('https://release.invalid/p', CONTENT)
        with mock.patch.dict('os.environ', {
                'https_proxy': self.server.url, 'NO_PROXY': '',
                'no_proxy': ''}):
            error = self.assertRaises(download.Unavailable, self.fetch)

        self.assertIn('release.invalid cannot be reached', str(error))
        self.assertIn('501', str(error))

    def test_no_disk_space(self):
        error = self.assertRaises(
            errors.EnvironmentProblem, self.fetch, free=lambda path: 1 << 20)

        self.assertNotIsInstance(error, download.Unavailable)
        self.assertIn('1.0 MiB free, 2.0 MiB needed', str(error))
        self.assertIn(str(self.folder), str(error))


class TestUnpack(base.TestCase):

    def unpack(self, content, member):
        part, target = self.folder / 'part', self.folder / 'program'
        part.write_bytes(content)
        download.unpack(base.release('u', content, member), part, target)
        return target

    def test_file_is_the_program(self):
        self.assertEqual(b'x', self.unpack(b'x', None).read_bytes())

    def test_only_the_wanted_member(self):
        target = self.unpack(base.archive('linux/p', b'program'), 'linux/p')

        self.assertEqual(b'program', target.read_bytes())
        self.assertEqual([target], list(self.folder.iterdir()))

    def test_member_is_missing(self):
        self.assertRaises(download.Unavailable, self.unpack,
                          base.archive('other', b'program'), 'linux/p')

    def test_no_archive(self):
        self.assertRaises(download.Unavailable, self.unpack, b'x' * 99, 'p')
