# SPDX-License-Identifier: Apache-2.0

"""What cases tell: in a table, and by their own result."""

import pathlib
import signal
import unittest

import fixtures
import testtools

from tests import proofs
from tests.proofs import case
from tests.proofs import tables


class _Case(case.ProofTest):

    columns = ('What', 'Right')

    def test_right(self):
        self.judge(True, ('right', 'yes'))

    def test_wrong(self):
        self.judge(False, ('wrong', 'no'), 'and why')
        self.judge(True, ('after it', 'yes'))


def load_tests(loader, tests, pattern):
    """Without the case above."""
    return loader.loadTestsFromTestCase(JudgeTest)


class JudgeTest(testtools.TestCase):

    def test_one_wrong_observation_fails_a_case_at_its_end(self):
        # Cases set it.
        self.addCleanup(signal.signal, signal.SIGTERM,
                        signal.getsignal(signal.SIGTERM))
        results = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            f'{proofs.PREFIX}RESULTS', str(results)))
        passed = {}
        for name in 'test_right', 'test_wrong':
            result = unittest.TestResult()
            _Case(name).run(result)
            passed[name] = result.wasSuccessful()

        self.assertEqual({'test_right': True, 'test_wrong': False}, passed)
        self.assertIn('What: wrong\nRight: no\nand why',
                      result.failures[0][1])
        tables.collect(results)
        self.assertEqual(
            'What,Right\nright,yes\nwrong,no\nafter it,yes\n',
            (results / 'table.csv').read_text())
