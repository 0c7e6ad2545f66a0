# SPDX-License-Identifier: Apache-2.0
"""The commands: what they print, write and end with."""

import dataclasses
import json
import pathlib
import shutil
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.cli import conformance_report as cli
from magnum_capi_tempest.cli import conformance_run
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict
from tests.unit.cli import terminal
from tests.unit.conformance import by_hand
from tests.unit.conformance import magnum_cloud


class TestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(self.folder / 'state')))
        read = archive.read
        self.useFixture(fixtures.MockPatchObject(
            archive, 'read', lambda path, **kwargs: by_hand.real(path)
            if path.parent == by_hand.ARCHIVES and not kwargs['copy_to']
            else read(path, **kwargs)))

    def call(self, command, *argv):
        """Exit code, standard output and standard error of a command."""
        return terminal.command(command, *argv)


class ReportTest(TestCase):

    def test_report_writes_what_was_asked_for(self):
        folder = self.folder / 'all'

        for says in True, False:
            _, out, err = self.call(
                cli.Report, by_hand.PARALLEL, '--rerun', by_hand.RERUN,
                '--output', folder, '-f', 'json')

            # A folder is not made silently.
            self.assertEqual(says, f'made the folder {folder}' in err)

        self.assertEqual(4, len(json.loads(out)['conformance']['reruns']))
        self.assertIn('STAND-IN IMAGES', self.call(
            cli.Report, by_hand.PARALLEL, '-f', 'html')[1])
        self.assertEqual(
            ['junit.xml', 'report.html', 'report.json', 'report.md'],
            sorted(p.name for p in folder.iterdir()))

    def test_report_publishes_copies_without_secrets(self):
        folder = self.folder / 'public'

        code, out, err = self.call(
            cli.Report, by_hand.PARALLEL, '--publish', folder,
            '--rerun', by_hand.RERUN)

        self.assertEqual(1, code)
        self.assertIn('FAILED: conformance-parallel', out)
        self.assertIn('secrets were redacted', err)
        self.assertEqual(
            ['e2e.log', 'junit_01.xml', 'redacted.json', 'report.html',
             'report.json'], sorted(p.name for p in folder.iterdir()))
        self.assertEqual(4, len(json.loads((folder / 'report.json').read_text(
        ))['conformance']['reruns']))


class CompareTest(TestCase):

    def test_compare(self):
        folder = self.folder / 'all'

        code, out, _ = self.call(cli.Compare, by_hand.RERUN,
                                 f'{by_hand.PARALLEL},driver=d',
                                 '-f', 'markdown', '--output', folder)

        self.assertEqual(1, code)
        self.assertIn('## ❌ Comparison of conformance runs: 4 new failures',
                      out)
        self.assertIn('4 of 388 specs failed (d, v1.34.9)', out)
        self.assertEqual(
            ['comparison.html', 'comparison.json', 'comparison.md'],
            sorted(p.name for p in folder.iterdir()))

    def test_compare_without_new_failures(self):
        for after, wanted in (by_hand.PARALLEL, 0), (by_hand.RERUN, 3):
            code, _, _ = self.call(cli.Compare, by_hand.PARALLEL, after)

            self.assertEqual(wanted, code)


class RerunTest(TestCase):

    def again(self, *argv):
        return self.call(conformance_run.Run, '--rerun', by_hand.PARALLEL,
                         *argv)

    def test_rerun_previews(self):
        self.useFixture(magnum_cloud.Cloud('c1'))

        code, out, _ = self.again('--cluster', 'c1', '--dry-run')

        self.assertEqual(0, code)
        self.assertIn('^Kubernetes e2e suite *(', out)

    def rerun(self, result, *argv):
        ended = verdict.judge(result)
        with mock.patch.object(lifecycle, 'run', return_value=ended):
            return self.again('--kubeconfig', '/k', *argv)

    def test_rerun_tells_flakes_and_keeps_the_verdict(self):
        code, out, _ = self.rerun(by_hand.real(by_hand.RERUN))

        self.assertEqual(0, code)
        self.assertIn('The verdict of the first run remains: '
                      'FAILED: 4 of 388 specs failed', out)
        self.assertEqual(4, out.count('flaky: [sig-node]'))

    def test_rerun_that_ran_something_else(self):
        code, out, _ = self.rerun(by_hand.real(by_hand.QUICK))

        self.assertEqual(3, code)
        self.assertIn('Not exactly these specs ran', out)

    def test_rerun_is_that_of_the_first_run(self):
        """Its options are not known if it was started elsewhere."""
        record = pathlib.Path(shutil.copy(by_hand.PARALLEL, self.folder))
        first = runs.Run(
            self.folder, runs.Target(kubeconfig='/k'),
            runner.Plan(parallel=3, skip='ConfigMap'), archive=record.name,
            started='2026-11-21T09:00:00+00:00',
            sha256=archive.checksum(record))
        result = by_hand.real(by_hand.RERUN)
        ended = verdict.judge(result)
        for elsewhere, processes in ((False, 3), (True, 1)):
            runs.save(dataclasses.replace(first, elsewhere=elsewhere))
            with mock.patch.object(lifecycle, 'run',
                                   return_value=ended) as run:
                code, out, _ = self.call(
                    conformance_run.Run, '--rerun', self.folder)

            request, = run.call_args_list[0].args[:1]
            self.assertEqual(
                (first.target, processes, model.FOCUSED, ''),
                (request.target, request.plan.parallel, request.plan.mode,
                 request.plan.skip))
            self.assertEqual((0, False), (code, 'None' in out))

    def test_other_options_of_a_rerun(self):
        """They count, also one that is a default; tests are not chosen."""
        record = pathlib.Path(shutil.copy(by_hand.PARALLEL, self.folder))
        runs.save(runs.Run(
            self.folder, runs.Target(kubeconfig='/k'), runner.Plan(
                parallel=3, timeout=9, images=runner.Images(
                    sonobuoy='m', conformance='c')),
            archive=record.name, started='2026-11-21T09:00:00+00:00',
            sha256=archive.checksum(record)))
        with mock.patch.object(
                lifecycle, 'run', return_value=verdict.judge(
                    by_hand.real(by_hand.RERUN))) as run:
            self.call(conformance_run.Run, '--rerun', self.folder,
                      '--parallel', '1', '--namespace', 'n',
                      '--conformance-image', 'd', '--backend', 'hydrophone')
            for option in '--mode=quick', '--focus=x', '--test=x', '--skip=x':
                code, _, err = self.call(conformance_run.Run, '--rerun',
                                         self.folder, option)
                self.assertEqual(2, code)
                self.assertIn('--rerun', err)

        request, = [call.args[0] for call in run.call_args_list]
        self.assertEqual(
            (1, 9, 'n', runner.Images(sonobuoy='m', conformance='d')),
            (request.plan.parallel, request.plan.timeout,
             request.plan.namespace, request.plan.images))
        self.assertEqual(model.HYDROPHONE, request.backend)
