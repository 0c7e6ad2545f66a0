# SPDX-License-Identifier: Apache-2.0

"""The command line of workspaces."""

import contextlib
import io
import pathlib
import re
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest.cli import tempest_plan
from magnum_capi_tempest.cli import tempest_run
from magnum_capi_tempest.workspace import init
from tests.unit.cli import terminal
from tests.unit.report import streams
from tests.unit.workspace import test_selection


class InitTest(testtools.TestCase):

    def init(self, *words, **cloud):
        made = self.useFixture(fixtures.MockPatchObject(
            init, 'init', side_effect=lambda folder, names, preferred, static,
            overwrite: test_selection.selection.choose(
                test_selection.a_cloud(**cloud), preferred,
                static=static))).mock
        code, out, _ = terminal.command(tempest.Init, *words)
        self.assertEqual(0, code)
        return out, made.call_args

    def test_the_cloud_of_the_environment(self):
        self.useFixture(fixtures.EnvironmentVariable('OS_CLOUD', 'mine'))
        for words, clouds in (((), ['mine']), (('--cloud', 'c'), ['c'])):
            _, called = self.init(*words, '--image', 'ubuntu', 'd')
            self.assertEqual(clouds, called.args[1])

    def test_no_cloud(self):
        self.useFixture(fixtures.EnvironmentVariable('OS_CLOUD'))
        code, _, said = terminal.command(
            tempest.Init, '--image', 'ubuntu', 'd')
        self.assertEqual(2, code)
        self.assertIn('--cloud', said)
        self.assertIn('OS_CLOUD', said)

    def test_it_says_what_was_chosen_and_what_is_next(self):
        out, called = self.init('--cloud', 'c', '--image', 'ubuntu', 'my dir')

        self.assertEqual((pathlib.Path('my dir'), ['c']), called.args[:2])
        self.assertIn('Image ubuntu, flavor m1.small', out)
        self.assertIn("  magnum-capi tempest run 'my dir' --regex "
                      "'magnum_capi.*smoke'\n", out)
        self.assertIn('--concurrency 1 is the highest', out)

    def test_what_else_is_reported(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'k').write_text('x')

        out, called = self.init(
            '--cloud', 'c', '--image', 'ubuntu', '--label', 'a=b=c',
            '--upgrade-image', 'ubuntu', '--option', 'node_count=2',
            '--management-kubeconfig', folder / 'k', '--feature', 'real_nodes',
            '--feature', 'three_masters=false', 'd')

        preferred = called.args[2]
        self.assertEqual(
            ((('a', 'b=c'),), 'ubuntu', str(folder / 'k'),
             (('node_count', '2'),),
             (('real_nodes', True), ('three_masters', False))),
            (preferred.labels, preferred.upgrade_image,
             preferred.management_kubeconfig, preferred.options,
             preferred.features))
        self.assertIn('Upgrades to image ubuntu.', out)

    def test_what_no_tempest_conf_has(self):
        for words in (('--feature', 'colour'), ('--feature', 'resize=no'),
                      ('--option', 'colour=red'), ('--label', 'a')):
            self.assertEqual(2, terminal.command(
                tempest.Init, '--cloud', 'c', '--image', 'i', *words,
                'd')[0])
        code, _, err = terminal.command(
            tempest.Init, '--cloud', 'c', '--image', 'i',
            '--management-kubeconfig', '/nowhere/k', 'd')
        self.assertEqual(2, code)
        self.assertIn('There is no such kubeconfig', err)

    def test_only_options_that_it_has_are_blamed(self):
        err = io.StringIO()
        parser = tempest.Init(mock.Mock(), None).get_parser('x')
        with contextlib.redirect_stderr(err):
            self.assertRaises(SystemExit, parser.parse_args, [
                '--cloud', 'c', '--image', 'i', '--option', 'frob=1', 'd'])
        said = err.getvalue().splitlines()[-1]
        self.assertIn('--option', said)
        self.assertNotIn('--promise', said)

        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'clouds.yaml').write_text('clouds: {}')
        self.useFixture(fixtures.EnvironmentVariable(
            'OS_CLIENT_CONFIG_FILE', str(folder / 'clouds.yaml')))
        code, _, said = terminal.command(
            tempest.Init, '--cloud', 'nocloud', '--image', 'i', folder / 'd')
        self.assertEqual(2, code)
        self.assertIn('nocloud', said)
        self.assertEqual(set(), {*re.findall('--[a-z-]+', said)} - {
            *re.findall('--[a-z-]+', parser.format_help())})


class FailedTest(testtools.TestCase):
    """The failed tests of a run are run again."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.folder / 'etc').mkdir()
        (self.folder / 'etc' / 'tempest.conf').write_text('')
        self.run_ = self.useFixture(fixtures.MockPatchObject(
            tempest_run.runs, 'run')).mock

    def run_failed(self, stream):
        earlier = self.folder / 'earlier'
        earlier.mkdir()
        stream.write(earlier)
        return terminal.command(
            tempest_run.Run, self.folder, '--failed', earlier,
            '--output', self.folder / 'now')

    def test_they_are_run_and_the_command_is_reported(self):
        def record(workspace, arguments, stream, **kwargs):
            stream.parent.mkdir()
            streams.Stream().test('a.B.one', 'fail').write(stream.parent)

        self.run_.side_effect = record
        code, out, _ = self.run_failed(streams.Stream().test(
            'a.B.one[id-1]', 'fail').test('a.B.two'))

        self.assertEqual(1, code)

        arguments = self.run_.call_args.args[1]
        regex = arguments[arguments.index('--regex') + 1]
        self.assertRegex('a.B.one[id-1]', regex)
        self.assertNotRegex('a.B.two', regex)
        self.assertIn(
            f'magnum-capi tempest run {self.folder} --failed '
            f'{self.folder / "now"}', out)

    def test_there_are_none(self):
        code, _, err = self.run_failed(streams.Stream().test('a.B.two'))

        self.assertEqual(2, code)
        self.assertIn('No test failed', err)
        self.run_.assert_not_called()


class PlanTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_what_runs_and_why_the_rest_does_not(self):
        (self.folder / 'etc').mkdir()
        (self.folder / 'etc' / 'tempest.conf').write_text(
            '[service_available]\nmagnum_capi = true\n')

        code, out, _ = terminal.command(
            tempest_plan.Plan, self.folder,
            '-r', 'test_preflight|test_strangers')

        self.assertEqual(0, code)
        run, skipped = out.split('\n\n')[:2]
        self.assertIn('magnum.test_preflight.', run)
        self.assertIn('image_id', skipped)
        self.assertIn('driver.test_strangers.', skipped)
        self.assertIn('3 are skipped', out)

    def test_mistakes(self):
        code, _, err = terminal.command(tempest_plan.Plan, self.folder)
        self.assertEqual(2, code)
        self.assertIn('not a Tempest workspace', err)
        code, _, err = terminal.command(
            tempest_plan.Plan, self.folder, '-r', '(')
        self.assertEqual(2, code)
