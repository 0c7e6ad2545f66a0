# SPDX-License-Identifier: Apache-2.0

"""The command, with a proof of nothing that stestr runs."""

import contextlib
import io
import os
import pathlib
import signal
import sys
import unittest

import fixtures
import testtools

import magnum_capi_sandbox as sandbox
from tests import proofs
from tests.proofs import __main__ as command

TOY = '''
import os
import pathlib
import signal
import time
import unittest

results = pathlib.Path(os.environ['MAGNUM_CAPI_PROOF_RESULTS'])
folder = pathlib.Path(os.environ['MAGNUM_CAPI_PROOF_FOLDER'])
(results / 'rows').mkdir(exist_ok=True)


def write(name, text):
    (results / name).write_text(text)


class ToyTest(unittest.TestCase):

    def test_kept(self):
        (folder / 'boxes' / 'box').mkdir(parents=True, exist_ok=True)
        write('rows/b.csv', 'Case,Verdict\\nkept,yes\\n')

    def test_lost(self):
        write('rows/a.csv', 'Case,Verdict\\nlost,no\\n')
        self.fail('it is lost')

    def test_slow(self):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            os.kill(int(os.environ['TOY']), signal.SIGTERM)
            time.sleep(600)
        finally:
            write('ended', 'yes')
'''


class CommandTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder = self.top / 'tests' / 'proofs' / 'toy'
        folder.mkdir(parents=True)
        for path in (self.top / 'tests', self.top / 'tests/proofs', folder):
            (path / '__init__.py').write_text('')
        (folder / 'test_toy.py').write_text(TOY)
        (folder.parent / 'stestr.conf').write_text(
            pathlib.Path(proofs.__file__).with_name('stestr.conf').read_text())
        self.results = self.top / 'results'
        self.down = []
        for holder, name, value in (
                (command, 'TOP', self.top),
                (command, 'PROOFS', {'toy': ('nothing', 1)}),
                (sandbox.Box, 'down', lambda box, progress:
                 self.down.append(box.directory.name))):
            self.useFixture(fixtures.MockPatchObject(holder, name, value))
        self.useFixture(fixtures.EnvironmentVariable('TOY', str(os.getpid())))
        # What stestr prints is not for the stream of these tests.
        sys.stdout.flush()
        kept = os.dup(1)
        self.addCleanup(os.close, kept)
        self.addCleanup(os.dup2, kept, 1)
        with open(self.top / 'said', 'wb') as file:
            os.dup2(file.fileno(), 1)

    def call(self, *words):
        return command.main(['toy', '--results', str(self.results), *words])

    def test_cases_by_name_and_those_that_failed(self):
        self.assertEqual(0, self.call('kept'))
        self.assertEqual(1, self.call('kept|lost'))
        (self.results / 'rows/b.csv').unlink()
        self.assertEqual(1, self.call('--failing'))

        self.assertFalse((self.results / 'rows/b.csv').exists())

    def test_the_table_has_the_rows_of_all_cases(self):
        self.call('kept')
        self.call('lost')

        self.assertEqual('Case,Verdict\nlost,no\nkept,yes\n',
                         (self.results / 'table.csv').read_text())

    def test_sandboxes_are_taken_down(self):
        self.call('kept')
        self.assertEqual(['box'], self.down)

        directory = self.top / 'mine'
        self.call('kept', '--directory', str(directory))

        self.assertEqual(['box'], self.down)
        self.assertTrue((directory / 'boxes/box').exists())

    def test_sigterm_ends_cases_and_takes_down(self):
        self.addCleanup(signal.signal, signal.SIGTERM,
                        signal.getsignal(signal.SIGTERM))
        proofs.take_down_at_the_end()

        e = self.assertRaises(SystemExit, self.call, 'kept|slow')

        self.assertEqual(143, e.code)
        self.assertTrue((self.results / 'ended').exists())
        self.assertEqual(['box'], self.down)

    def test_no_such_proof(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            e = self.assertRaises(SystemExit, command.main, ['pudding'])

        self.assertEqual(2, e.code)
        self.assertIn('pudding', said.getvalue())


class RealProofsTest(testtools.TestCase):

    def test_each_has_cases_and_ports_of_its_own(self):
        here = pathlib.Path(proofs.__file__).parent
        ports = {}
        for name in command.PROOFS:
            loader = unittest.TestLoader()
            found = list(testtools.iterate_tests(loader.discover(
                str(here / name.replace('-', '_')),
                top_level_dir=str(command.TOP))))

            self.assertEqual([], loader.errors)
            self.assertNotEqual([], found)
            ports[name], = {case.port_base for case in found}
        self.assertEqual(len(ports), len(set(ports.values())))
        self.assertEqual(
            {name.replace('-', '_') for name in command.PROOFS},
            {path.parent.name for path in here.glob('*/test_*.py')})
