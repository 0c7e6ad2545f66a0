# SPDX-License-Identifier: Apache-2.0

from unittest import mock

from magnum_capi_tempest.toolchain import disk
from tests.unit.offline import commands
from tests.unit.offline.images import base
from tools.offline.images import build
from tools.offline.images import inventory
from tools.offline.images import recipes


class TestCommands(base.TestCase):

    def setUp(self):
        super().setUp()
        self.home = self.folder()
        self.path = self.home / 'pause-1.tar'
        self.write(self.path, base.recipe('pause'))
        self.size = disk.text(self.path.stat().st_size)
        patcher = mock.patch.object(recipes, 'load', return_value={
            'pause': base.recipe('pause'), 'proxy-1.34': base.recipe(
                'proxy-1.34', kubernetes='v1.34.9')})
        self.addCleanup(patcher.stop)
        patcher.start()

    def run_command(self, command, *argv):
        return commands.run(
            'images', command, '--directory', self.home, *argv)

    def test_build(self):
        with mock.patch.object(build, 'build',
                               return_value=inventory.read(self.home)
                               ) as made:
            code, out = self.run_command(
                'build', '--kubernetes', '1.34', '--only', 'a', 'b')

        self.assertEqual((self.home, ['a', 'b'], ['1.34']),
                         made.call_args.args[:3])
        self.assertEqual(
            (0, f'1 image archives in {self.home}, {self.size}\n'),
            (code, out))

    def test_check_of_whole_ones(self):
        with mock.patch.dict(recipes.load.return_value) as known:
            del known['proxy-1.34']
            self.assertEqual(
                (0, f'intact: pause: 1, {self.size}\n'
                    f'1 image archives in {self.home} are intact\n'),
                self.run_command('check'))

    def test_check_names_missing_and_broken(self):
        self.path.write_bytes(b'')
        for argv in (), ('--kubernetes', '1.34'):
            self.assertEqual(
                (1, 'broken: pause-1.tar: it is no whole image archive\n'
                    'missing: pause\nmissing: proxy-1.34\n'),
                self.run_command('check', *argv))

    def test_check_reads_the_content(self):
        whole = bytearray(self.path.read_bytes())
        whole[whole.rindex(b'x')] = ord('y')
        self.path.write_bytes(whole)
        with mock.patch.dict(recipes.load.return_value) as known:
            del known['proxy-1.34']
            code, out = self.run_command('check')
        self.assertEqual(1, code)
        self.assertIn('broken: pause-1.tar: the SHA-256 of blobs/', out)
