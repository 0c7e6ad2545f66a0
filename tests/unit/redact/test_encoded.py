# SPDX-License-Identifier: Apache-2.0
import base64
import gzip
import json
import zlib

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives import serialization
import testtools

from magnum_capi_tempest import redact

SECRET = json.dumps({'user': 'bob', 'password': 'hunter2'}).encode()


def encoded(data, times=1):
    for _ in range(times):
        data = base64.b64encode(data)
    return data.decode()


class EncodedTest(testtools.TestCase):

    def assert_goes(self, text):
        self.assertEqual('a <redacted> b', redact.redact(f'a {text} b'))

    def assert_stays(self, text):
        self.assertEqual(text, redact.redact(text))

    def test_what_has_a_secret_goes(self):
        self.assert_goes(encoded(SECRET))
        self.assert_goes(encoded(SECRET, 2))
        self.assert_goes(encoded(SECRET, 3))
        self.assert_goes(encoded(gzip.compress(SECRET)))

    def test_what_has_none_stays(self):
        plain = json.dumps({'user': 'bob', 'id': list(range(20))}).encode()
        for data in (plain, gzip.compress(plain), bytes(range(256))):
            self.assert_stays(f'value: {encoded(data)}')

    def test_a_release_goes_whatever_it_has(self):
        release = gzip.compress(json.dumps({'chart': 'x' * 99}).encode())

        self.assert_goes(encoded(release, 2))

    def test_public_keys_and_certificates_stay(self):
        key = ec.generate_private_key(ec.SECP256R1()).public_key()
        pem = key.public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo)

        self.assert_stays(pem.decode())
        self.assert_stays(f'key: {encoded(pem)}')

    def test_the_kind_is_that_of_what_is_in_it(self):
        for data, kind in (
                (SECRET, redact.PASSWORD),
                (b'apiVersion: v1\nkind: Config\n', redact.KUBECONFIG),
                (b'clouds:\n  x:\n    y: z\n', redact.OPENSTACK),
                (b'{"auths": {"x": {}}}', redact.REGISTRY),
                (b'#cloud-config\nusers: []\n', redact.SECRET)):
            self.assertEqual({kind: 1}, redact.examine(encoded(data)).counts)

    def test_what_was_cut_off_goes(self):
        text = encoded(SECRET + b' ' * 300)
        for length in range(60, 200):
            self.assert_goes(text[:length])
        packed = encoded(gzip.compress(SECRET + bytes(range(256)) * 9))
        self.assert_goes(packed[:len(packed) // 2])

    def test_what_grows_without_end_goes_unread(self):
        bomb = encoded(gzip.compress(bytes(50 << 20)))
        self.assertLess(len(bomb), 100_000)

        self.assert_goes(bomb)

    def test_what_is_no_gzip_is_read_as_text(self):
        self.assert_stays('H4sI' + 'A' * 40)
        self.assert_stays(encoded(zlib.compress(b'a' * 90)))
