# SPDX-License-Identifier: Apache-2.0


import io
from unittest import mock

from magnum_capi_tempest.cli import images as cli
from magnum_capi_tempest.images import build
from magnum_capi_tempest.images import inventory
from magnum_capi_tempest.images import recipes
from magnum_capi_tempest.toolchain import download
from tests.unit.images import base


class TestCommands(base.TestCase):

    def setUp(self):
        super().setUp()
        self.home = self.folder()
        path = self.home / 'pause.tar'
        path.write_bytes(b'abc')
        self.inventory = inventory.Inventory(self.home, {
            'pause': base.archive('pause', path=path,
                                  sha256=download.digest(path))})
        inventory.write(self.inventory)
        patcher = mock.patch.object(recipes, 'load', return_value={
            'pause': base.recipe('pause'), 'proxy-1.34': base.recipe(
                'proxy-1.34', kubernetes='v1.34.9')})
        self.addCleanup(patcher.stop)
        patcher.start()
        patcher = mock.patch.object(recipes, 'minors', return_value=())
        self.addCleanup(patcher.stop)
        patcher.start()

    def run_command(self, command, *argv):
        app = mock.Mock(stdout=io.StringIO())
        made = command(app, None)
        code = made.run(made.get_parser('x').parse_args(
            ['--directory', str(self.home), *argv]))
        return code, app.stdout.getvalue()

    def test_build(self):
        with mock.patch.object(build, 'build',
                               return_value=self.inventory) as made:
            code, out = self.run_command(
                cli.Build, '--kubernetes', '1.34', '--only', 'a', 'b')

        self.assertEqual((self.home, ['a', 'b'], ['1.34']),
                         made.call_args.args[:3])
        self.assertEqual(
            (0, f'1 image archives in {self.home}, 3 B\n'), (code, out))

    def test_list(self):
        made = cli.List(mock.Mock(), None)
        columns, rows = made.take_action(made.get_parser('x').parse_args(
            ['--directory', str(self.home)]))

        self.assertEqual(len(columns), len(rows[0]))
        self.assertEqual(('pause', 'image', 'node'), rows[0][:3])

    def test_check_of_whole_ones(self):
        self.assertEqual(
            (0, f'1 image archives in {self.home} are intact\n'),
            self.run_command(cli.Check))

    def test_check_names_missing_and_broken(self):
        (self.home / 'pause.tar').write_bytes(b'')
        code, out = self.run_command(cli.Check, '--kubernetes', '1.34')

        self.assertEqual(1, code)
        self.assertIn('broken: pause: it has 0 bytes instead of 3', out)
        self.assertIn('missing: proxy-1.34', out)
