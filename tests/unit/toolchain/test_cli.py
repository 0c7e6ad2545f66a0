# SPDX-License-Identifier: Apache-2.0

import io
import pathlib
from unittest import mock

from magnum_capi_tempest.cli import toolchain as cli
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import resolve
from tests.unit.toolchain import base


class TestCommands(base.TestCase):

    def run_command(self, command, *argv):
        app = mock.Mock(stdout=io.StringIO())
        made = command(app, None)
        code = made.run(made.get_parser('x').parse_args(argv))
        return code, app.stdout.getvalue()

    def test_fetch_of_some(self):
        with mock.patch.object(toolchain, 'ensure', return_value={
                'helm': pathlib.Path('/k/helm')}) as ensure:
            result = self.run_command(cli.Fetch, 'helm')

        self.assertEqual((0, 'helm /k/helm\n'), result)
        self.assertEqual(['helm'], ensure.call_args.args[0])

    def test_fetch_of_all(self):
        with mock.patch.object(toolchain, 'ensure',
                               return_value={}) as ensure:
            self.run_command(cli.Fetch)

        self.assertEqual(toolchain.names(), ensure.call_args.args[0])

    def test_list(self):
        state = resolve.State('helm', '3.20.2', 'build', 'missing', None)
        with mock.patch.object(toolchain, 'describe', return_value=[state]):
            columns, rows = cli.List(mock.Mock(), None).take_action(None)

        self.assertEqual(len(columns), len(rows[0]))
        self.assertEqual([('helm', '3.20.2', 'build', 'missing', '')], rows)

    def test_clean(self):
        with mock.patch.object(toolchain, 'clean', return_value=3 << 20):
            result = self.run_command(cli.Clean)

        self.assertEqual((0, '3.0 MiB freed\n'), result)
