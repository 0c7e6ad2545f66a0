# SPDX-License-Identifier: Apache-2.0

import os
import time

import fixtures

from magnum_capi_tempest.toolchain import onpath
from tests.unit.toolchain import base


class TestFind(base.TestCase):

    def find(self, *folders):
        return onpath.find(base.program(),
                           os.pathsep.join(map(str, folders)))

    def on_path(self, folder, says):
        base.script(self.folder / folder / 'tiny', says)
        return self.folder / folder

    def test_exact_version(self):
        folder = self.on_path('a', 'echo tiny v1.2.3')

        self.assertEqual(folder / 'tiny', self.find(folder))

    def test_odd_builds_are_other_programs(self):
        for says in ('tiny v1.2.3-dispatcher', 'tiny v1.2.3+k3s1',
                     'tiny v1.2.4', 'v1.2.3', 'broken', ''):
            with self.subTest(says=says):
                self.assertIsNone(self.find(
                    self.on_path('a', f'echo "{says}"')))

    def test_looks_behind_the_wrong_one(self):
        wrong = self.on_path('a', 'echo tiny v1.0.0')
        right = self.on_path('b', 'echo tiny v1.2.3')

        self.assertEqual(right / 'tiny', self.find(wrong, right))

    def test_program_that_fails_or_is_none(self):
        failing = self.on_path('a', 'echo tiny v1.2.3; exit 1')
        other = self.on_path('b', '')
        (other / 'tiny').write_bytes(b'\x7fELF not really')

        self.assertIsNone(self.find(failing, other, self.folder / 'none'))

    def test_program_that_hangs(self):
        hanging = self.on_path('a', 'sleep 60')
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.toolchain.onpath.TIMEOUT', 0.2))
        begin = time.monotonic()

        self.assertIsNone(self.find(hanging))
        self.assertLess(time.monotonic() - begin, 10)

    def test_what_it_writes_is_gone(self):
        folder = self.on_path(
            'a', 'echo log > "$TMPDIR/log"; echo log > "$MINIKUBE_HOME/log"; '
            'echo tiny v1.2.3')
        temporary = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.EnvironmentVariable('TMPDIR', temporary))
        self.useFixture(fixtures.EnvironmentVariable(
            'MINIKUBE_HOME', temporary))
        self.useFixture(fixtures.MonkeyPatch('tempfile.tempdir', None))

        self.assertEqual(folder / 'tiny', self.find(folder))
        self.assertEqual([], os.listdir(temporary))

    def test_relative_entries_do_not_count(self):
        folder = self.on_path('a', 'echo tiny v1.2.3')

        self.assertIsNone(self.find('', '.', os.path.relpath(folder)))
