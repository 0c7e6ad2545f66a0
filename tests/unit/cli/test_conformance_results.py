# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance results``: what a person and a CI job see."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys

import fixtures
import testtools

from magnum_capi.cli import main
from magnum_capi_tempest.cli import conformance_results
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import lines
from magnum_capi_tempest.conformance.results import damage
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand

ESCAPES = 'a\x1b]0;title\x07\x9b2J\nb'


class ResultsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'run.tar.gz'

    def show(self, data=None, **kwargs):
        """Exit code and output for an archive."""
        if data is not None:
            self.path.write_bytes(data)
        stream = io.StringIO()
        code = conformance_results.show(self.path, stream=stream, **kwargs)
        return code, stream.getvalue()

    def test_a_passed_run(self):
        code, out = self.show(archives.good())

        self.assertEqual(0, code)
        self.assertThat(out, testtools.matchers.StartsWith('PASSED: run\n'))
        self.assertIn('1 spec ran in 3 s: 1 passed; 0 skipped', out)
        self.assertIn('It does not certify the cluster:', out)

    def test_a_failed_run(self):
        code, out = self.show(archives.good(**{
            archives.LOG: archives.log(1, 0, 1, 1),
            archives.JUNIT: archives.junit(archives.case(
                '[It] [sig-a] b', 'failed', '<failure>[FAILED] why'
                '\n\n1\n2\n3</failure>'))}))

        self.assertEqual(1, code)
        self.assertThat(out, testtools.matchers.StartsWith(
            'FAILED: run: 1 of 1 specs failed\n'))
        self.assertIn('✗ [sig-a] b\n    [FAILED] why\n    1\n    2\n\n', out)

    def test_incomplete_and_harness_error(self):
        error = {'plugins/e2e/errors/global/error.json':
                 b'{"error":"timeout waiting for results"}'}
        for changes in ({archives.LOG: None}, error):
            found, out = self.show(archives.good(**changes))
            self.assertEqual(3, found, out)
            self.assertRegex(out, r'\A(INCOMPLETE|HARNESS ERROR): run')

    def test_json(self):
        code, out = self.show(archives.good(), as_json=True)

        document = json.loads(out)
        self.assertEqual(('passed', code), (document['outcome'],
                                            document['exit_code']))
        self.assertEqual({'failed': 0, 'unfinished': 0, 'skipped': 0,
                          'passed': 1}, document['counts'])

    def test_without_the_check_of_the_rest(self):
        code, out = self.show(archives.broken_behind_results(),
                              verified=True)

        self.assertEqual(0, code)
        self.assertIn('the record was not read to its end', out)

    def test_broken_archives_raise_the_error_of_exit_code_3(self):
        error = self.assertRaises(damage.Damage, self.show, b'x')

        self.assertEqual(3, error.exit_code)

    def test_the_command_line(self):
        self.path.write_bytes(archives.good())
        for flags in ([], ['--no-verify']):
            with self.subTest(flags), \
                    contextlib.redirect_stdout(io.StringIO()) as out:
                code = main.main(['conformance', 'results', *flags,
                                  str(self.path)])
                self.assertEqual(0, code)
                self.assertIn('PASSED: run\n', out.getvalue())
        self.assertEqual([self.path], list(self.folder.iterdir()))

    def test_a_reader_that_has_gone(self):
        self.path.write_bytes(archives.good())
        with subprocess.Popen(
                [sys.executable, '-m', main.__name__, 'conformance',
                 'results', self.path], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True) as process:
            process.stdout.close()
            err = process.stderr.read()

        self.assertEqual((141, ''), (process.returncode, err))

    def test_a_terminal_gets_colours(self):
        self.useFixture(fixtures.EnvironmentVariable('TERM', 'xterm'))
        self.useFixture(fixtures.EnvironmentVariable('NO_COLOR', None))
        stream = io.StringIO()
        stream.isatty = lambda: True
        self.path.write_bytes(archives.good())

        conformance_results.show(self.path, stream=stream)

        self.assertRegex(stream.getvalue(), '\x1b\\[1;32mPASSED: run')


class LinesTest(testtools.TestCase):

    def shown(self, result):
        return [line for line, _ in lines.lines(result,
                                                by_hand.judged(result))]

    def test_nothing_that_a_terminal_obeys(self):
        result = by_hand.result(
            by_hand.failed(ESCAPES, ESCAPES), title=ESCAPES,
            problems=(ESCAPES,),
            infra_errors=(model.InfraError(ESCAPES, ESCAPES, ESCAPES),),
            plugins=(model.PluginResult(ESCAPES, ESCAPES, {ESCAPES: 1}),),
            cluster=model.Cluster(ESCAPES, (), '', ESCAPES, ESCAPES))

        for line in self.shown(result):
            self.assertNotRegex(line, '[\x00-\x1f\x7f-\x9f]')

    def test_many_failures_are_cut(self):
        shown = self.shown(by_hand.result(
            *(by_hand.failed(f's{n}') for n in range(60))))

        self.assertIn('... and 10 more', shown)
        self.assertNotIn('✗ s55', shown)

    def test_infra_errors_stand_apart(self):
        shown = self.shown(by_hand.result(
            by_hand.passed('a'), infra_errors=(
                model.InfraError('lost', 'e2e', 'node gone'),)))

        self.assertIn('  lost, e2e: node gone', shown)
        self.assertThat(shown[0],
                        testtools.matchers.StartsWith('HARNESS ERROR'))

    def test_stand_ins_are_named(self):
        shown = self.shown(by_hand.real(by_hand.PARALLEL))

        self.assertTrue(any('stand-ins, so this proves nothing' in line
                            for line in shown))
