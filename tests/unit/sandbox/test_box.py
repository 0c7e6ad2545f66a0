# SPDX-License-Identifier: Apache-2.0

import collections
import os
import signal
import subprocess
import threading
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox import box as boxes
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import locks
from magnum_capi_sandbox import profiles
from magnum_capi_tempest.management import folder
from magnum_capi_tempest.management import network
from magnum_capi_tempest import resources
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from magnum_capi_tempest import toolchain
from tests.unit import docker_program
from tests.unit import own_folders
from tests.unit.sandbox import samples
from tests.unit import strangers

_Usage = collections.namedtuple('_Usage', 'total used free')


OURS = str(resources.find('sandbox/charts/sandbox-cluster'))


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        for module in (toolchain, environment):
            self.useFixture(fixtures.MockPatchObject(
                module, 'ensure', self.must_not_be_called))
        self.box = sandbox.Box(self.base / 'box')

    def must_not_be_called(self, *arguments):
        raise AssertionError('The guards let this pass')

    def versions_are(self, found):
        """What is pinned here."""
        self.useFixture(fixtures.MockPatchObject(
            boxes, '_versions', lambda spec: dict(found)))

    def up(self, **wanted):
        return self.box.up(sandbox.Spec(**wanted), progress.Silent())

    def refused(self, error, **wanted):
        return str(self.assertRaises(error, self.up, **wanted))


class FolderTest(_Base):

    def test_folder_of_somebody_else(self):
        self.box.directory.mkdir()
        (self.box.directory / 'thesis.tex').touch()
        self.assertIn('not a sandbox', self.refused(errors.UsageError))
        e = self.assertRaises(
            errors.UsageError, self.box.down, progress.Silent())
        self.assertIn(str(self.box.directory), str(e))
        self.assertEqual(['thesis.tex'], os.listdir(self.box.directory))

    def test_file_in_its_place(self):
        self.box.directory.write_text('mine')
        self.assertIn('not a sandbox', self.refused(errors.UsageError))
        self.assertRaises(errors.UsageError, self.box.down,
                          progress.Silent())
        self.assertEqual('mine', self.box.directory.read_text())

    def test_down_removes_what_an_interrupted_start_left(self):
        samples.save(self.box.directory, ready=False)
        elsewhere = self.base / 'elsewhere'
        elsewhere.mkdir()
        (elsewhere / 'kept').touch()
        (self.box.directory / 'db').mkdir()
        (self.box.directory / 'link').symlink_to(elsewhere)
        self.box.down(progress.Silent())
        self.assertFalse(self.box.directory.exists())
        self.assertTrue((elsewhere / 'kept').exists())

    def assert_down_ends_orphan_of(self, name):
        orphan = subprocess.Popen(['sleep', '600'], env={
            runmarks.MARK: str(self.box.directory / name),
            'PATH': os.defpath})
        self.addCleanup(orphan.kill)
        # Our own child stays a zombie until it is waited for.
        threading.Thread(target=orphan.wait, daemon=True).start()
        self.box.down(progress.Silent())
        self.assertEqual(-signal.SIGKILL, orphan.wait(10))
        self.assertFalse(self.box.directory.exists())

    def test_down_ends_what_a_killed_start_of_minikube_left(self):
        samples.save(self.box.directory, ready=False, management='minikube')
        plane = self.box.directory / 'management'
        plane.mkdir()
        folder.write(plane, {'backend': 'minikube', 'ready': False,
                             'docker': 'unix:///nowhere'})
        self.assert_down_ends_orphan_of('management')

    def test_down_ends_the_tests_of_a_killed_run(self):
        samples.save(self.box.directory)
        self.assert_down_ends_orphan_of('tempest')

    def test_down_with_a_record_that_cannot_be_read(self):
        self.box.directory.mkdir()
        (self.box.directory / 'sandbox.json').write_text('{"profile"')
        docker = self.useFixture(docker_program.Docker(**{
            'ps': 'c1', 'rm': '', 'network ls': ''}))
        e = self.assertRaises(
            errors.UsageError, self.box.down, progress.Silent())
        self.assertIn('another version', str(e))
        self.assertTrue(self.box.directory.exists())
        self.assertEqual([], docker.asked)
        self.box.down(progress.Silent(), force=True)
        self.assertFalse(self.box.directory.exists())
        # The record would tell whether its nodes were containers.
        self.assertIn(f'label=io.magnum-capi.owner={self.box.directory}'
                      '/management', '\n'.join(docker.asked))
        self.assertIn('rm --force --volumes c1', docker.asked)

    def test_force_does_not_remove_what_is_no_sandbox(self):
        self.box.directory.mkdir()
        (self.box.directory / 'thesis.tex').touch()
        self.assertRaises(errors.UsageError, self.box.down,
                          progress.Silent(), force=True)
        self.assertEqual(['thesis.tex'], os.listdir(self.box.directory))

    def test_sandboxes_that_run_and_the_default_one(self):
        other = samples.save(self.base / 'other')
        program = subprocess.Popen(['sleep', '600'], env={
            runmarks.MARK: str(self.base / 'other'), 'PATH': os.defpath})
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        # A management cluster has the same mark, and is none.
        alone = subprocess.Popen(['sleep', '600'], env={
            runmarks.MARK: str(self.base), 'PATH': os.defpath})
        self.addCleanup(alone.wait)
        self.addCleanup(alone.kill)
        (self.base / 'state').mkdir()
        samples.save(self.base / 'state' / 'sandbox')
        self.assertTrue(other.ready)
        found = [folder for folder in sandbox.running()
                 if folder.is_relative_to(self.base)]
        self.assertEqual([self.base / 'other',
                          self.base / 'state' / 'sandbox'], found)

    def test_status_when_everything_has_gone(self):
        samples.save(self.box.directory)
        self.assertEqual([], self.box.status())


class OtherUsersTest(_Base):
    """What another user owns, or can put in its place, is left alone."""

    def act(self, path, act):
        box = sandbox.Box(path)
        return {'up': lambda: box.up(sandbox.Spec(), progress.Silent()),
                'down': lambda: box.down(progress.Silent()),
                'status': box.status,
                'set': lambda: box.set(['a.b=c'], False, progress.Silent()),
                }[act]()

    @strangers.root
    def test_no_command_touches_it(self):
        empty = strangers.give(self.base / 'theirs')
        recorded = strangers.give(self.base / 'recorded')
        samples.save(recorded)
        samples.save(self.box.directory)
        link = self.base / 'link'
        link.symlink_to(self.box.directory)
        strangers.give(link)
        # Where everybody may replace it.
        everybodys = self.base / 'open'
        everybodys.mkdir()
        everybodys.chmod(0o777)
        before = sorted(self.base.rglob('*'))
        for path, told in (
                (empty, empty), (recorded, recorded), (empty / 'box', empty),
                (link, link), (everybodys / 'box', everybodys)):
            for act in ('up', 'down', 'status', 'set'):
                with self.subTest(f'{act} {path}'):
                    error = self.assertRaises(
                        errors.UsageError, self.act, path, act)
                    self.assertIn(str(told), str(error))
        self.assertEqual(before, [p for p in sorted(self.base.rglob('*'))
                                  if 'cache' not in p.parts])


class SpecTest(_Base):

    #: What is asked for, of a sandbox as in :func:`.samples.a_spec`.
    OTHERS = (
        ({'profile': 'full'}, {'profile': 'embedded'},
         'profile is full, not embedded'),
        ({}, {'profile': 'full'}, 'profile is embedded, not full'),
        ({}, {'port_base': 26000}, 'port base is 25000, not 26000'),
        ({'magnum': '2026.1'}, {'magnum': '2025.1'},
         'magnum is 2026.1, not 2025.1'),
        ({'magnum': '/x.whl'}, {'magnum': '2026.1'}, 'not 2026.1'),
        ({}, {'nodes': 'docker'}, 'nodes is memory, not docker'),
        ({}, {'management': 'minikube'}, 'management is processes'),
        ({}, {'infrastructure': 'openstack'}, 'infrastructure is memory'),
        ({}, {'install': ('x',)}, 'install is none, not x'),
        ({'install': ('x', 'y')}, {'install': ('x',)}, 'is x, y, not x'),
        ({}, {'discovery_filter': True}, 'discovery filter is none, not set'),
        ({}, {'clash': True}, 'clash is none'),
        ({}, {'rate_limiting': True}, 'rate limiting is none'),
        ({'chart': '/charts/x'}, {'chart': OURS}, 'chart is /charts/x, not'),
    )

    def test_another_sandbox_than_the_one_that_is_up(self):
        for have, asked, said in self.OTHERS:
            with self.subTest(said):
                samples.save(self.box.directory, **have)
                message = self.refused(errors.UsageError, **asked)
                self.assertIn(said, message)
                self.assertIn('sandbox down --directory', message)

    def test_the_sandbox_that_is_up(self):
        """It goes on to what costs time."""
        have = {'profile': 'full', 'port_base': 26000, 'install': ('x',),
                'discovery_filter': True, 'clash': True, 'nodes': 'docker',
                'magnum': '2026.1',
                'magnum_conf': (self.conf(),), 'rate_limiting': True}
        self.versions_are(samples.VERSIONS)
        samples.save(self.box.directory, **have)
        for asked in ({}, have, *({k: v} for k, v in have.items())):
            with self.subTest(str(asked)):
                self.assertIn('guards let this pass', self.refused(
                    AssertionError, **asked))

    def test_another_run_starts_on_its_network(self):
        self.versions_are(samples.VERSIONS)
        self.useFixture(fixtures.MockPatchObject(
            boxes, '_prepared', lambda *arguments: ({}, None)))
        prefix = f'127.{210 + os.getpid() % 40}'
        samples.save(self.box.directory, network=prefix)
        with network.claim(f'{prefix}.0.1'):
            self.assertIn('the same loopback network',
                          self.refused(errors.EnvironmentProblem))
        self.assertEqual(['sandbox.json'], os.listdir(self.box.directory))

    def conf(self):
        path = self.base / 'x.conf'
        path.write_text('[drivers]\n')
        return str(path)

    def test_nothing_costly_before_the_spec_is_checked(self):
        for wanted in ({'profile': 'huge'}, {'install': ('./missing',)},
                       {'magnum_conf': ('missing',)}, {'chart': self.base},
                       {'magnum': '1'}):
            self.refused(errors.UsageError, **wanted)
        self.assertFalse(self.box.directory.exists())

    def test_ports_are_in_the_range(self):
        for base in (-1, 0, 1023, 64001):
            self.assertRaises(errors.UsageError, boxes._ports, base)
        for base in (1024, 64000):
            ports = boxes._ports(base)
            self.assertEqual(sorted(set(ports)), ports)
            self.assertTrue(all(base <= p <= 65535 for p in ports))


class VersionsTest(_Base):
    """Programs of two versions never work on the same data."""

    def setUp(self):
        super().setUp()
        samples.save(self.box.directory)
        self.useFixture(fixtures.MockPatchObject(
            supervision.Supervisor, 'running', lambda box: True))

    def test_other_pins_than_those_of_the_running_one(self):
        for pins, said in (
                ({'etcd': '3.6.17'}, 'etcd 3.6.16, here 3.6.17'),
                ({'helm': '4.0.0'}, 'helm none, here 4.0.0'),
                ({'packages of Magnum': 'b'}, 'Magnum aaaaaaaaaaaa, here b')):
            self.versions_are(samples.VERSIONS | pins)
            for act in (self.up, lambda: self.box.set(
                    ['a.b=1'], True, progress.Silent())):
                message = str(self.assertRaises(errors.UsageError, act))
                self.assertIn('made with other versions', message)
                self.assertIn(said, message)
                self.assertIn('sandbox down --directory', message)

    def test_pins_and_our_own_sources_are_versions(self):
        found = boxes._versions(samples.a_spec())
        self.assertEqual(
            {*toolchain.pins.load().programs} & {*found},
            {'etcd', 'kube-apiserver', 'capi', 'helm'})
        self.assertRegex(found['capi'], r'^[0-9.]+-[0-9a-f]{12}$')
        self.assertEqual(environment.key(), found['packages of Magnum'])
        self.assertNotEqual(found, boxes._versions(
            samples.a_spec(magnum='2026.1')))

    def test_what_env_shows_is_what_it_was_made_with(self):
        (self.box.directory / 'seeded.json').write_text('{}')
        venv = self.base / 'cache' / 'cloud' / 'aaaaaaaaaaaa'
        self.assertEqual(str(venv / 'bin' / 'openstack'),
                         self.box.env()['SANDBOX_OPENSTACK'])


class MachineTest(_Base):

    def test_no_room(self):
        asked = []

        def disk_usage(folder):
            asked.append(folder)
            return _Usage(2 << 30, (2 << 30) - (5 << 20), 5 << 20)

        self.useFixture(fixtures.MockPatchObject(
            boxes.shutil, 'disk_usage', disk_usage))
        self.assertIn('5.0 MiB free, 2.0 GiB needed',
                      self.refused(errors.EnvironmentProblem))
        self.assertEqual([self.base], asked)
        self.assertFalse(self.box.directory.exists())

    def test_packages_of_the_full_profile(self):
        def check():
            raise errors.EnvironmentProblem('mariadbd is missing')

        self.useFixture(fixtures.MockPatchObject(
            boxes.backends, 'check', check))
        self.assertIn('mariadbd', self.refused(
            errors.EnvironmentProblem, profile='full'))
        self.assertIn('guards let this pass', self.refused(
            AssertionError, profile=profiles.DEFAULT))


class SetTest(_Base):
    """``sandbox set``; Magnum's restart is a stand-in."""

    def setUp(self):
        super().setUp()
        self.restarts = []
        self.versions_are(samples.VERSIONS)
        self.useFixture(fixtures.MockPatchObject(
            boxes.toolchain, 'ensure', lambda *a: {'helm': self.base}))
        self.useFixture(fixtures.MockPatchObject(
            boxes.environment, 'both', lambda *a:
            environment.Environments(self.base, self.base)))
        self.useFixture(fixtures.MockPatchObject(
            boxes.deployment.Cloud, 'restart_magnum',
            lambda *a: self.restarts.append(self.file.read_text())))
        self.file = self.box.directory / 'etc' / 'magnum.d' / '90-set.conf'

    def running(self, answer=True):
        samples.save(self.box.directory)
        self.useFixture(fixtures.MockPatchObject(
            supervision.Supervisor, 'running', lambda box: answer))

    def set(self, *words, restart=True):
        self.box.set(words, restart, progress.Silent())

    def test_written_before_the_restart(self):
        self.running()
        self.set('drivers.default_driver=x')
        self.assertEqual([self.file.read_text()], self.restarts)
        self.assertIn('default_driver = x', self.restarts[0])

    def test_without_a_restart(self):
        self.running()
        self.set('drivers.default_driver=x', restart=False)
        self.assertIn('default_driver = x', self.file.read_text())
        self.assertEqual([], self.restarts)

    def test_sandbox_that_does_not_run(self):
        self.running(False)
        e = self.assertRaises(errors.UsageError, self.set, 'a.b=1')
        self.assertIn('not running', str(e))
        self.assertFalse(self.file.exists())

    def test_while_another_command_is_at_it(self):
        self.running()
        with locks.alone(self.box.directory):
            e = self.assertRaises(errors.UsageError, self.set, 'a.b=1')
        self.assertIn('Another command', str(e))


class FailedStartTest(_Base):
    """What is taken back; the start itself is a stand-in."""

    def setUp(self):
        super().setUp()
        for module, name in ((toolchain, 'ensure'), (environment, 'both')):
            self.useFixture(fixtures.MockPatchObject(
                module, name, lambda *arguments: mock.sentinel.made))

    def start(self, error):
        def start(box, *arguments):
            (box.directory / 'log').mkdir()
            (box.directory / 'log' / 'nova.log').write_text('why')
            raise error
        self.useFixture(fixtures.MockPatchObject(
            sandbox.Box, '_start', start))

    def test_nothing_is_left_but_the_logs(self):
        self.start(errors.WaitTimeout('Timed out'))
        self.assertIn('Timed out', self.refused(errors.WaitTimeout))
        self.assertFalse(self.box.directory.exists())
        self.assertEqual(
            ['why'], [p.read_text() for p in self.base.rglob('nova.log')])

    def test_logs_do_not_replace_a_folder_of_the_user(self):
        kept = self.base / 'box-failed' / 'thesis.tex'
        kept.parent.mkdir()
        kept.touch()
        self.start(errors.WaitTimeout('Timed out'))
        self.refused(errors.WaitTimeout)
        self.assertTrue(kept.exists())

    def test_an_existing_folder_becomes_private(self):
        seen = []

        def start(box, *arguments):
            seen.append(box.directory.stat().st_mode & 0o777)
            raise KeyboardInterrupt

        self.box.directory.mkdir(mode=0o755)
        self.useFixture(fixtures.MockPatchObject(
            sandbox.Box, '_start', start))
        self.assertRaises(KeyboardInterrupt, self.up)
        self.assertEqual([0o700], seen)
