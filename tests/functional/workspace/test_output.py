# SPDX-License-Identifier: Apache-2.0
"""What is on the terminal while Tempest runs, and where the rest is."""

import pathlib
import re
import subprocess
import sys

import fixtures
import testtools

from tests.functional.workspace import fake_suite
from tests.functional.workspace import verbose

#: Lines of a run beside those of its failures: progress, counts, facts, the
#: slowest tests, the report.
REST = 30


class OutputTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        temporary = fixtures.TempDir()
        temporary.setUp()
        cls.addClassCleanup(temporary.cleanUp)
        cls.base = pathlib.Path(temporary.path)
        cls.results = cls.base / 'results'
        workspace = fake_suite.lay_out(cls.base, 'verbose')
        cls.ran = subprocess.run(
            [*fake_suite.command(workspace, '--output', cls.results)],
            text=True, capture_output=True, timeout=300, check=False)

    def paths(self, text):
        """Paths in a text that exist."""
        return [path for path in map(pathlib.Path, re.findall(
            r'(?<!\S)/\S+', text)) if path.is_file()]

    def assert_short(self, said):
        self.assertLessEqual(len(said.splitlines()), 2 * 20 + REST)
        for part in verbose.WHY, verbose.SEEN:
            self.assertLessEqual(2, said.count(part))

    def assert_has_all(self, path, name):
        text = path.read_text()
        self.assertIn(f'VerboseTest.{name}', text)
        self.assertIn(verbose.SEEN, text)
        self.assertIn(f'Request number {verbose.LINES - 1}', text)
        for detail in 'cluster of c1', 'Magnum logs of c1':
            self.assertIn(f'{detail}: {verbose.LAST}', text)

    def test_a_failure_is_a_reason_and_a_path(self):
        self.assertEqual(1, self.ran.returncode)
        self.assert_short(self.ran.stdout + self.ran.stderr)

    def test_the_path_has_all_of_it(self):
        # Each failed test is followed by its reason and by its path.
        _, *told = re.split(r'\n✗ \S*\.(test_\w+)', self.ran.stdout)
        names = told[::2]

        self.assertEqual(
            {'test_fails', 'test_fails_with_a_long_message'}, set(names))
        for name, text in zip(names, told[1::2]):
            self.assert_has_all(self.paths(text)[0], name)

    def test_the_tests_are_counted(self):
        self.assertRegex(self.ran.stderr, r'4 of 4\b')
        self.assertRegex(self.ran.stderr, r'\b2 failed')

    def test_report_show_is_as_short(self):
        shown = subprocess.run(
            [sys.executable, '-m', 'magnum_capi.cli.main', 'report', 'show',
             self.results / 'run.subunit', '--output', self.base / 'again'],
            text=True, capture_output=True, timeout=300, check=False)

        self.assertEqual(1, shown.returncode)
        self.assert_short(shown.stdout + shown.stderr)
        self.assertTrue(self.paths(shown.stdout))
