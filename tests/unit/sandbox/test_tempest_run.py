# SPDX-License-Identifier: Apache-2.0

import configparser
import types
from unittest import mock

import fixtures
import testtools

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import tempest_run
from magnum_capi_sandbox import versions
from magnum_capi_tempest import option_files
from magnum_capi_tempest import runmarks
from tests.unit import own_folders
from tests.unit.sandbox import samples


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = samples.a_layout(
            self.useFixture(fixtures.TempDir()).path)
        self.spec = samples.a_spec()
        self.box = types.SimpleNamespace(
            spec=lambda: self.spec,
            directory=self.layout.directory, layout=lambda: self.layout,
            passwords=lambda: samples.PASSWORDS)
        self.described = self.useFixture(fixtures.MockPatchObject(
            tempest_run.usable_drivers, 'description',
            return_value=None)).mock
        self.useFixture(fixtures.MockPatchObject(
            tempest_run.usable_drivers, 'drivers', return_value=['k8s_x']))

    def config(self, workspace, etc='etc'):
        parser = configparser.RawConfigParser()
        parser.read_string((workspace / etc / 'tempest.conf').read_text())
        return parser


class PrepareTest(_Base):

    def prepare(self, **order):
        return tempest_run.prepare(self.box, tempest_run.Order(**order))

    def test_private_configuration(self):
        path = self.prepare() / 'etc' / 'tempest.conf'
        self.assertEqual(0o600, path.stat().st_mode & 0o777)

    def test_a_later_order_replaces_the_configuration(self):
        self.prepare(driver='k8s_x')
        self.assertEqual('k8s_x', self.config(
            self.prepare(driver='k8s_x'))['magnum_capi']['driver'])
        self.assertNotIn(
            'driver', self.config(self.prepare())['magnum_capi'])

    def test_what_the_sandbox_has_is_reported(self):
        self.spec = samples.a_spec(clash=True)
        found = self.config(self.prepare(driver='k8s_x'))['magnum_capi']
        fixture = option_files.discovery_fixture(found['discovery_fixture'])
        self.assertEqual(
            ('k8s_capi_disabled_v1', 'operators'),
            (fixture.disabled_driver, fixture.value_overlay))
        # It is that one's description that counts.
        self.described.assert_called_once_with(self.box, 'k8s_x')

    def test_another_description_of_the_driver(self):
        described = driver_info.Description({
            'name': 'k8s_x', 'labels': {'a': '1'},
            'unsupported': ['lifecycle.resize.last-wins']}, 'x.yaml')

        found = self.config(self.prepare(
            driver='k8s_x', described=described))['magnum_capi']

        self.assertEqual(
            ('a:1', True),
            (found['labels'], 'lifecycle.resize.last-wins' in found[
                'not_promised'].split(',')))
        self.described.assert_not_called()


class RunTest(_Base):

    def setUp(self):
        super().setUp()
        self.useFixture(own_folders.OwnFolders())
        self.made = self.useFixture(fixtures.MockPatchObject(
            tempest_run.versions, 'made',
            return_value=versions.Made({
                'magnum': '23.0.0', 'cluster_api': 'v1.12.0',
                'infrastructure': 'memory', 'chart': 'x 1'},
                {'k8s_x': ('x-driver', '1.0')}))).mock

    def options(self, *given, third_party=False, driver=None, **changes):
        self.spec = samples.a_spec(**changes)
        with mock.patch.object(
                tempest_run.usable_drivers, 'drivers',
                return_value=['a', 'b']), mock.patch.object(
                tempest_run.runs, 'run') as run:
            tempest_run.run(self.box, tempest_run.Order(
                options=given, third_party=third_party, driver=driver,
                results=self.layout.directory / 'results'))
        return self.config(run.call_args.args[0],
                           run.call_args.kwargs['etc'])['magnum_capi']

    def test_the_third_party_suite_cannot_choose_a_driver(self):
        refused = self.assertRaises(
            errors.UsageError, self.options, third_party=True, clash=True)
        self.assertIn('names no driver', str(refused))
        self.assertIn('without --clash', str(refused))

    def workers(self, processors, given=None, **changes):
        self.spec = samples.a_spec(**changes)
        with mock.patch.object(
                tempest_run.runs, 'run') as run, mock.patch.object(
                tempest_run.os, 'sched_getaffinity',
                return_value=range(processors)):
            tempest_run.run(self.box, tempest_run.Order(concurrency=given))
        arguments = run.call_args.args[1]
        return arguments[arguments.index('--concurrency') + 1]

    def test_workers(self):
        for processors, given, changes, workers in (
                (1, None, {}, '3'), (2, None, {}, '6'), (16, None, {}, '8'),
                (2, 1, {}, '1'), (2, 0, {}, '0'),
                # Machines are programs, too.
                (2, None, {'nodes': nodes.DOCKER}, '2'),
                (2, None, {'infrastructure': 'openstack'}, '2')):
            self.assertEqual(
                workers, self.workers(processors, given, **changes))

    def test_what_a_killed_run_leaves_can_be_found(self):
        with mock.patch.object(tempest_run.runs, 'run') as run:
            tempest_run.run(self.box, tempest_run.Order())
        self.assertEqual(str(run.call_args.args[0]),
                         run.call_args.kwargs['env'][runmarks.MARK])

    def test_logs_of_two_runs_are_kept(self):
        log = self.layout.directory / 'tempest' / 'tempest.log'

        def write(workspace, *arguments, **kwargs):
            with open(workspace / 'tempest.log', 'a') as f:
                f.write(f'{next(numbers)}\n')

        numbers = iter(range(3))
        with mock.patch.object(tempest_run.runs, 'run', write):
            for _ in range(3):
                tempest_run.run(self.box, tempest_run.Order())
        self.assertEqual('2\n', log.read_text())
        self.assertEqual('1\n', log.with_name('tempest.log.1').read_text())

    def test_a_report_says_what_was_tested(self):
        order = tempest_run.Order(driver='k8s_x')
        found = tempest_run._facts(
            self.box, self.box.spec(), order)

        self.assertEqual(
            ('23.0.0', 'k8s_x (x-driver 1.0)', 'v1.12.0', 'no', 'memory'),
            tuple(found[part] for part in (
                'Magnum', 'driver', 'Cluster API', 'discovery filter',
                'nodes')))
        self.made.side_effect = errors.MagnumCapiError('broken')
        self.assertEqual(
            'k8s_x', tempest_run._facts(
                self.box, self.box.spec(), order)['driver'])

    def test_marks_of_drivers_that_clash(self):
        self.described.return_value = driver_info.Description(
            {'mark': {'stack_id': 'x'}}, 'x')

        found = self.options(install=('/d',))

        option_files._read.cache_clear()
        self.assertEqual(
            {'a': {'stack_id': 'x'}, 'b': {'stack_id': 'x'}},
            option_files.discovery_fixture(found['discovery_fixture']).marks)
        self.assertEqual('/mine', self.options(
            ('discovery_fixture', '/mine'),
            install=('/d',))['discovery_fixture'])

    def test_drivers_that_the_user_installed_clash(self):
        """The one under test comes first; what the user says counts."""
        for given, changes, names in (
                ((), {}, None), ((), {'install': ('/d',)}, 'a,b'),
                ((), {'install': ('/d',), 'driver': 'a'}, 'a,b'),
                ((), {'install': ('/d',), 'driver': 'b'}, 'b,a'),
                ((('clashing_drivers', 'x,y'),), {'install': ('/d',)},
                 'x,y')):
            self.assertEqual(names, self.options(*given, **changes).get(
                'clashing_drivers'))
