# SPDX-License-Identifier: Apache-2.0

import importlib.metadata
import pathlib

import fixtures
import testtools

from magnum_capi.cli import discovery_filter
from magnum_capi.discovery import paste
from magnum_capi import outfile
from magnum_capi_tempest.cli import evidence
from magnum_capi_tempest.cli import tempest_run
from magnum_capi_tempest.evidence import collect
from magnum_capi_tempest import report
from magnum_capi_tempest.workspace import runs
from tests.unit.cli import terminal


class CommandsTest(testtools.TestCase):
    """The commands that the roles and the devstack plugin call."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def call(self, command, *argv):
        """Exit code and standard output."""
        code, out, self.err = terminal.command(command, *argv)
        return code, out

    def patch(self, where, name, **kwargs):
        return self.useFixture(
            fixtures.MockPatchObject(where, name, **kwargs)).mock

    def test_filter_says_whether_it_changed_something(self):
        put = self.patch(paste, 'put', side_effect=[True, False] * 2)

        for said in ((1, 'would be changed\n'), (0, 'unchanged\n')):
            self.assertEqual(said, self.call(
                discovery_filter.Filter, 'f', '--check'))
        for said in ((0, 'changed\n'), (0, 'unchanged\n')):
            self.assertEqual(said, self.call(discovery_filter.Filter, 'f'))
        self.assertEqual([True, True, False, False],
                         [c.kwargs['dry'] for c in put.call_args_list])

    def test_filter_for_a_magnum_that_is_too_old(self):
        put = self.patch(paste, 'put', return_value=True)
        for version in ('20.0.0.0rc1', '20.0.2', '23.0.0'):
            self.patch(importlib.metadata, 'version', return_value=version)
            self.assertEqual(0, self.call(discovery_filter.Filter, 'f')[0])
        put.reset_mock()
        self.patch(importlib.metadata, 'version', return_value='19.0.0')

        self.assertEqual((2, ''), self.call(discovery_filter.Filter, 'f'))
        self.assertIn('19.0.0 is installed here', self.err)
        put.assert_not_called()
        self.assertEqual((0, 'changed\n'), self.call(
            discovery_filter.Filter, 'f', '--remove'))

    def test_collect(self):
        logs = self.patch(collect, 'from_logs', return_value=[])
        objects = self.patch(collect, 'from_management', return_value=[])

        self.assertEqual(0, self.call(
            evidence.Collect, '--output', self.folder, '--logs', 'a', '--logs',
            'b', '--kubeconfig', 'k', '--public')[0])
        logs.assert_called_once_with(
            ['a', 'b'], self.folder / 'logs', outfile.PUBLIC)
        objects.assert_called_once_with(
            pathlib.Path('k'), self.folder / 'management', outfile.PUBLIC)

    def make_workspace(self):
        (self.folder / 'etc').mkdir()
        (self.folder / 'etc/tempest.conf').write_text('')

    def test_run_has_no_more_workers_than_users(self):
        self.make_workspace()
        (self.folder / 'etc/tempest.conf').write_text(
            '[auth]\nuse_dynamic_credentials = false\n'
            'test_accounts_file = etc/accounts.yaml\n')
        (self.folder / 'etc/accounts.yaml').write_text(
            '- username: one\n  password: x\n  project_name: p\n'
            '  roles: [member]\n')
        run = self.patch(runs, 'run')
        self.patch(report, 'summarise')

        self.call(tempest_run.Run, self.folder)

        self.assertEqual(['--concurrency', 1], run.call_args.args[1][-2:])
        self.assertIn('1 parallel worker instead of 2', self.err)

    def test_run_that_tempest_did_not_end(self):
        self.make_workspace()
        self.patch(runs, 'run', side_effect=runs.RunCutOff(
            'Tempest ended', stream='stream'))
        summarise = self.patch(report, 'summarise')

        self.assertEqual(3, self.call(
            tempest_run.Run, self.folder, '--output', self.folder / 'r')[0])
        summarise.assert_called_once_with(
            'stream', self.folder / 'r', 'tempest run',
            {'tests': 'magnum_capi'}, outcome='interrupted',
            again=f'magnum-capi tempest run {self.folder} --failed '
                  f'{self.folder / "r"}')
        self.assertIn('Tempest ended', self.err)
