# SPDX-License-Identifier: Apache-2.0

"""What is recorded of a run of Tempest."""

import datetime
import pathlib
import subprocess
import sys

import fixtures
from stestr.repository import file as repository
import testtools

from magnum_capi import errors
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import pool
from magnum_capi_tempest.workspace import runs
from tests.unit import own_folders

BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


class EndedTest(testtools.TestCase):
    """Runs that are ended early."""

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.workspace, self.stream = base / 'work', base / 'out/run.subunit'
        folder.lay_out(self.workspace, '')
        repository.RepositoryFactory().initialise(self.workspace)

    def insert(self, *events, ends=False):
        """Have stestr record a run, to its end or not."""
        inserter = repository.RepositoryFactory().open(
            self.workspace).get_inserter()
        inserter.startTestRun()
        for seconds, (name, status) in enumerate(events):
            if status == 'fail':
                inserter.status(test_id=name, file_name='traceback',
                                file_bytes=b'E: x', mime_type='text/plain')
            inserter.status(test_id=name, test_status=status,
                            timestamp=BEGIN + datetime.timedelta(
                                seconds=seconds))
        inserter._stream.flush()
        if ends:
            inserter.stopTestRun()

    def end(self, *events, by=KeyboardInterrupt, ends=False):
        def tempest(*args, **kwargs):
            self.insert(*events, ends=ends)
            raise by

        self.run_as(tempest, by)

    def run_as(self, tempest, raises):
        """Run a function as Tempest; returns the exception."""
        self.useFixture(fixtures.MockPatchObject(
            runs.foreground, 'run', tempest))
        return self.assertRaises(
            raises, runs.run, self.workspace, [], self.stream,
            etc=self.workspace / folder.ETC)

    def die(self, *events):
        """Have Tempest die; returns the exception."""
        def tempest(*args, **kwargs):
            self.insert(*events)
            return -9

        return self.run_as(tempest, errors.MagnumCapiError)

    def test_the_tests_that_had_ended_are_recorded(self):
        self.insert(('t.earlier', 'inprogress'), ('t.earlier', 'success'))

        self.end(('t.one', 'inprogress'), ('t.two', 'inprogress'),
                 ('t.one', 'success'))

        found = subunit.read(self.stream, title='t')
        self.assertEqual([('t.one', 'passed')],
                         [(test.id, test.status) for test in found.tests])
        self.assertEqual(2.0, found.seconds)
        self.assertEqual(0o600, self.stream.stat().st_mode & 0o777)

    def test_by_sigterm(self):
        self.end(('t.one', 'inprogress'), ('t.one', 'fail'), by=SystemExit)

        found, = subunit.read(self.stream, title='t').tests
        self.assertEqual('failed', found.status)

    def test_when_stestr_had_ended_before_its_workers(self):
        self.insert(('t.earlier', 'inprogress'), ('t.earlier', 'success'),
                    ends=True)

        self.end(('t.one', 'inprogress'), ('t.one', 'success'), ends=True)

        found, = subunit.read(self.stream, title='t').tests
        self.assertEqual(('t.one', 'passed'), (found.id, found.status))

    def test_what_stestr_makes_of_a_test_that_did_not_end(self):
        self.end(('t.one', 'inprogress'), ('t.two', 'inprogress'),
                 ('t.one', 'success'), ends=True)

        self.assertEqual(
            [('t.one', 'passed'), ('t.two', 'unfinished')],
            [(test.id, test.status) for test in subunit.read(
                self.stream, title='t').tests])

    def test_by_itself(self):
        self.insert(('t.earlier', 'inprogress'), ('t.earlier', 'success'))

        error = self.die(('t.one', 'inprogress'), ('t.two', 'inprogress'),
                         ('t.one', 'success'))

        self.assertIsInstance(error, runs.RunCutOff)
        self.assertEqual(self.stream, error.stream)
        self.assertIn('exit code -9', str(error))
        found, = subunit.read(self.stream, title='t').tests
        self.assertEqual(('t.one', 'passed'), (found.id, found.status))

    def test_a_worker_was_killed(self):
        # stestr does not notice: it records the others, and exits with 0.
        def tempest(*args, env, **kwargs):
            self.insert(('t.one', 'inprogress'), ('t.one', 'success'),
                        ends=True)
            pathlib.Path(
                env[folder.WORKERS], pool.ALIVE, '123').touch()
            return 0

        error = self.run_as(tempest, runs.RunCutOff)

        self.assertEqual(self.stream, error.stream)
        self.assertIn('killed', str(error))
        found, = subunit.read(self.stream, title='t').tests
        self.assertEqual(('t.one', 'passed'), (found.id, found.status))

    def test_all_workers_have_ended(self):
        folders = []

        def tempest(*args, env, **kwargs):
            folders.append(pathlib.Path(env[folder.WORKERS]))
            self.insert(('t.one', 'inprogress'), ('t.one', 'success'),
                        ends=True)
            return 0
        self.useFixture(fixtures.MockPatchObject(
            runs.foreground, 'run', tempest))

        self.assertEqual(self.stream, runs.run(
            self.workspace, [], self.stream, etc=self.workspace / folder.ETC))
        self.assertFalse(folders[0].exists())

    def test_by_itself_before_its_first_test(self):
        error = self.die()

        self.assertIn('did not run any test', str(error))
        self.assertFalse(self.stream.exists())


class WorkerTest(testtools.TestCase):

    def test_a_folder_with_a_blank(self):
        """stestr has a shell expand PYTHON, without quotes."""
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (base / 'my home').symlink_to(sys.prefix)
        self.useFixture(fixtures.MonkeyPatch(
            'sys.executable', str(base / 'my home/bin/python')))

        def tempest(argv, cwd, env, **_):
            return subprocess.run(
                '${PYTHON} --version', shell=True, env=env, cwd=cwd,
                stderr=subprocess.PIPE, check=False, text=True)

        said = []
        self.useFixture(fixtures.MockPatchObject(
            runs.foreground, 'run', lambda *args, **how: said.append(
                tempest(*args, **how).stderr)))
        self.assertRaises(
            errors.MagnumCapiError, runs.run, base, [], base / 'run.subunit',
            etc=base)

        # It is the worker that answers.
        self.assertIn('for stestr; last seen: --version', *said)


class NewResultsTest(testtools.TestCase):

    def test_two_runs_that_begin_in_the_same_second(self):
        base = self.useFixture(own_folders.OwnFolders()).base
        self.useFixture(fixtures.MockPatchObject(
            runs.time, 'gmtime', return_value=BEGIN.timetuple()))

        found = [runs.new_results('driver-') for _ in range(3)]

        self.assertEqual(
            [base / 'state/results' / f'driver-20260101T000000{end}'
             for end in ('', '_2', '_3')], found)
        self.assertEqual(0o700, found[0].stat().st_mode & 0o777)
