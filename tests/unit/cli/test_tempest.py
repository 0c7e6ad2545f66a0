# SPDX-License-Identifier: Apache-2.0

"""The command line of workspaces and of the matrix."""

import contextlib
import io
import json
import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest.cli import tempest_matrix
from magnum_capi_tempest.sandbox import tempest_run
from magnum_capi_tempest.scorecard import columns
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import init
from magnum_capi_tempest.workspace import runs
from tests.unit.report import streams
from tests.unit.scorecard import samples
from tests.unit.workspace import test_selection

_ID = 'magnum_capi_tempest.tests.scenario.test_cluster_truth.{}'
_KEPT = _ID.format('FailureTest.test_workers_that_never_come')


def call(command, *words):
    """Run a command; returns its exit code, output and complaints."""
    out, err = io.StringIO(), io.StringIO()
    app = mock.Mock(stdout=out)
    app.options.debug = False
    one = command(app, None)
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
        code = one.run(one.get_parser('x').parse_args(list(map(str, words))))
    return code, out.getvalue(), err.getvalue()


class InitTest(testtools.TestCase):

    def init(self, *words, **cloud):
        made = self.useFixture(fixtures.MockPatchObject(
            init, 'init', side_effect=lambda folder, names, preferred, static,
            overwrite: test_selection.selection.choose(
                test_selection.a_cloud(**cloud), preferred,
                static=static))).mock
        code, out, _ = call(tempest.Init, *words)
        self.assertEqual(0, code)
        return out, made.call_args

    def test_another_configuration_is_to_be_unset_first(self):
        words = ('--cloud', 'c', '--image', 'ubuntu', 'w')
        for value, told in ((None, False), ('/a/sandbox', True)):
            self.useFixture(fixtures.EnvironmentVariable(
                'TEMPEST_CONFIG_DIR', value))
            out, _ = self.init(*words)
            self.assertEqual(
                told, 'Now test it:\n  unset TEMPEST_CONFIG_DIR\n' in out)

    def test_it_says_what_was_chosen_and_what_is_next(self):
        out, called = self.init('--cloud', 'c', '--image', 'ubuntu', 'my dir')

        self.assertEqual((pathlib.Path('my dir'), ['c']), called.args[:2])
        self.assertIn('Image ubuntu, flavor m1.small', out)
        self.assertIn("  cd 'my dir'\n", out)
        self.assertIn('--concurrency 1\n', out)

    def test_any_number_of_workers_for_an_administrator(self):
        out, _ = self.init('--cloud', 'c', '--image', 'ubuntu', 'd',
                           '--driver', 'k8s_x',
                           accounts=(test_selection.ADMIN,))

        self.assertNotIn('--concurrency', out)
        self.assertIn('Driver k8s_x', out)

    def test_what_else_is_told(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'k').write_text('x')

        out, called = self.init(
            '--cloud', 'c', '--image', 'ubuntu', '--label', 'a=b=c',
            '--upgrade-image', 'ubuntu', '--option', 'node_count=2',
            '--management-kubeconfig', folder / 'k', '--feature', 'any_name',
            '--feature', 'resize=false', 'd')

        preferred = called.args[2]
        self.assertEqual(
            ((('a', 'b=c'),), 'ubuntu', str(folder / 'k'),
             (('node_count', '2'),), (('any_name', True), ('resize', False))),
            (preferred.labels, preferred.upgrade_image,
             preferred.management_kubeconfig, preferred.options,
             preferred.features))
        self.assertIn('Upgrades to image ubuntu.', out)

    def test_what_no_tempest_conf_has(self):
        for words in (('--feature', 'colour'), ('--feature', 'resize=no'),
                      ('--option', 'colour=red'), ('--label', 'a')):
            self.assertRaises(
                SystemExit, call, tempest.Init, '--cloud', 'c', '--image', 'i',
                *words, 'd')
        code, _, err = call(
            tempest.Init, '--cloud', 'c', '--image', 'i',
            '--management-kubeconfig', '/nowhere/k', 'd')
        self.assertEqual(2, code)
        self.assertIn('There is no such kubeconfig', err)

    def test_an_error_has_no_traceback(self):
        self.useFixture(fixtures.MockPatchObject(
            init, 'init', side_effect=errors.UsageError('Which flavor?')))

        code, _, err = call(tempest.Init, '--cloud', 'c', '--image', 'i', 'd')

        self.assertEqual((2, 'magnum-capi: Which flavor?\n'), (code, err))


class MatrixTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def stream(self, name, status='success', test=_KEPT):
        return streams.Stream().test(test, status, traceback='E: too early') \
            .write(self.folder, f'{name}.subunit')

    def matrix(self, *words):
        code, out, err = call(tempest_matrix.Matrix, '-f', 'json', *words)
        return code, json.loads(out) if out else err

    def test_recorded_runs(self):
        code, found = self.matrix(
            '--from', f'a={self.stream("a")}',
            '--from', f'b={self.stream("b", "fail")}')

        self.assertEqual(['a', 'b'],
                         [one['name'] for one in found['drivers']])
        row, = [row for row in found['promises']
                if row['name'] == 'create_timeout_counts']
        self.assertEqual(['kept', 'broken'],
                         [cell['state'] for cell in row['cells']])
        # Nobody promised it.
        self.assertEqual(0, sum(one['broken'] != []
                                for one in found['drivers']))

    def test_a_broken_promise_is_the_exit_code(self):
        conf = self.folder / 'tempest.conf'
        conf.write_text('[magnum_capi_feature_enabled]\n'
                        'create_timeout_counts = true\n')

        code, found = self.matrix('--from', f'b={self.stream("b", "fail")}',
                                  '--declared', f'b={conf}')

        self.assertEqual((1, ['create_timeout_counts']),
                         (code, found['drivers'][0]['broken']))

    def test_two_runs_of_one_driver(self):
        other = self.stream('c', test=_ID.format(
            'CompleteTest.test_new_cluster'))

        _, found = self.matrix('--from', f'a={self.stream("a")}',
                               '--from', f'a={other}')

        self.assertEqual(1, len(found['drivers']))

    def test_files(self):
        code, _ = self.matrix(
            '--from', f'a={self.stream("a")}', '--folder', self.folder,
            '--html', self.folder / 'one.html', '--write', self.folder)

        self.assertEqual(0, code)
        self.assertEqual(
            ['a.subunit', 'matrix-a.json', 'matrix.html', 'matrix.json',
             'matrix.md', 'one.html'],
            sorted(path.name for path in self.folder.iterdir()))

    def test_two_places_at_once(self):
        code, err = self.matrix('--workspace', self.folder, '--from', 'a=b')

        self.assertEqual(2, code)
        self.assertIn('Either --from or --workspace', err)

    def test_a_cloud_needs_an_image(self):
        self.assertEqual(2, self.matrix('--cloud', 'c')[0])

    def test_promises_of_nobody(self):
        for words in (('--declared', f'a={self.folder}/x'),
                      ('--from', f'a={self.stream("a")}',
                       '--declared', f'b={self.stream("b")}')):
            self.assertEqual(2, self.matrix(*words)[0])

    def test_a_workspace_is_left_as_it_is(self):
        conf = ('[magnum_capi]\ndriver = k8s_x\n'
                '[magnum_capi_feature_enabled]\nany_name = true\n')
        path = folder.lay_out(self.folder / 'w', conf)
        run = self.useFixture(fixtures.MockPatchObject(
            runs, 'run', return_value=self.stream('k8s_x'))).mock

        code, found = self.matrix('--workspace', self.folder / 'w',
                                  '--results', self.folder)

        self.assertEqual(0, code)
        self.assertEqual(conf, path.read_text())
        used = (run.call_args.kwargs['etc'] / 'tempest.conf').read_text()
        self.assertIn('labels_checked = true', used)
        self.assertIn('driver = k8s_x', used)
        self.assertEqual('k8s_x', found['drivers'][0]['name'])
        self.assertIn('any_name', found['drivers'][0]['declared'])
        self.assertNotIn('labels_checked', found['drivers'][0]['declared'])

    def test_no_workspace(self):
        self.assertEqual(2, self.matrix('--workspace', self.folder)[0])

    def test_a_sandbox_is_tried_with_each_of_its_drivers(self):
        self.useFixture(fixtures.MockPatchObject(
            tempest_matrix.usable_drivers, 'drivers', return_value=['a', 'b']))
        self.useFixture(fixtures.MockPatchObject(
            tempest_matrix, '_conf', return_value='[x]\n'))
        run = self.useFixture(fixtures.MockPatchObject(
            tempest_run, 'run', return_value=(
                self.stream('x'), {'profile': 'embedded'}))).mock

        code, found = self.matrix('--directory', self.folder / 'box',
                                  '--results', self.folder)

        self.assertEqual(0, code)
        self.assertEqual(['a', 'b'],
                         [one['name'] for one in found['drivers']])
        orders = [one.args[1] for one in run.call_args_list]
        self.assertEqual(['a', 'b'], [order.driver for order in orders])
        for order in orders:
            self.assertEqual('all', order.promise)
            self.assertEqual((('clashing_drivers', 'a,b'),), order.options)

    def test_what_was_written_is_read_again(self):
        path, = columns.write([samples.record(life='passed')], self.folder)

        code, found = self.matrix('--from', f'k8s_z={path}')

        self.assertEqual('k8s_z', found['drivers'][0]['name'])
