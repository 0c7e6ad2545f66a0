# SPDX-License-Identifier: Apache-2.0
"""The scan for secrets finds them, or its silence proves nothing."""

import base64
import gzip
import html
import io
import json
import tarfile
import zipfile

import testtools

from tests.functional import secret_scan
from tests.unit.report import streams

SECRET = 'k4%"<x>\'\\y/ü8'


class SecretScanTest(testtools.TestCase):

    def assert_found(self, data):
        scan = secret_scan.Scan({'it': SECRET, 'other': 'z' * 20})
        self.assertEqual(['it'], scan.data(data))

    def test_texts(self):
        for text in (SECRET, json.dumps(SECRET), repr(SECRET),
                     json.dumps(json.dumps(SECRET)), html.escape(SECRET),
                     repr(json.dumps({'a': SECRET}).encode())):
            self.assert_found(f'a {text} b'.encode())

    def test_base64(self):
        for before in range(4):
            data = f'{"a" * before}{SECRET}b'.encode()
            self.assert_found(base64.b64encode(data))
            self.assert_found(base64.urlsafe_b64encode(data))
        release = base64.b64encode(base64.b64encode(gzip.compress(data)))
        self.assert_found(b'release: ' + release)

    def test_archives(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, 'w', zipfile.ZIP_DEFLATED) as archive:
            archive.writestr('a', SECRET * 9)
        self.assert_found(packed.getvalue())
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode='w:gz') as archive:
            member = tarfile.TarInfo('a')
            member.size = len(SECRET.encode())
            archive.addfile(member, io.BytesIO(SECRET.encode()))
        self.assert_found(packed.getvalue())

    def test_attachments_of_a_stream(self):
        stream = streams.Stream()
        data = SECRET.encode()
        for part in (data[:5], data[5:]):
            stream.test('a.b', 'inprogress', log=('text/plain', part))

        self.assert_found(stream.data)

    def test_keys_by_their_longest_line(self):
        scan = secret_scan.Scan({'key': '-----BEGIN X-----\nabc\n' + 'k' * 40})

        self.assertEqual(['key'], scan.data(b'"' + b'k' * 40 + b'"'))
        self.assertEqual([], scan.data(b'-----BEGIN X-----'))
