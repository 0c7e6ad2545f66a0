# SPDX-License-Identifier: Apache-2.0

import fcntl
import os
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.cli import management as cli
from magnum_capi_tempest.management import local
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import supervision


class FolderTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.directory = base / 'cluster'
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(base / 'cache')))
        self.tools = dict.fromkeys(local.tools(), pathlib.Path('/nowhere'))

    def up(self, **options):
        return standalone.up(self.directory, progress.Silent(), self.tools,
                             **options)

    def fail(self, error):
        def up(plane, supervisor, progress):
            plane.layout.pki.mkdir()
            raise error
        self.useFixture(fixtures.MockPatchObject(
            local.Processes, 'up', up))

    def test_failed_up_leaves_nothing(self):
        self.fail(errors.EnvironmentProblem('No disk'))
        self.assertRaises(errors.EnvironmentProblem, self.up)
        self.assertFalse(self.directory.exists())

    def test_folder_of_somebody_else(self):
        self.directory.mkdir()
        (self.directory / 'thesis.tex').touch()
        for command in (self.up, lambda: standalone.down(self.directory)):
            e = self.assertRaises(errors.UsageError, command)
            self.assertIn(str(self.directory), str(e))
        self.assertTrue((self.directory / 'thesis.tex').exists())

    def test_one_command_at_a_time(self):
        self.directory.mkdir()
        descriptor = os.open(self.directory, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        e = self.assertRaises(errors.UsageError, self.up)
        self.assertIn('Another command', str(e))

    def test_down_and_status_of_nothing(self):
        standalone.down(self.directory)
        self.assertEqual([], standalone.status(self.directory))

    def test_broken_record(self):
        self.directory.mkdir()
        (self.directory / 'management.json').write_text('{"address": ')
        self.assertEqual([], standalone.status(self.directory))
        standalone.down(self.directory)
        self.assertFalse(self.directory.exists())

    def test_a_running_one_keeps_its_kind_of_machines(self):
        used = []
        self.useFixture(fixtures.MockPatchObject(
            local.Processes, 'up', lambda plane, *_: used.append(
                plane.layout.address)))
        self.useFixture(fixtures.MockPatchObject(
            supervision.Supervisor, 'running', lambda _: bool(used)))

        self.up()
        self.up()
        e = self.assertRaises(errors.UsageError, self.up,
                              endpoint_network='198.18.0.0/16')

        self.assertEqual(2, len(used))
        self.assertEqual(1, len(set(used)))
        self.assertIn('another kind of machines', str(e))


class CliTest(testtools.TestCase):

    def test_unknown_backend(self):
        command = cli.Up(None, None)
        args = command.get_parser('up').parse_args(['--backend', 'moon'])
        e = self.assertRaises(errors.UsageError, command.take_action, args)
        self.assertIn('processes', str(e))
