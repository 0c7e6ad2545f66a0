# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from tools.offline.containers import kernel


class KernelTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for key, value in (('vm/overcommit_memory', '0'),
                           ('kernel/panic', '0')):
            (self.top / key).parent.mkdir()
            (self.top / key).write_text(f'{value}\n')

    def set(self, value):
        (self.top / 'vm/overcommit_memory').write_text(f'{value}\n')

    def test_puts_back_what_a_kubelet_changed(self):
        before = kernel.read(self.top)
        self.set(1)
        kernel.put_back(before, self.top)
        self.assertEqual(before, kernel.read(self.top))

    def limit(self, value):
        file = self.top / 'fs/inotify/max_user_instances'
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{value}\n')
        return file

    def test_raises_limits_and_puts_them_back(self):
        file = self.limit(128)
        before = kernel.read(self.top)
        self.assertEqual([], kernel.lift(self.top))
        self.assertEqual('1024\n', file.read_text())
        kernel.put_back(before, self.top)
        self.assertEqual('128\n', file.read_text())

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
