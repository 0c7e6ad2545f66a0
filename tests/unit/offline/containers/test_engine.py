# SPDX-License-Identifier: Apache-2.0

import fcntl
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from tests.unit import strangers
from tools.offline import containers
from tools.offline.containers import access
from tools.offline.containers import engine
from tools.offline.containers import networks


class EngineTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        # Engines of this machine are no part of these tests.
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(self.folder / 'cache')))
        self.engine = containers.Engine(
            self.folder / 'run', images=self.folder / 'images')

    def test_says_in_one_line_why_it_cannot(self):
        self.useFixture(fixtures.MonkeyPatch(
            'tools.offline.containers.host.problem',
            lambda store: 'root lacks everything here'))
        e = self.assertRaises(errors.EnvironmentProblem, self.engine.up,
                              progress.Silent())
        self.assertIn('root lacks everything here', str(e))
        self.assertFalse((self.folder / 'run').exists())

    def test_store_of_another_engine(self):
        self.useFixture(fixtures.MonkeyPatch(
            'tools.offline.containers.host.problem', lambda store: None))
        lock = self.engine.layout.lock
        lock.parent.mkdir()
        with open(lock, 'w') as file:
            file.write('/its/folder\n')
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
            e = self.assertRaises(errors.EnvironmentProblem, self.engine.up,
                                  progress.Silent())
        self.assertIn('the engine of /its/folder', str(e))
        self.assertIn(engine.STORE_VARIABLE, str(e))

    def test_nothing_runs(self):
        self.assertIsNone(self.engine.access())
        self.engine.down()
        self.assertEqual([], list(self.folder.iterdir()))

    @strangers.root
    def test_folders_of_other_users(self):
        theirs = strangers.give(self.folder / 'theirs')
        for run, images in ((theirs, 'images'), (theirs / 'run', 'images'),
                            ('run', theirs), ('run', theirs / 'images')):
            e = self.assertRaises(
                errors.UsageError, containers.Engine, self.folder / run,
                images=self.folder / images)
            self.assertIn(f'{theirs} belongs to', str(e))
        self.assertEqual([], list(theirs.iterdir()))


class AccessTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.access = access.Access(
            pathlib.Path('/run/x/docker.sock'), 42,
            networks.parse('10.213.0.0/16'))

    def test_programs_reach_nodes_without_a_proxy(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'NO_PROXY', 'example.org'))
        found = self.access.environment
        self.assertEqual('unix:///run/x/docker.sock', found['DOCKER_HOST'])
        self.assertEqual('example.org,10.213.0.0/16', found['NO_PROXY'])
        self.assertEqual(found['NO_PROXY'], found['no_proxy'])
