# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from tools.offline.containers import kernel


class KernelTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def limit(self, value):
        file = self.top / 'fs/inotify/max_user_instances'
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{value}\n')
        return file

    def test_raises_limits(self):
        file = self.limit(128)
        self.assertEqual([], kernel.lift(self.top))
        self.assertEqual('1024\n', file.read_text())

    def test_lowers_no_limit(self):
        file = self.limit(8192)
        self.assertEqual([], kernel.lift(self.top))
        self.assertEqual('8192\n', file.read_text())

    def test_says_which_limit_cannot_be_raised(self):
        self.limit(128)
        self.useFixture(fixtures.MonkeyPatch(
            'pathlib.Path.write_text', self._refuse))
        self.assertEqual(
            ['fs.inotify.max_user_instances is 128, 1024 is needed'],
            kernel.lift(self.top))

    def _refuse(self, path, text):
        raise PermissionError('read-only')
