# SPDX-License-Identifier: Apache-2.0

"""The command line of driver reports: from a recorded run to a page."""

import collections
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
from unittest import mock
import warnings

import fixtures
import testtools
import yaml

from magnum_capi import outfile
from magnum_capi_sandbox import box as boxes
from magnum_capi_sandbox.cli import driver_test as in_sandbox
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import versions
from magnum_capi_tempest.cli import driver_report
from magnum_capi_tempest.cli import driver_test
from magnum_capi_tempest.cli import report
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest import paths
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.toolchain import lock
from tests.unit.cli import terminal
from tests.unit import own_folders
from tests.unit.report import streams
from tests.unit.sandbox import samples

CORE = [test for test in suite.tests()
        if test.promise and promises.known()[test.promise].core]


class DriverTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(own_folders.OwnFolders()).base
        self.box = self.patch(in_sandbox.sandbox, 'Box').return_value
        self.box.directory = self.folder / 'box'
        self.box.up.side_effect = (
            lambda *_: self.box.directory.mkdir(exist_ok=True))
        self.box.down.side_effect = (
            lambda *_, **__: shutil.rmtree(self.box.directory))
        self.patch(in_sandbox.versions, 'made', return_value=versions.Made(
            {'magnum': '23.0.0'}, {'k8s_x': ('magnum-x', '1.0')}))
        self.patch(in_sandbox.usable_drivers, 'drivers',
                   return_value=['k8s_x'])
        self.patch(in_sandbox.usable_drivers, 'description',
                   return_value=None)
        self.patch(in_sandbox.usable_drivers, 'others',
                   return_value=['k8s_y: broken, import: ImportError: z'])
        self.box.spec.side_effect = lambda: samples.a_spec(
            install=self.installed())
        self.box.tempest.side_effect = functools.partial(
            boxes.Box.tempest, self.box)
        self.box.snapshot.side_effect = lambda: boxes.leaks.take()
        self.patch(in_sandbox.usable_drivers.versions, 'installed_drivers',
                   return_value={'k8s_x': ('magnum-x', '1.0')})
        self.exists = self.patch(boxes.leaks, 'take',
                                 return_value=model.Snapshot())

    def installed(self):
        """What the last sandbox that was brought up got."""
        call = self.box.up.call_args
        return call.args[0].install if call else ()

    def patch(self, *where, **how):
        return self.useFixture(
            fixtures.MockPatchObject(*where, **how)).mock

    def run_of(self, tests, status='success', ends=None):
        """Have Tempest run tests; it ends by an error if there is one."""
        stream = streams.Stream()
        for test in tests:
            stream.test(f'{suite.PACKAGE}.{test.id}[id-1]', status,
                        traceback='E: too early')

        def run(*_, **__):
            path = self.folder / 'run.subunit'
            outfile.write_private(path, stream.data)
            if ends:
                raise ends
            return path, {}

        return self.patch(in_sandbox.tempest_run, 'run', side_effect=run)

    def describe(self, **more):
        """Write a description; returns its path."""
        path = self.folder / 'mine.yaml'
        path.write_text(yaml.safe_dump({
            'apiVersion': 'conformance.magnum-capi/v1', 'kind': 'Driver',
            'name': 'k8s_x', 'organization': 'o', 'project': 'p',
            'url': 'https://x', 'contact': 'c', 'profiles': ['lifecycle'],
            **more}))
        return path

    def call(self, *words):
        code, _, err = terminal.command(
            driver_test.Test, '--output', self.folder, *words)
        path = self.folder / 'driver-report.json'
        return code, json.loads(path.read_text()) if path.exists() else err


class DriverTestTest(DriverTestCase):

    def test_all_of_core(self):
        self.run_of(CORE)

        code, found = self.call('magnum-x>=1', '--core')

        self.assertEqual((0, 'passed', 'k8s_x', 'magnum-x 1.0', 'memory'), (
            code, found['verdict'], found['driver']['name'],
            found['driver']['distribution'], found['nodes']))
        self.assertEqual('23.0.0', found['versions']['magnum'])
        self.assertEqual([mock.call(mock.ANY)],
                         self.box.down.call_args_list)

    def test_what_is_left_behind_is_reported(self):
        self.run_of(CORE)
        self.exists.side_effect = [
            model.Snapshot(),
            model.Snapshot(frozenset((model.Thing(model.PORT, 'p'),)))]

        code, out, _ = terminal.command(
            driver_test.Test, '--output', self.folder, 'magnum-x', '--core')

        self.assertEqual(1, code)
        self.assertIn('k8s_x passes core', out)
        self.assertIn('1 left behind:\n  port p', out)
        # It went with the sandbox.
        self.assertNotIn('openstack port delete', out)
        self.assertLess(out.index('left behind'), out.index('passes core'))

    def test_what_is_left_behind_where_the_sandbox_stays(self):
        for words in (('magnum-x', '--keep'),
                      ('--directory', self.folder / 'box')):
            self.run_of(CORE)
            self.exists.side_effect = [
                model.Snapshot(),
                model.Snapshot(frozenset((model.Thing(model.PORT, 'p'),)))]

            _, out, _ = terminal.command(
                driver_test.Test, '--output', self.folder, *words)

            self.assertIn('openstack port delete p', out)

    def test_where_clusters_run(self):
        self.run_of(CORE)
        where = ('--nodes', 'docker', '--infrastructure', 'openstack')

        self.assertEqual(0, self.call('magnum-x', *where)[0])
        spec = self.box.up.call_args.args[0]
        self.assertEqual(('docker', 'openstack'),
                         (spec.nodes, spec.infrastructure))
        self.assertEqual(2, self.call('--directory', 'box', *where)[0])

    def test_the_sandbox_goes_also_when_it_does_not_work(self):
        self.patch(in_sandbox.tempest_run, 'run',
                   side_effect=driver_test.errors.MagnumCapiError('no'))

        self.assertEqual(3, self.call('magnum-x')[0])
        self.box.down.assert_called_once_with(mock.ANY)

    def test_one_that_another_test_left_up_stays(self):
        self.box.up.side_effect = driver_test.errors.UsageError(
            'A sandbox with other drivers is already up')

        self.assertEqual(2, self.call('magnum-x')[0])
        self.assertEqual([], self.box.down.call_args_list)

    def test_another_test_waits(self):
        seen = []

        def up(*_):
            seen.extend(map(lock.holder, (paths.cache() / 'locks').iterdir()))

        self.box.up.side_effect = up
        self.run_of(CORE)

        self.call('magnum-x', '--core')

        self.assertEqual([f'tests a driver (pid {os.getpid()})'], seen)

    def test_what_is_ended_early_is_reported_on(self):
        self.run_of(CORE[:2], ends=KeyboardInterrupt)

        code, found = self.call('magnum-x')

        self.assertEqual((130, 'untested'), (code, found['verdict']))
        self.assertEqual(['The run was interrupted before all of its tests '
                          'had run'],
                         found['problems'])
        self.assertEqual('passed', found['promises'][CORE[0].promise]['state'])
        self.assertIn('INTERRUPTED',
                      (self.folder / 'report.md').read_text())
        self.box.down.assert_called_once_with(mock.ANY)

    def test_a_run_that_tempest_did_not_end(self):
        self.run_of(CORE[:2], ends=driver_test.runs.RunCutOff(
            'Tempest ended', stream=self.folder / 'run.subunit'))

        code, found = self.call('magnum-x')

        self.assertEqual((3, 'untested'), (code, found['verdict']))
        self.assertEqual('passed', found['promises'][CORE[0].promise]['state'])
        self.box.down.assert_called_once_with(mock.ANY)

    def test_a_run_whose_worker_was_killed_has_not_passed(self):
        # Another test of the promise has passed.
        tests = collections.Counter(test.promise for test in CORE)
        killed = next(test for test in CORE if tests[test.promise] > 1)
        run = self.run_of([test for test in CORE if test is not killed])
        stream = streams.Stream().test(
            f'{suite.PACKAGE}.{killed.id}[id-1]', 'fail').data
        ended = run.side_effect

        def cut(*words):
            path, facts = ended(*words)
            path.write_bytes(path.read_bytes() + stream)
            return path, facts
        run.side_effect = cut

        code, found = self.call('magnum-x', '--core')

        self.assertEqual(
            (1, 'untested', 'passed'),
            (code, found['verdict'],
             found['promises'][killed.promise]['state']))
        self.assertIn('1 test did not end', found['problems'][0])

    def test_an_earlier_run_is_not_taken_for_this_one(self):
        self.run_of(CORE)
        _, earlier = self.call('magnum-x')
        self.patch(in_sandbox.tempest_run, 'run',
                   side_effect=KeyboardInterrupt)

        code, found = self.call('magnum-x')

        self.assertEqual((130, earlier), (code, found))

    def test_the_sandbox_of_a_killed_test_is_not_used(self):
        # It has the driver as it was then.
        self.run_of(CORE)
        self.box.directory.mkdir()

        self.assertEqual(0, self.call('magnum-x')[0])
        # Its record may be of another version of this program.
        self.assertEqual(mock.call(mock.ANY, force=True),
                         self.box.down.call_args_list[0])
        self.assertEqual(['down', 'up', 'down'], [
            name for name, _, _ in self.box.method_calls
            if name in ('up', 'down')])

    def test_the_sandbox_that_was_kept_stays(self):
        self.run_of(CORE)
        self.call('magnum-x', '--keep')
        (self.folder / 'driver-report.json').unlink()
        self.box.reset_mock()

        code, err = self.call('magnum-x')

        self.assertEqual(2, code)
        self.assertIn(f'sandbox down --directory {self.box.directory}', err)
        self.assertEqual([], self.box.method_calls)

    def test_it_stays_when_it_is_told_to_or_not_ours(self):
        self.run_of(CORE)
        for words in (('magnum-x', '--keep'),
                      ('--directory', self.folder / 'box')):
            self.assertEqual(0, self.call(*words)[0])
        self.box.down.assert_not_called()

    def test_only_what_is_asked_for_is_run(self):
        run = self.run_of(CORE)
        self.call('magnum-x', '--profile', 'upgrade', '--core')
        order = run.call_args.args[1]
        with warnings.catch_warnings():
            # stestr shows them to the user.
            warnings.simplefilter('error')
            re.purge()
            finds = re.compile(order.regex).search

        self.assertEqual(
            {test.id for test in CORE if test.promise.startswith('upgrade.')},
            {test.id for test in suite.tests()
             if finds(f'{suite.PACKAGE}.{test.id}[id-1,'
                      f'{promises.attribute(test.promise)},slow]')})
        self.assertEqual(('k8s_x', 'driver'), (order.driver, order.promise))

    def test_a_cloud_with_one_user(self):
        recorded = self.run_of(CORE).side_effect
        self.patch(driver_test.tempest, 'init',
                   return_value=mock.Mock(workers=1,
                                          microversions=('1.1', '1.14')))
        run = self.patch(driver_test.runs, 'run', side_effect=recorded)

        code, found = self.call('--cloud', 'c', '--image', 'i', '--driver',
                                'k8s_x')

        self.assertEqual((0, 'passed'), (code, found['verdict']))
        self.assertEqual(['--concurrency', 1], run.call_args.args[1][-2:])

    def test_a_distribution_whose_name_only_a_build_tells(self):
        run = self.run_of(CORE)
        installed = self.folder / 'drivers'
        metadata = installed / 'magnum_x-1.0.dist-info' / 'METADATA'
        metadata.parent.mkdir(parents=True)
        metadata.write_text('Name: magnum-x\nVersion: 1.0\n')
        self.box.layout.return_value.drivers = installed

        self.assertEqual(0, self.call('git+https://example.com/magnum-x')[0])
        self.assertEqual('k8s_x', run.call_args.args[1].driver)

    def test_a_folder_that_does_not_exist(self):
        code, err = self.call('/nope')

        self.assertEqual(2, code)
        self.assertIn('no such file or folder (/nope)', err)
        self.box.up.assert_not_called()

    def test_a_driver_that_cannot_be_used(self):
        run = self.run_of(CORE)
        for words in (('magnum-x', '--driver', 'k8s_y'), ('other',)):
            code, err = self.call(*words)

            self.assertEqual(2, code)
            self.assertIn('k8s_x; k8s_y: broken, import: ImportError: z', err)
        run.assert_not_called()

    def test_a_description_of_promises_that_are_none(self):
        run = self.run_of(CORE)
        path = self.describe(unsupported=['lifecycle.resize.lsat-wins'])

        code, err = self.call('magnum-x', '--description', path)

        self.assertEqual(2, code)
        self.assertIn('lifecycle.resize.lsat-wins', err)
        run.assert_not_called()

    def test_a_description_counts_in_the_run_too(self):
        run = self.run_of(CORE)

        self.call('magnum-x', '--description',
                  self.describe(labels={'a': '1'}))

        order = run.call_args.args[1]
        self.assertEqual('a:1', order.described.tempest['labels'])

    def test_a_description_of_another_driver(self):
        run = self.run_of(CORE)
        path = self.describe(name='k8s_other')

        code, err = self.call('magnum-x', '--description', path)

        self.assertEqual(2, code)
        self.assertIn('of k8s_x describes k8s_other', err)
        self.assertEqual(2, self.call(
            '--cloud', 'c', '--image', 'i', '--driver', 'k8s_x',
            '--description', path)[0])
        run.assert_not_called()

    def test_what_is_to_be_tested_is_one_thing(self):
        for words in ((), ('x', '--directory', 'y'), ('--cloud', 'c')):
            self.assertEqual(2, self.call(*words)[0])

    def test_validate_and_matrix(self):
        self.run_of(CORE)
        self.call('magnum-x')
        path = self.folder / 'driver-report.json'

        code, out, _ = terminal.command(report.Validate, path)
        self.assertEqual((0, f'{path}: valid\n'), (code, out))
        code, out, _ = terminal.command(
            report.Matrix, '-f', 'markdown', path, path)
        self.assertEqual(0, code)
        self.assertIn('lifecycle.resize.workers', out)

        path.write_text(path.read_text().replace(
            '"verdict": "passed"', '"verdict": "failed"'))
        code, out, _ = terminal.command(report.Validate, path)
        self.assertEqual(1, code)
        self.assertIn('$.verdict', out)
        self.assertEqual(2, terminal.command(report.Matrix, path)[0])


class SuiteVersionTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def git(self, *words):
        return subprocess.run(
            ['git', '-c', 'user.name=n', '-c', 'user.email=n@example.com',
             *words], cwd=self.top, check=True, capture_output=True,
            text=True).stdout.strip()

    def version_in(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.git('init', '--quiet')
        self.git('commit', '--quiet', '--allow-empty', '--message', 'x')
        self.useFixture(fixtures.MockPatchObject(
            driver_report, '__file__', str(
                folder / 'magnum_capi_tempest/cli/driver_report.py')))
        return driver_report.suite_version()

    def test_of_a_checkout(self):
        found = self.version_in(self.top)

        self.assertIn(f"({self.git('rev-parse', '--short=12', 'HEAD')})",
                      found)

    def test_installed_in_the_checkout_of_a_driver(self):
        found = self.version_in(self.top / '.venv/lib/site-packages')

        self.assertNotIn('(', found)


class DistributionTest(testtools.TestCase):

    def test_of_requirements_and_wheels(self):
        for what in ('magnum-x', 'magnum-x>=1', 'magnum-x @ https://y',
                     'magnum-x[a]==2 ; python_version > "3"',
                     '/a/magnum_x-1.0-py3-none-any.whl'):
            self.assertEqual('magnum-x', drivers.distribution(what))
        self.assertTrue(drivers.same('magnum-x', 'Magnum.X'))

    def test_of_what_does_not_say(self):
        for what in ('magnum-x>>1', 'magnum-x-1.0.whl', 'git+https://y'):
            error = self.assertRaises(
                driver_test.errors.UsageError, drivers.distribution, what)
            self.assertIn(what, str(error))

    def test_of_folders(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.assertRaises(driver_test.errors.UsageError,
                          drivers.distribution, str(folder))
        (folder / 'setup.cfg').write_text('[metadata]\nname = a\n')
        self.assertEqual('a', drivers.distribution(str(folder)))
        (folder / 'pyproject.toml').write_text('[project]\nname = "b"\n')
        self.assertEqual('b', drivers.distribution(str(folder)))
