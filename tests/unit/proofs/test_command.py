# SPDX-License-Identifier: Apache-2.0

"""The command, with a proof of nothing that stestr runs."""

import os
import pathlib
import signal
import unittest

import fixtures
import testtools

import magnum_capi_sandbox as sandbox
from tests import proofs
from tests.proofs import __main__ as command
from tests.proofs import boxes

TOY = '''
import os
import pathlib
import signal
import time
import unittest

results = pathlib.Path(os.environ['MAGNUM_CAPI_PROOF_RESULTS'])


class ToyTest(unittest.TestCase):

    def test_right(self):
        pass

    def test_wrong(self):
        self.fail('it is wrong')

    def test_slow(self):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            os.kill(int(os.environ['TOY']), signal.SIGTERM)
            time.sleep(600)
        finally:
            (results / 'ended').touch()
'''


class Box(boxes.Box):

    def up(self):
        self.sandbox.directory.mkdir(parents=True)


class CommandTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder = self.top / 'tests' / 'proofs' / 'toy'
        folder.mkdir(parents=True)
        for path in (self.top / 'tests', self.top / 'tests/proofs', folder):
            (path / '__init__.py').touch()
        (folder / 'test_toy.py').write_text(TOY)
        (folder.parent / 'stestr.conf').write_text(
            pathlib.Path(proofs.__file__).with_name('stestr.conf').read_text())
        self.results, self.down = self.top / 'results', []
        for holder, name, value in (
                (command, 'TOP', self.top),
                (command, 'PROOFS', {'toy': command.Proof('nothing', Box)}),
                (sandbox.Box, 'down', lambda box, progress:
                 self.down.append(box.directory.name))):
            self.useFixture(fixtures.MockPatchObject(holder, name, value))
        for name, value in (('TOY', str(os.getpid())),
                            (f'{proofs.PREFIX}FOLDER', None),
                            (f'{proofs.PREFIX}RESULTS', None)):
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        said = self.enterContext(open(self.top / 'said', 'wb'))
        self.enterContext(proofs.printing_to(said.fileno()))

    def call(self, *words):
        return command.main(['toy', '--results', str(self.results), *words])

    def test_a_case_that_fails_is_reported_and_what_is_mine_stays(self):
        self.assertEqual(1, self.call('right|wrong', '--directory',
                                      str(self.top / 'mine')))
        self.assertEqual([], self.down)

        self.assertEqual(0, self.call('right'))
        self.assertEqual(['box'], self.down)

    def test_sigterm_ends_cases_and_takes_down(self):
        self.addCleanup(signal.signal, signal.SIGTERM,
                        signal.getsignal(signal.SIGTERM))
        proofs.take_down_at_the_end()

        e = self.assertRaises(SystemExit, self.call, 'right|slow')

        self.assertEqual(143, e.code)
        self.assertTrue((self.results / 'ended').exists())
        self.assertEqual(['box'], self.down)


class RealProofsTest(testtools.TestCase):

    def test_each_has_cases_and_ports_of_its_own(self):
        here = pathlib.Path(proofs.__file__).parent
        for name in command.PROOFS:
            loader = unittest.TestLoader()
            found = list(testtools.iterate_tests(loader.discover(
                str(here / name.replace('-', '_')),
                top_level_dir=str(command.TOP))))

            self.assertEqual([], loader.errors)
            self.assertNotEqual([], found)
        self.assertEqual(
            {name.replace('-', '_') for name in command.PROOFS},
            {path.parent.name for path in here.glob('*/test_*.py')})
        ports = [proof.box.port_base for proof in command.PROOFS.values()
                 if proof.box]
        self.assertEqual(len(ports), len({*ports}))
