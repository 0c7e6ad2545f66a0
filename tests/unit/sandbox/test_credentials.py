# SPDX-License-Identifier: Apache-2.0

import base64
import pathlib

import fixtures
import testtools

from magnum_capi_sandbox.cloud import credentials
from magnum_capi_sandbox.cloud import snapshot


class CredentialsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def files(self):
        return {str(p.relative_to(self.folder)): p.read_bytes()
                for p in self.folder.rglob('*') if p.is_file()}

    def test_passwords(self):
        made = credentials.make(self.folder)
        self.assertEqual({'admin', 'demo', 'service', 'broker'}, set(made))
        self.assertEqual(4, len(set(made.values())))
        # 18 random bytes.
        self.assertEqual({24}, set(map(len, made.values())))
        self.assertEqual(made, credentials.passwords(self.folder))

    def test_keys_are_as_keystone_makes_them(self):
        credentials.make(self.folder)
        keys = [content for name, content in self.files().items()
                if name.startswith('keystone/')]
        self.assertEqual(
            [f'keystone/{kind}-keys/{number}'
             for kind in ('credential', 'fernet') for number in (0, 1)],
            sorted(set(self.files()) - {'secrets.json'}))
        self.assertEqual(4, len(set(keys)))
        self.assertEqual(
            {32}, {len(base64.urlsafe_b64decode(key)) for key in keys})

    def test_they_are_private(self):
        credentials.make(self.folder)
        self.assertEqual({0}, {
            p.stat().st_mode & 0o077 for p in self.folder.rglob('*')})

    def test_the_next_ones_share_nothing(self):
        credentials.make(self.folder)
        before = self.files()
        credentials.make(self.folder)
        after = self.files()
        self.assertEqual(set(before), set(after))
        self.assertEqual(
            set(), set(before.values()) & set(after.values()))

    def test_no_snapshot_has_any(self):
        credentials.make(self.folder)
        self.assertEqual(
            set(), {p.name for p in self.folder.iterdir()}
            & set(snapshot.MEMBERS))
