# SPDX-License-Identifier: Apache-2.0

import contextlib
import io
import pathlib
from unittest import mock

from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import __main__ as command
from tests.unit.toolchain import base


class TestCommand(base.TestCase):

    def run_command(self, *argv):
        with contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(io.StringIO()) as err:
            code = command.main(argv)
        return code, out.getvalue(), err.getvalue()

    def test_paths_of_some(self):
        with mock.patch.object(toolchain, 'ensure', return_value={
                'helm': pathlib.Path('/k/helm'),
                'etcd': pathlib.Path('/k/etcd')}) as ensure:
            result = self.run_command('helm', 'etcd')

        self.assertEqual((0, '/k/helm\n/k/etcd\n', ''), result)
        self.assertEqual(['helm', 'etcd'], ensure.call_args.args[0])

    def test_an_unknown_name(self):
        code, out, err = self.run_command('helm', 'kubctl')

        self.assertEqual((2, ''), (code, out))
        self.assertRegex(err, r'^magnum-capi: Unknown program kubctl\. '
                              r'Known programs: etcd, .*\n$')
