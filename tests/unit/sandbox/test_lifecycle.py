# SPDX-License-Identifier: Apache-2.0

import collections
import os
import shutil
import signal
import socket
import subprocess
import threading
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import lifecycle
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import record
from magnum_capi_sandbox import spec
from magnum_capi_tempest.management import dockers
from magnum_capi_tempest.management import folder
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest import resources
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from magnum_capi_tempest import toolchain
from tests.unit import own_folders
from tests.unit import strangers

_Usage = collections.namedtuple('_Usage', 'total used free')


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        for module in (toolchain, environment):
            self.useFixture(fixtures.MockPatchObject(
                module, 'ensure', self.must_not_be_called))
        self.box = sandbox.Sandbox(self.base / 'box')

    def must_not_be_called(self, *arguments):
        raise AssertionError('The guards let this pass')

    def pretend(self, **values):
        """Write the record of a sandbox that is up."""
        self.box.directory.mkdir()
        record.save(self.box.directory, record.Record(**{
            'profile': 'embedded', 'prefix': '127.77', 'port_base': 25000,
            'chart': str(resources.find('sandbox/charts/sandbox-cluster')),
            'ready': True} | values))

    def up(self, *wanted):
        return self.box.up(sandbox.Spec(*wanted), progress.Silent())

    def refused(self, error, *wanted):
        return str(self.assertRaises(error, self.up, *wanted))


class FolderTest(_Base):

    def test_default(self):
        self.assertEqual(self.base / 'state' / 'sandbox',
                         sandbox.Sandbox().directory)

    def test_two_names_of_a_folder_are_one_sandbox(self):
        (self.base / 'link').symlink_to(self.base)
        self.assertEqual(self.box.directory, sandbox.Sandbox(
            self.base / 'link' / 'box').directory)

    def test_relative(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.base)
        self.assertEqual(self.box.directory,
                         sandbox.Sandbox('box').directory)

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

    def test_down_without_a_sandbox(self):
        self.box.down(progress.Silent())
        self.assertFalse(self.box.directory.exists())

    def test_down_removes_what_an_interrupted_start_left(self):
        self.pretend(ready=False)
        elsewhere = self.base / 'elsewhere'
        elsewhere.mkdir()
        (elsewhere / 'kept').touch()
        (self.box.directory / 'db').mkdir()
        (self.box.directory / 'link').symlink_to(elsewhere)
        self.box.down(progress.Silent())
        self.assertFalse(self.box.directory.exists())
        self.assertTrue((elsewhere / 'kept').exists())

    def test_down_ends_what_a_killed_start_of_minikube_left(self):
        self.pretend(ready=False, management='minikube')
        plane = self.box.directory / 'management'
        plane.mkdir()
        folder.write(plane, hosted.Options().record
                     | {'docker': dockers.LENT})
        orphan = subprocess.Popen(
            ['sleep', '600'], env={runmarks.MARK: str(plane),
                                   'PATH': os.defpath})
        self.addCleanup(orphan.kill)
        # Our own child stays a zombie until it is waited for.
        threading.Thread(target=orphan.wait, daemon=True).start()
        self.box.down(progress.Silent())
        self.assertEqual(-signal.SIGKILL, orphan.wait(10))
        self.assertFalse(self.box.directory.exists())

    def test_down_ends_the_tests_of_a_killed_run(self):
        self.pretend()
        orphan = subprocess.Popen(['sleep', '600'], env={
            runmarks.MARK: str(self.box.directory / 'tempest'),
            'PATH': os.defpath})
        self.addCleanup(orphan.kill)
        # Our own child stays a zombie until it is waited for.
        threading.Thread(target=orphan.wait, daemon=True).start()
        self.box.down(progress.Silent())
        self.assertEqual(-signal.SIGKILL, orphan.wait(10))

    def test_down_with_a_broken_record(self):
        self.box.directory.mkdir()
        (self.box.directory / 'sandbox.json').write_text('{"profile"')
        self.box.down(progress.Silent())
        self.assertFalse(self.box.directory.exists())

    def test_one_command_at_a_time(self):
        with record.locked(self.box.directory):
            self.assertIn('Another command', self.refused(errors.UsageError))

    def test_status_without_a_sandbox(self):
        self.assertRaises(errors.UsageError, self.box.status)

    def test_status_when_everything_has_gone(self):
        self.pretend()
        self.assertEqual([], self.box.status())


class OtherUsersTest(_Base):
    """What another user owns, or can put in its place, is left alone."""

    def refused_everywhere(self, path, told):
        before = sorted(self.base.rglob('*'))
        for act in ('up', 'down', 'status', 'set'):
            error = self.assertRaises(errors.UsageError, self.act, path, act)
            self.assertIn(str(told), str(error))
        self.assertEqual(before, [p for p in sorted(self.base.rglob('*'))
                                  if 'cache' not in p.parts])

    def act(self, path, act):
        box = sandbox.Sandbox(path)
        return {'up': lambda: box.up(sandbox.Spec(), progress.Silent()),
                'down': lambda: box.down(progress.Silent()),
                'status': box.status,
                'set': lambda: box.set(['a.b=c'], False, progress.Silent()),
                }[act]()

    @strangers.root
    def test_empty_folder(self):
        path = strangers.give(self.base / 'theirs')
        self.refused_everywhere(path, path)

    @strangers.root
    def test_folder_with_a_record(self):
        path = strangers.give(self.base / 'theirs')
        record.save(path, record.Record('embedded', '127.77', 25000, '?'))
        self.refused_everywhere(path, path)

    @strangers.root
    def test_below_a_folder(self):
        path = strangers.give(self.base / 'theirs')
        self.refused_everywhere(path / 'box', path)

    @strangers.root
    def test_link(self):
        self.pretend()
        link = self.base / 'link'
        link.symlink_to(self.box.directory)
        strangers.give(link)
        self.refused_everywhere(link, link)

    def test_in_a_folder_where_everybody_may_replace_it(self):
        path = self.base / 'open'
        path.mkdir()
        path.chmod(0o777)
        self.refused_everywhere(path / 'box', path)


class SpecTest(_Base):

    def test_unknown_profile(self):
        self.assertIn('Known profiles', self.refused(
            errors.UsageError, 'huge'))

    def test_another_profile_than_that_of_the_running_one(self):
        self.pretend(profile='full')
        self.assertIn("'full' is already up", self.refused(
            errors.UsageError, 'embedded'))

    def test_other_ports_than_those_of_the_running_one(self):
        self.pretend()
        self.assertIn('other ports', self.refused(
            errors.UsageError, None, None, 26000))

    def test_another_chart_than_that_of_the_running_one(self):
        self.pretend(chart='/charts/x')
        self.assertIn('another chart', self.refused(
            errors.UsageError, None,
            resources.find('sandbox/charts/sandbox-cluster')))

    def test_another_magnum_than_that_of_the_running_one(self):
        wheel = self.base / 'magnum-22.0.1-py3-none-any.whl'
        wheel.touch()
        for have, wanted in (({'magnum': '2026.1'}, '2025.1'),
                             ({'magnum': '2026.1'}, str(wheel)),
                             ({'magnum': '2026.1', 'magnum_wheel': '/x.whl'},
                              '2026.1')):
            self.pretend(**have)
            e = self.assertRaises(
                errors.UsageError, self.box.up, sandbox.Spec(magnum=wanted),
                progress.Silent())
            self.assertIn('with Magnum 2026.1', str(e))
            shutil.rmtree(self.box.directory)

    def test_other_nodes_than_those_of_the_running_one(self):
        self.pretend()
        for wanted in ({'nodes': 'docker'}, {'images': self.base}):
            e = self.assertRaises(
                errors.UsageError, self.box.up, sandbox.Spec(**wanted),
                progress.Silent())
            self.assertIn('other nodes or images', str(e))

    def test_another_place_of_cluster_api_than_that_of_the_running_one(self):
        self.pretend()
        e = self.assertRaises(
            errors.UsageError, self.box.up,
            sandbox.Spec(management='minikube'), progress.Silent())
        self.assertIn('with Cluster API in processes', str(e))

    def test_the_nodes_of_the_running_one(self):
        self.pretend(nodes=nodes.Nodes(nodes.DOCKER, str(self.base)))
        for wanted in ({}, {'nodes': 'docker'}, {'images': self.base}):
            e = self.assertRaises(
                AssertionError, self.box.up, sandbox.Spec(**wanted),
                progress.Silent())
            self.assertIn('guards let this pass', str(e))

    def test_real_nodes_need_a_chart_that_can(self):
        for name in ('Chart.yaml', 'values.yaml'):
            (self.base / name).touch()
        e = self.assertRaises(
            errors.UsageError, self.box.up,
            sandbox.Spec(chart=self.base, nodes='docker'), progress.Silent())
        self.assertIn('does not support containers', str(e))

    def test_an_empty_spec_is_met_by_any(self):
        """It goes on to what costs time."""
        self.pretend(profile='full', chart='/charts/x', port_base=26000)
        self.assertIn('guards let this pass', self.refused(AssertionError))

    def test_other_drivers_than_those_of_the_running_one(self):
        self.pretend()
        for wanted in ({'install': ('x',)}, {'discovery_filter': True},
                       {'clash': True}, {'magnum_conf': (self.conf(),)},
                       {'rate_limiting': True}):
            with self.subTest(str(wanted)):
                e = self.assertRaises(
                    errors.UsageError, self.box.up, sandbox.Spec(**wanted),
                    progress.Silent())
                self.assertIn('other drivers', str(e))

    def test_the_drivers_of_the_running_one(self):
        wanted = sandbox.Spec(install=('x',), discovery_filter=True,
                              magnum_conf=(self.conf(),), clash=True,
                              rate_limiting=True)
        self.pretend(additions=spec.additions(wanted))
        for again in (wanted, sandbox.Spec(clash=True),
                      sandbox.Spec(discovery_filter=True),
                      sandbox.Spec(rate_limiting=True)):
            with self.subTest(str(again)):
                if again is not wanted and again.clash:
                    # Fewer than it has are others.
                    self.assertRaises(errors.UsageError, self.box.up, again,
                                      progress.Silent())
                    continue
                e = self.assertRaises(AssertionError, self.box.up, again,
                                      progress.Silent())
                self.assertIn('guards let this pass', str(e))

    def conf(self):
        path = self.base / 'x.conf'
        path.write_text('[drivers]\n')
        return path

    def test_nothing_costly_before_the_spec_is_checked(self):
        for wanted in (sandbox.Spec(install=('./missing',)),
                       sandbox.Spec(magnum_conf=('missing',))):
            self.assertRaises(errors.UsageError, self.box.up, wanted,
                              progress.Silent())
        self.assertFalse(self.box.directory.exists())

    def test_chart_that_is_none(self):
        self.assertIn('no Chart.yaml', self.refused(
            errors.UsageError, None, self.base))

    def test_default_chart(self):
        self.assertTrue((spec.chart(None) / 'Chart.yaml').is_file())

    def test_relative_chart(self):
        (self.base / 'Chart.yaml').touch()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.base)
        self.assertEqual(self.base, spec.chart('.'))

    def test_ports_out_of_range(self):
        for base in (-1, 0, 1023, 64001):
            self.assertRaises(errors.UsageError, lifecycle._ports, base)

    def test_ports_within_the_range_are_ports(self):
        for base in (1024, 64000):
            ports = lifecycle._ports(base)
            self.assertEqual(sorted(set(ports)), ports)
            self.assertTrue(all(base <= p <= 65535 for p in ports))


class MachineTest(_Base):

    def test_no_room(self):
        asked = []

        def disk_usage(folder):
            asked.append(folder)
            return _Usage(2 << 30, (2 << 30) - (5 << 20), 5 << 20)

        self.useFixture(fixtures.MockPatchObject(
            lifecycle.shutil, 'disk_usage', disk_usage))
        self.assertIn('5.0 MiB free, 2.0 GiB needed',
                      self.refused(errors.EnvironmentProblem))
        self.assertEqual([self.base], asked)
        self.assertFalse(self.box.directory.exists())

    def test_packages_of_the_full_profile(self):
        def check():
            raise errors.EnvironmentProblem('mariadbd is missing')

        self.useFixture(fixtures.MockPatchObject(
            lifecycle.backends, 'check', check))
        self.assertIn('mariadbd', self.refused(
            errors.EnvironmentProblem, 'full'))
        self.assertIn('guards let this pass', self.refused(
            AssertionError, profiles.DEFAULT))

    def test_path_too_long_for_a_socket(self):
        e = self.assertRaises(
            errors.UsageError, sandbox.Sandbox, self.base / ('x' * 100))
        self.assertIn('too long', str(e))


class SetTest(_Base):
    """``sandbox set``; Magnum's restart is a stand-in."""

    def setUp(self):
        super().setUp()
        self.restarts = []
        self.useFixture(fixtures.MockPatchObject(
            lifecycle.toolchain, 'ensure', lambda *a: {'helm': self.base}))
        self.useFixture(fixtures.MockPatchObject(
            lifecycle.environment, 'both', lambda *a:
            environment.Environments(self.base, self.base)))
        self.useFixture(fixtures.MockPatchObject(
            lifecycle.deployment.Cloud, 'restart_magnum',
            lambda *a: self.restarts.append(self.file.read_text())))
        self.file = self.box.directory / 'etc' / 'magnum.d' / '90-set.conf'

    def running(self, answer=True):
        self.pretend()
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

    def test_bad_word(self):
        self.running()
        self.assertRaises(errors.UsageError, self.set, 'a.b=1', 'c')
        self.assertEqual((False, []), (self.file.exists(), self.restarts))

    def test_sandbox_that_does_not_run(self):
        self.running(False)
        e = self.assertRaises(errors.UsageError, self.set, 'a.b=1')
        self.assertIn('not running', str(e))
        self.assertFalse(self.file.exists())

    def test_no_sandbox(self):
        self.assertRaises(errors.UsageError, self.set, 'a.b=1')
        self.assertFalse(self.box.directory.exists())

    def test_while_another_command_is_at_it(self):
        self.running()
        with record.locked(self.box.directory):
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
            sandbox.Sandbox, '_start', start))

    def test_nothing_is_left_but_the_logs(self):
        self.start(errors.WaitTimeout('Timed out'))
        self.assertIn('Timed out', self.refused(errors.WaitTimeout))
        self.assertFalse(self.box.directory.exists())
        self.assertEqual(
            ['why'], [p.read_text() for p in self.base.rglob('nova.log')])

    def test_nothing_is_left_of_an_interrupted_one(self):
        self.start(KeyboardInterrupt())
        self.assertRaises(KeyboardInterrupt, self.up)
        self.assertFalse(self.box.directory.exists())
        self.assertEqual([], list(self.base.rglob('nova.log')))

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
            sandbox.Sandbox, '_start', start))
        self.assertRaises(KeyboardInterrupt, self.up)
        self.assertEqual([0o700], seen)

    def test_busy_port_is_named(self):
        with socket.socket() as s:
            s.bind(('0.0.0.0', 0))
            s.listen()
            port = s.getsockname()[1]
            base = port - lifecycle.layouts.PORTS['nova']
            message = self.refused(
                errors.EnvironmentProblem, None, None, base)
        self.assertIn(f'Port {port} is taken on all addresses', message)
        self.assertIn(f'(pid {os.getpid()})', message)
        self.assertFalse(self.box.directory.exists())
