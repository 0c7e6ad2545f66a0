# SPDX-License-Identifier: Apache-2.0

import fcntl
import pathlib
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest import containers
from magnum_capi_tempest.containers import access
from magnum_capi_tempest.containers import engine
from magnum_capi_tempest.containers import host
from magnum_capi_tempest.containers import networks
from tests.unit import strangers


class EngineTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        # Engines of this machine are no part of these tests.
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(self.folder / 'cache')))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.host_record.FOLDER',
            self.folder / 'host'))
        self.engine = containers.Engine(
            self.folder / 'run', images=self.folder / 'images')

    def test_says_in_one_line_why_it_cannot(self):
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.host.problem',
            lambda store: 'root lacks everything here'))
        e = self.assertRaises(errors.EnvironmentProblem, self.engine.up,
                              progress.Silent())
        self.assertIn('root lacks everything here', str(e))
        self.assertFalse((self.folder / 'run').exists())

    def test_store_of_another_engine(self):
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.host.problem', lambda store: None))
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

    def test_kernel_is_put_back_after_a_kill(self):
        left = []
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.host_record.leave', left.append))
        self.engine.layout.directory.mkdir()
        self.engine.layout.record.write_text('{"network": "10.213.0.0/16"}')
        self.engine.repair()
        self.assertEqual([self.engine.layout.key], left)
        self.assertFalse(self.engine.layout.directory.exists())

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

    def test_store_is_named_by_a_variable(self):
        self.useFixture(fixtures.EnvironmentVariable(
            engine.STORE_VARIABLE, '/elsewhere'))
        self.assertEqual(pathlib.Path('/elsewhere'),
                         containers.Engine('/x').layout.store)


class AccessTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.access = access.Access(
            pathlib.Path('/run/x/docker.sock'), 42,
            networks.parse('10.213.0.0/16'), pathlib.Path('/images'))

    def test_programs_reach_nodes_without_a_proxy(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'NO_PROXY', 'example.org'))
        found = self.access.environment
        self.assertEqual('unix:///run/x/docker.sock', found['DOCKER_HOST'])
        self.assertEqual('example.org,10.213.0.0/16', found['NO_PROXY'])
        self.assertEqual(found['NO_PROXY'], found['no_proxy'])

    def test_runs_in_its_network(self):
        self.assertEqual(
            ['nsenter', '--net=/proc/42/ns/net', '--', 'minikube', 'start'],
            self.access.run_in(['minikube', 'start']))

    def test_loads_what_is_missing(self):
        loaded, closed = [], []
        client = types.SimpleNamespace(close=lambda: closed.append(True))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.access.Access.client',
            lambda self, timeout=0: client))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.store.missing',
            lambda archives, client: archives[1:]))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.store.load',
            lambda archive, client, free: loaded.append(archive.name)))
        object.__setattr__(self.access, 'data', pathlib.Path('/'))
        archives = [types.SimpleNamespace(name='a'),
                    types.SimpleNamespace(name='b')]
        self.assertEqual(archives[1:], self.access.missing(archives))
        self.access.load(archives, progress.Silent())
        self.assertEqual(['b'], loaded)
        self.assertEqual([True, True], closed)


class ProblemTest(testtools.TestCase):

    def test_the_trial_comes_last(self):
        asked = []
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.host.look',
            lambda: host.Facts('linux', 0, (1 << 41) - 1,
                               dict.fromkeys(host.PROGRAMS, '/bin/x'),
                               frozenset(host.CONTROLLERS), True)))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.host._try',
            lambda unshare, store: asked.append(store) or 'no veth'))
        self.assertIn('no veth', containers.problem('/store'))
        self.assertEqual(['/store'], asked)
