# SPDX-License-Identifier: Apache-2.0


from concurrent import futures
import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.toolchain import leftovers
from tests.unit.conformance.run import run_box


def command(go_on=False, **plan):
    return hydrophone.Commands('/h', '/k').run(
        runner.Plan(**plan), '/out', go_on)


class TestCommands(testtools.TestCase):

    def test_modes(self):
        certified = command(mode=model.CERTIFIED)
        self.assertEqual(['/h', '--kubeconfig', '/k', '--namespace',
                          'conformance', '--output-dir', '/out'],
                         certified[:7])
        self.assertEqual('--conformance', certified[-1])
        self.assertIn('--focus=Pods should be submitted and removed',
                      command(mode=model.QUICK))
        self.assertIn(r'--skip=\[Disruptive\]|NoExecuteTaintManager',
                      command())

    def test_a_run_that_is_there_is_not_begun_again(self):
        argv = command(True, mode=model.CERTIFIED)

        self.assertIn('--continue', argv)
        self.assertNotIn('--conformance', argv)

    def test_the_namespace_is_there_where_it_can_be(self):
        skip = '--skip-preflight=namespace'

        self.assertIn(skip, command())
        self.assertNotIn(skip, command(go_on=True))
        self.assertNotIn(skip, command(
            images=runner.Images(mirrors=pathlib.Path('/m'))))

    def test_options(self):
        argv = ' '.join(command(
            parallel=2, kubernetes='v1.34.9',
            env=(('E2E_EXTRA_ARGS', '--a=1 --b=2'),),
            images=runner.Images(busybox='r/b', mirror='r/m')))

        for words in ('--parallel 2', '--extra-args=--a=1 --extra-args=--b=2',
                      '--busybox-image r/b', '--test-repo r/m',
                      '--conformance-image registry.k8s.io/'
                      'conformance:v1.34.9'):
            self.assertIn(words, argv)

    def test_what_it_cannot_do_is_refused(self):
        for plan in ({'images': runner.Images(sonobuoy='x')},
                     {'images': runner.Images(pull_policy='Never')},
                     {'node_selector': (('a', 'b'),)},
                     {'mode': model.LITE},
                     {'env': (('A', 'b'),)},
                     {'env': (('E2E_EXTRA_ARGS', '--a=b,c'),)}):
            self.assertRaises(errors.UsageError, hydrophone.refuse,
                              runner.Plan(**plan))


class TestRun(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.program = hydrophone.Hydrophone(
            hydrophone.Commands('/h', '/k'))

    def calls(self, **writes):
        def run(argv, **kwargs):
            folder = pathlib.Path(argv[argv.index('--output-dir') + 1])
            for name, content in writes.items():
                file = {'log': 'e2e.log', 'junit': 'junit_01.xml'}[name]
                (folder / file).write_bytes(content)
            raise errors.CommandFailed(argv, 1, 'exit status 1')

        patch = mock.patch.object(processes, 'run', run)
        patch.start()
        self.addCleanup(patch.stop)

    def test_failed_tests_are_no_failure_of_hydrophone(self):
        self.calls(log=run_box.LOG, junit=run_box.JUNIT)

        self.program.run(runner.Plan(), self.folder)

        self.assertEqual(
            ['e2e.log', 'junit_01.xml'],
            sorted(path.name for path in self.folder.iterdir()))

    def test_one_that_outlives_its_command_can_be_ended(self):
        program = self.folder / 'program'
        program.write_text('#!/bin/sh\n: > "$(dirname "$0")/begun"\n'
                           'exec sleep 60\n')
        program.chmod(0o700)
        output = self.folder / 'r'
        self.program = hydrophone.Hydrophone(
            hydrophone.Commands(str(program), '/k'))
        with futures.ThreadPoolExecutor(1) as pool:
            run = pool.submit(self.program.run, runner.Plan(), output)
            waiting.wait_for((self.folder / 'begun').exists, done=bool,
                             timeout=10, what='the program to begin')

            leftovers.end(output)

            self.assertRaises(errors.CommandFailed, run.result, 10)

    def test_one_file_is_not_enough(self):
        self.calls(log=run_box.LOG)

        self.assertRaises(errors.CommandFailed, self.program.run,
                          runner.Plan(), self.folder)
