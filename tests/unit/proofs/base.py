# SPDX-License-Identifier: Apache-2.0

"""Runs a case of a proof, without its sandbox."""

import csv
import pathlib
import signal
import unittest

import fixtures
import testtools

from tests import proofs
from tests.proofs import boxes


class CaseTest(testtools.TestCase):
    """``folder`` and ``results`` are those of a run."""

    def setUp(self):
        super().setUp()
        top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.folder, self.results = top / 'folder', top / 'results'
        for name in 'folder', 'results':
            getattr(self, name).mkdir()
            self.useFixture(fixtures.EnvironmentVariable(
                f'{proofs.PREFIX}{name.upper()}', str(getattr(self, name))))
        # Cases set it.
        self.addCleanup(signal.signal, signal.SIGTERM,
                        signal.getsignal(signal.SIGTERM))

    def run_case(self, kind, box, **scenario):
        """Whether it passed, what it judged, and its rows.

        :param kind: class, with one test.
        :param box: what it is given for its sandbox.
        :param scenario: attributes.
        """
        name, = (name for name in dir(kind) if name.startswith('test_'))
        case = kind(name)
        vars(case).update(scenario)
        with fixtures.MockPatchObject(boxes, 'shared', lambda *args: box):
            result = unittest.TestResult()
            case.run(result)
        self.assertEqual([], result.errors)
        texts = [detail.as_text() for name, detail
                 in sorted(case.getDetails().items())
                 if name.startswith('verdict')]
        rows = []
        for path in (self.results / 'rows').glob('*.csv'):
            with open(path, newline='') as file:
                head, *rows = csv.reader(file)
            self.assertEqual(list(kind.columns), head)
        return result.wasSuccessful(), texts, rows
