# SPDX-License-Identifier: Apache-2.0


import io
import pathlib
from unittest import mock

import fixtures
import rich.console
import testtools

from magnum_capi import errors
from magnum_capi_tempest.cli import conformance_run as cli
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import foreign
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import outcome
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import magnum_cloud
from tests.unit import own_folders

RUN = runs.Run('r1', runs.Target('c1'), runner.Plan(), '/results')


def ended(specs=(), infra=()):
    ran = len(specs)
    result = model.Result('r1', '/x', specs=specs, infra_errors=infra,
                          mode=model.QUICK, log=model.Log(ran, ran))
    return outcome.Outcome(RUN, result, verdict.judge(result),
                           pathlib.Path('/x'))


class CommandsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.err = self.useFixture(fixtures.StringStream('err')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', self.err))
        self.useFixture(fixtures.EnvironmentVariable('OS_CLOUD', 'mine'))

    def call(self, command, *argv):
        """Exit code and standard output."""
        app = mock.Mock(stdout=io.StringIO(), options=mock.Mock(debug=False))
        made = command(app, None)
        with mock.patch('sys.stdout', app.stdout):
            code = made.run(made.get_parser('x').parse_args(argv))
        return code, app.stdout.getvalue()

    def patch(self, name, **kwargs):
        return self.useFixture(fixtures.MockPatchObject(
            lifecycle, name, mock.Mock(**kwargs))).mock

    def test_codes_of_verdicts(self):
        passed = model.Spec('[sig-x] a', model.PASSED)
        failed = model.Spec('[sig-x] b', model.FAILED)
        infra = model.InfraError('timeout', 'e2e', 'timeout')
        for result, code, word in (
                (ended((passed,)), 0, 'PASSED'),
                (ended((passed, failed)), 1, 'FAILED'),
                (ended(()), 3, 'INCOMPLETE'),
                (ended((), (infra,)), 3, 'HARNESS ERROR')):
            out = io.StringIO()
            self.assertEqual(code, cli.show(result, rich.console.Console(
                file=out, width=80)), word)
            self.assertIn(word, out.getvalue().upper())

    def test_an_error_is_the_harness(self):
        for error, code in (
                (errors.CommandFailed(['sonobuoy'], 1, 'boom'), 3),
                (errors.WaitTimeout('x'), 3),
                (errors.EnvironmentProblem('x'), 3),
                (errors.UsageError('x'), 2)):
            self.patch('resume', side_effect=error)
            self.assertEqual(code, self.call(cli.Resume)[0], error)

    def test_interrupted(self):
        self.patch('resume', side_effect=KeyboardInterrupt)

        self.assertEqual(130, self.call(cli.Resume)[0])

    def test_failed_tests_keep_their_code(self):
        self.patch('resume', return_value=ended(
            (model.Spec('a', model.FAILED),)))

        self.assertEqual(1, self.call(cli.Resume, 'r1')[0])

    def wished(self, *argv):
        made = cli.Run(mock.Mock(), None)
        return cli.request_of(made.get_parser('x').parse_args(argv))

    def test_the_least(self):
        request = self.wished('--cluster', 'c1')

        self.assertEqual(runs.Target('c1', 'mine'), request.target)
        self.assertEqual(runner.Plan(), request.plan)
        self.assertTrue(request.results.is_absolute())

    def test_all_of_it(self):
        request = self.wished(
            '--kubeconfig', 'k', '--test', '[sig-x] a', '--test', 'b',
            '--skip', 's', '--parallel', '4', '--env', 'A=b=c',
            '--registry-mirror', 'r', '--image-pull-policy', 'Never',
            '--aggregator-node', 'a/b=c', '--timeout', '60', '--stall', '30',
            '--namespace', 'n', '--replace', '--keep', '--name', 'r1')

        self.assertEqual(runner.Plan(
            mode=model.FOCUSED, focus=('[sig-x] a', 'b'), skip='s',
            parallel=4, env=(('A', 'b=c'),), images=runner.Images(
                mirror='r', pull_policy='Never'),
            node_selector=(('a/b', 'c'),), namespace='n', timeout=60,
            stall=30), request.plan)
        self.assertEqual((True, True, 'r1'),
                         (request.replace, request.keep, request.name))
        self.assertTrue(request.target.kubeconfig.startswith('/'))

    def test_a_cloud_needs_a_cluster(self):
        self.assertRaises(errors.UsageError, self.wished, '--kubeconfig',
                          'k', '--os-cloud', 'x')

    def test_kubeconfigs_of_the_environment(self):
        self.useFixture(fixtures.EnvironmentVariable('KUBECONFIG', '/a::/b'))

        self.assertEqual(runs.Target(kubeconfig='/a:/b'),
                         self.wished().target)
        self.assertEqual(runs.Target(kubeconfig='/a:/b', context='x'),
                         self.wished('--context', 'x').target)
        self.assertEqual(runs.Target(kubeconfig='/k', context='x'),
                         self.wished('--kubeconfig', '/k', '--context',
                                     'x').target)

    def test_no_cluster_at_all(self):
        self.useFixture(fixtures.EnvironmentVariable('KUBECONFIG'))
        for argv in (), ('--context', 'x'):
            error = self.assertRaises(errors.UsageError, self.wished, *argv)
            self.assertIn('KUBECONFIG', str(error))
        self.assertRaises(errors.UsageError, self.wished, '--cluster', 'c',
                          '--context', 'x')

    def test_logs_are_harmless(self):
        logs = self.patch('logs', return_value=(
            'a\nb\x1b[31m\nAuthorization: Bearer abc.def-ghi123456\n'))

        code, out = self.call(cli.Logs, 'r1')
        self.assertEqual((0, ['a', 'b']), (code, out.splitlines()[:2]))
        self.assertNotIn('abc.def', out)
        self.assertEqual(('r1', 'e2e'), logs.call_args[0][::2])

    def test_logs_that_are_followed(self):
        follow = self.patch('follow', side_effect=lambda *_: iter(
            ['a\n\x1b[31mb\n', 'Authorization: Bearer abc.def-ghi123456\n']))

        code, out = self.call(cli.Logs, 'r1', '-f', '--plugin', 'sonobuoy')
        self.assertEqual((0, ['a', 'b']), (code, out.splitlines()[:2]))
        self.assertNotIn('abc.def', out)
        self.assertEqual(('r1', 'sonobuoy'), follow.call_args[0][::2])

    def chosen(self, *argv):
        look = self.patch('status', return_value=(RUN, None))
        self.call(cli.Status, *argv)
        return look.call_args and look.call_args[0][0]

    def test_which_run(self):
        self.useFixture(own_folders.OwnFolders())
        self.useFixture(fixtures.EnvironmentVariable('KUBECONFIG', '/e'))
        environment = runs.Target(kubeconfig='/e')
        self.assertEqual('r1', self.chosen('r1'))
        for argv, where in (
                ((), foreign.Where(environment)),
                (('--namespace', 'n'), foreign.Where(environment, 'n')),
                (('--kubeconfig', '/k', '--context', 'c'), foreign.Where(
                    runs.Target(kubeconfig='/k', context='c'))),
                (('--cluster', 'c1'), foreign.Where(
                    runs.Target('c1', 'mine')))):
            self.assertEqual(where, self.chosen(*argv), argv)
        runs.Store().save(RUN)
        self.assertIsNone(self.chosen())
        self.assertIsNone(self.chosen('r1', '--kubeconfig', '/k'))

    def test_nobody_elses_run_is_ended_unless_its_cluster_is_named(self):
        self.useFixture(own_folders.OwnFolders())
        self.useFixture(fixtures.EnvironmentVariable('KUBECONFIG', '/e'))
        abort = self.patch('abort')

        self.call(cli.Abort)
        self.assertIsNone(abort.call_args[0][0])
        self.call(cli.Abort, '--namespace', 'n')
        self.assertEqual(runs.Target(kubeconfig='/e'),
                         abort.call_args[0][0].target)

    def test_a_dry_run_quotes_for_the_shell(self):
        self.useFixture(magnum_cloud.Cloud('c1'))
        run = self.patch('run')
        code, out = self.call(cli.Run, '--dry-run', '--cluster', 'c1',
                              '--focus', 'a b')

        self.assertEqual(0, code)
        self.assertIn("'--e2e-focus=a b'", out)
        run.assert_not_called()

    def test_status_of_a_run_that_is_stuck(self):
        state = watch.Watch(0, 0, 0, outcome=completion.STUCK,
                            reason='no image')
        self.patch('status', return_value=(RUN, state))

        code, out = self.call(cli.Status)
        self.assertEqual(3, code)
        self.assertIn('no image', out)

    def test_status_of_a_run_that_goes_on(self):
        self.patch('status', return_value=(RUN, watch.Watch(0, 0, 0)))

        code, out = self.call(cli.Status)
        self.assertEqual(0, code)
        self.assertIn('r1: planned', out)
