# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What runs without cliff, and that it makes no difference but time."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys

import fixtures
import testtools

from magnum_capi_tempest.cli import app
from magnum_capi_tempest.cli import main
from magnum_capi_tempest.cli import quick
from tests.unit.conformance import archives


class QuickTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = str(self.folder / 'run.tar.gz')
        pathlib.Path(self.path).write_bytes(archives.good())

    def call(self, program, *argv):
        """Exit code, standard output, standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            code = program(['conformance', 'results', *argv])
        return code, out.getvalue(), err.getvalue()

    def test_the_same_as_with_cliff(self):
        missing = str(self.folder / 'missing')
        for argv in ([self.path], ['--json', self.path],
                     [self.path, '--no-verify'], [missing],
                     [str(self.folder)]):
            with self.subTest(argv):
                found = self.call(quick.run, *argv)
                self.assertIsNotNone(found[0])
                self.assertEqual(self.call(app.MagnumCapi().run, *argv),
                                 found)

    def test_keeps_what_it_read(self):
        self.call(quick.run, '--keep', self.path)

        self.assertIn('run.tar.gz.result.json', os.listdir(self.folder))

    def test_what_is_left_to_cliff(self):
        for argv in ([], ['--help'], [self.path, self.path],
                     ['--js', self.path], ['--debug', self.path],
                     ['--kubernetes-version', 'v1.34.9', self.path],
                     ['--kubernetes-version=v1.34.9', self.path],
                     ['--', self.path]):
            with self.subTest(argv):
                self.assertIsNone(self.call(quick.run, *argv)[0])
        for argv in ([], ['conformance'], ['conformance', 'report'],
                     ['--debug', 'conformance', 'results', self.path]):
            with self.subTest(argv):
                self.assertIsNone(quick.run(argv))

    def test_threads_take_their_turns_as_before(self):
        before = sys.getswitchinterval()

        self.call(quick.run, self.path)

        self.assertEqual(before, sys.getswitchinterval())

    def test_neither_cliff_nor_rich_is_imported(self):
        code = ('import sys\n'
                'from magnum_capi_tempest.cli import main\n'
                'code = main.main(sys.argv[1:])\n'
                'heavy = {"argparse", "cliff", "rich", "stevedore"}\n'
                'assert not heavy & set(sys.modules)\n'
                'sys.exit(code)')
        top = pathlib.Path(main.__file__).parents[2]
        ended = subprocess.run(
            [sys.executable, '-c', code, 'conformance', 'results',
             self.path], capture_output=True, text=True, timeout=60, cwd=top)

        self.assertEqual((0, ''), (ended.returncode, ended.stderr))
        self.assertIn('PASSED: run', ended.stdout)

    def test_a_reader_that_has_gone(self):
        with subprocess.Popen(
                [sys.executable, '-m', 'magnum_capi_tempest.cli.main',
                 'conformance', 'results', self.path],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                cwd=pathlib.Path(main.__file__).parents[2]) as process:
            process.stdout.close()
            err = process.stderr.read()

        self.assertEqual((141, ''), (process.returncode, err))
