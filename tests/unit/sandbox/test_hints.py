# SPDX-License-Identifier: Apache-2.0

import pathlib
import shlex

import fixtures
import testtools

from magnum_capi_sandbox import hints
from tests.unit import own_folders


class CommandTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.bin = self.base / 'an env' / 'bin'
        for name in 'python', 'magnum-capi':
            self.program(self.bin / name)
        self.useFixture(fixtures.MonkeyPatch(
            'sys.executable', str(self.bin / 'python')))

    def program(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        path.chmod(0o755)

    def words(self, *folders):
        self.useFixture(fixtures.EnvironmentVariable(
            'PATH', ':'.join(map(str, folders))))
        return shlex.split(hints.command('env', pathlib.Path('/a b')))

    def test_on_path(self):
        self.assertEqual(
            ['magnum-capi', 'sandbox', 'env', '--directory', '/a b'],
            self.words(self.bin))

    def test_not_on_path(self):
        self.assertEqual(str(self.bin / 'magnum-capi'), self.words('/x')[0])

    def test_another_one_on_path(self):
        self.program(self.base / 'other' / 'magnum-capi')
        self.assertEqual(str(self.bin / 'magnum-capi'),
                         self.words(self.base / 'other', self.bin)[0])

    def test_default_folder(self):
        self.useFixture(fixtures.EnvironmentVariable('MAGNUM_CAPI_STATE'))
        self.useFixture(fixtures.EnvironmentVariable('PATH', str(self.bin)))
        self.assertEqual('magnum-capi sandbox down', hints.command(
            'down', hints.default_directory()))
