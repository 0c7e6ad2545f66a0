# SPDX-License-Identifier: Apache-2.0


import dataclasses
import io
import json
import pathlib
from unittest import mock

import fixtures
import rich.console
import testtools

from magnum_capi import errors
from magnum_capi_tempest.cli import conformance_run as cli
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import elsewhere
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance import verdict
from tests.unit.cli import terminal
from tests.unit.conformance import magnum_cloud

RUN = runs.Run(pathlib.Path('/r1'), runs.Target('c1'), runner.Plan())


def ended(specs=(), infra=()):
    ran = len(specs)
    result = model.Result('r1', '/x', specs=specs, infra_errors=infra,
                          mode=model.QUICK, log=model.Log(ran, ran))
    return verdict.judge(result)


class CommandsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.EnvironmentVariable('OS_CLOUD', 'mine'))

    def call(self, command, *argv):
        """Exit code and standard output."""
        return terminal.command(command, *argv)[:2]

    def patch(self, name, **kwargs):
        return self.useFixture(fixtures.MockPatchObject(
            lifecycle, name, mock.Mock(**kwargs))).mock

    def test_codes_of_verdicts(self):
        passed = model.Spec('[sig-x] a', model.PASSED)
        failed = model.Spec('[sig-x] b', model.FAILED)
        infra = model.InfraError('e2e', 'timeout')
        for result, code, word in (
                (ended((passed,)), 0, 'PASSED'),
                (ended((passed, failed)), 1, 'FAILED'),
                (ended(()), 3, 'INCOMPLETE'),
                (ended((), (infra,)), 3, 'HARNESS ERROR')):
            out = io.StringIO()
            self.assertEqual(code, cli.show(result, rich.console.Console(
                file=out, width=80)), word)
            self.assertIn(word, out.getvalue().upper())

    def wished(self, *argv):
        made = cli.Run(mock.Mock(), None)
        return cli.request_of(made.get_parser('x').parse_args(argv))

    def test_the_least(self):
        request = self.wished('--cluster', 'c1')

        self.assertEqual(runs.Target('c1', 'mine'), request.target)
        self.assertEqual(runner.Plan(), request.plan)
        self.assertTrue(request.folder.is_absolute())
        self.assertTrue(request.folder.name.startswith('conformance-c1-'))

    def test_all_of_it(self):
        request = self.wished(
            '--kubeconfig', 'k', '--test', '[sig-x] a', '--test', 'b',
            '--skip', 's', '--parallel', '4', '--env', 'A=b=c',
            '--conformance-image', 'r', '--image-pull-policy', 'Never',
            '--aggregator-node', 'a/b=c', '--timeout', '60', '--stall', '30',
            '--namespace', 'n', '--keep', '--output', 'r1')

        self.assertEqual(runner.Plan(
            mode=model.FOCUSED, skip='s',
            expression=r'^Kubernetes e2e suite *(\[sig-x\] +a|b) *$',
            parallel=4, env=(('A', 'b=c'),), images=runner.Images(
                conformance='r', pull_policy='Never'),
            node_selector=(('a/b', 'c'),), namespace='n', timeout=60,
            stall=30), request.plan)
        self.assertEqual((True, pathlib.Path('r1').absolute()),
                         (request.keep, request.folder))
        self.assertTrue(request.target.kubeconfig.startswith('/'))

    def test_names_and_an_expression_exclude_each_other(self):
        self.assertRaises(errors.UsageError, self.wished, '--cluster', 'c1',
                          '--test', 'a', '--focus', 'b')

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

    def chosen(self, command, verb, *argv):
        """What a command acts on; None if it is refused."""
        patched = self.patch(verb, return_value=(RUN, None))
        self.call(command, *argv)
        return patched.call_args and patched.call_args[0][0]

    def test_which_run(self):
        self.useFixture(fixtures.EnvironmentVariable('KUBECONFIG', '/e'))
        environment = runs.Target(kubeconfig='/e')
        for command, verb, more in ((cli.Attach, 'observe', ('--once',)),
                                    (cli.Abort, 'abort', ())):
            for argv, where in (
                    # That of $KUBECONFIG only if it is named.
                    ((), pathlib.Path('.')), (('r1',), pathlib.Path('r1')),
                    (('--namespace', 'n'),
                     elsewhere.Elsewhere(environment, 'n')),
                    (('--kubeconfig', '/k', '--context', 'c'),
                     elsewhere.Elsewhere(
                         runs.Target(kubeconfig='/k', context='c'))),
                    (('--cluster', 'c1'), elsewhere.Elsewhere(
                        runs.Target('c1', 'mine'))),
                    (('r1', '--kubeconfig', '/k'), None)):
                self.assertEqual(where, self.chosen(
                    command, verb, *more, *argv), argv)

    def test_where_its_results_go(self):
        where = self.chosen(cli.Attach, 'observe', '--once', '--cluster', 'c1',
                            '--output', 'x', '--remove')
        self.assertEqual((pathlib.Path('x').absolute(), True),
                         (where.folder, where.remove))
        for argv in (('r1', '--output', 'x'), ('--remove',), ('-f', 'json')):
            self.assertIsNone(self.chosen(cli.Attach, 'observe', *argv))

    def test_only_the_preflight(self):
        check, run = self.patch('check'), self.patch('run')

        code, out = self.call(cli.Run, '--preflight', '--cluster', 'c1')

        self.assertEqual((0, ''), (code, out))
        self.assertEqual(runs.Target('c1', 'mine'),
                         check.call_args[0][0].target)
        run.assert_not_called()
        self.patch('check', side_effect=errors.EnvironmentProblem('no node'))
        self.assertEqual(3, self.call(
            cli.Run, '--preflight', '--cluster', 'c1')[0])

    def test_a_dry_run_quotes_for_the_shell(self):
        self.useFixture(magnum_cloud.Cloud('c1'))
        run = self.patch('run')
        code, out = self.call(cli.Run, '--dry-run', '--cluster', 'c1',
                              '--focus', 'a b')

        self.assertEqual(0, code)
        self.assertIn("'--e2e-focus=a b'", out)
        run.assert_not_called()

    def once(self, state, *argv, run=RUN):
        self.patch('observe', return_value=(run, state))
        return self.call(cli.Attach, '--once', *argv)

    def test_once(self):
        """A verdict is only made of whole results."""
        going = watch.start(0, 60)
        stuck = dataclasses.replace(going, outcome=watch.STUCK,
                                    reason='no image', notes=('a note',))
        done = dataclasses.replace(going, outcome=watch.COMPLETE)
        for state, words in ((going, 'starting, '), (stuck, 'stuck no image'),
                             (stuck, 'a note'), (done, 'complete'),
                             (None, '/r1: started, sonobuoy, cluster c1')):
            code, out = self.once(state)
            self.assertEqual(3, code)
            self.assertIn(words, out)

    def test_once_for_programs(self):
        stuck = dataclasses.replace(watch.start(0), outcome=watch.STUCK,
                                    reason='no image')
        code, out = self.once(stuck, '-f', 'json')
        said = json.loads(out)

        self.assertEqual((3, '/r1', 'started', '', 'no image'), (
            code, said['folder'], said['stage'], said['verdict'],
            said['watch']['reason']))

    def test_once_with_results(self):
        run = dataclasses.replace(RUN, archive='x', stage=runs.ENDED)
        passed = ended((model.Spec('a', model.PASSED),))
        self.useFixture(fixtures.MockPatchObject(
            sources, 'of_run', lambda _: passed))

        code, out = self.once(None, '-f', 'json', run=run)
        self.assertEqual((0, 'passed', None), (
            code, json.loads(out)['verdict'], json.loads(out)['watch']))
        self.assertIn('passed', self.once(None, run=run)[1])
