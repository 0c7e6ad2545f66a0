# SPDX-License-Identifier: Apache-2.0

from concurrent import futures
import io
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import threading
from unittest import mock

import fixtures
import testtools

from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cli import sandbox as cli
from magnum_capi_sandbox import tempest_run
from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest import report
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from magnum_capi_tempest.workspace import runs
from tests.proofs.discovery import suite
from tests.unit.cli import terminal
from tests.unit import own_folders
from tests.unit.sandbox import samples


class CommandsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(own_folders.OwnFolders())
        # Those of the clouds and proxies of who runs the tests.
        for name in [*os.environ]:
            if name.startswith('OS_') or name.lower().endswith('_proxy'):
                self.useFixture(fixtures.EnvironmentVariable(name))
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        # What the programs of Magnum's environment would say.
        for name, said in (('drivers', []), ('label', 'k8s_x (x 1.0)')):
            self.useFixture(fixtures.MockPatchObject(
                tempest_run.usable_drivers, name, return_value=said))

    def call(self, command, *argv):
        """Exit code and standard output."""
        code, out, self.err = terminal.command(
            command, '--directory', self.folder, *argv)
        return code, out

    def pretend(self, **values):
        """A sandbox that is up, as far as files tell."""
        samples.a_layout(self.folder)
        return samples.save(self.folder, **values)

    def patch(self, name, **kwargs):
        patched = mock.Mock(**kwargs)
        self.useFixture(fixtures.MockPatchObject(
            sandbox.Box, name, patched))
        return patched

    def test_up_hands_over_what_was_wanted(self):
        up = self.patch('up', return_value=self.pretend())
        code, _ = self.call(cli.Up, '--profile', 'full', '--chart', '/c',
                            '--port-base', '26000')
        self.assertEqual(0, code)
        self.assertEqual(
            sandbox.Spec('full', pathlib.Path('/c'), 26000),
            up.call_args.args[0])

    def test_up_with_drivers(self):
        up = self.patch('up', return_value=self.pretend())
        self.call(cli.Up, '--install', 'a', '--install', 'b',
                  '--magnum-conf', '/x', '--discovery-filter', '--clash')
        self.assertEqual(sandbox.Spec(
            install=('a', 'b'), magnum_conf=(pathlib.Path('/x'),),
            discovery_filter=True, clash=True), up.call_args.args[0])

    def words_of_the_hint(self, pattern):
        """The words of a command line that standard error has."""
        return shlex.split(re.search(pattern, self.err)[1])

    def test_up_prints_a_command_that_works_as_typed(self):
        self.folder /= 'a b'
        self.folder.mkdir()
        self.patch('up', return_value=self.pretend())
        self.call(cli.Up)
        self.assertEqual(
            ['magnum-capi', 'sandbox', 'env', '--directory',
             str(self.folder)],
            self.words_of_the_hint(r'eval "\$\((.+)\)"'))

    def test_set(self):
        change = self.patch('set')
        self.call(cli.Set, 'a.b=1', 'c.d=')
        self.call(cli.Set, '--no-restart', 'a.b=1')
        self.assertEqual(
            [(['a.b=1', 'c.d='], True), (['a.b=1'], False)],
            [c.args[:2] for c in change.call_args_list])

    def say(self, text):
        """What standard input has."""
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', io.StringIO(text)))

    def test_changes_that_are_no_arguments(self):
        """Everybody may read arguments, and one may be a password."""
        change = self.patch('set')
        self.say('a.b=1\n\nc.d=x y\n')
        self.call(cli.Set, '-')
        self.assertEqual(['a.b=1', 'c.d=x y'], change.call_args.args[0])

    def test_options_that_are_no_arguments(self):
        self.say('\nimage_id=a\n')
        args = cli.Tempest(None, None).get_parser('x').parse_args(
            ['--option', 'flavor_id=b', '--option', '-'])
        self.assertEqual([('flavor_id', 'b'), ('image_id', 'a')], args.option)

    def status(self, *found):
        self.patch('status', return_value=[
            supervision.Status(*s) for s in found])
        return self.call(cli.Status, '-f', 'json')

    def test_status_of_one_that_runs(self):
        code, out = self.status(('nova', 'RUNNING', 7, 64 << 20, 1.24),
                                ('etcd', 'RUNNING', 8, 32 << 20, 0.5))
        self.assertEqual(0, code)
        rows = {row['Program']: row for row in json.loads(out)}
        self.assertEqual(
            {'Program': 'nova', 'State': 'RUNNING', 'PID': 7,
             'Memory MiB': 64, 'CPU s': 1.2}, rows['nova'])
        self.assertEqual((96, 1.7), (rows['total']['Memory MiB'],
                                     rows['total']['CPU s']))

    def test_status_with_a_dead_program(self):
        code, out = self.status(('nova', 'RUNNING', 7, 0, 0.0),
                                ('etcd', 'EXITED', None, 0, 0.0))
        self.assertEqual(1, code)
        self.assertIn('EXITED', out)

    def test_status_without_programs(self):
        self.assertEqual(1, self.status()[0])

    def test_status_shows_what_it_is(self):
        self.pretend()
        self.patch('status', return_value=[
            supervision.Status('nova', 'RUNNING', 7, 0, 0.0)])
        code, out = self.call(cli.Status)
        self.assertEqual(0, code)
        for word in (str(self.folder), 'http://127.77.0.1:25000/v3',
                     'embedded', 'Magnum: 2026.2', 'etcd 3.6.16', 'nova'):
            self.assertIn(word, out)
        _, out = self.call(cli.Status, '-f', 'json')
        self.assertEqual({'nova', 'total'},
                         {row['Program'] for row in json.loads(out)})

    def test_list(self):
        self.pretend()
        damaged = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (damaged / 'sandbox.json').write_text('{')
        # Of a version that had other releases.
        other = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        samples.save(other, magnum='2024.1')
        self.useFixture(fixtures.MockPatchObject(
            sandbox, 'running', lambda: [self.folder, damaged, other]))
        code, out, _ = terminal.command(cli.List, '-f', 'json')
        self.assertEqual(0, code)
        self.assertEqual([
            {'Folder': str(self.folder), 'State': 'up', 'Profile': 'embedded',
             'Keystone': 'http://127.77.0.1:25000/v3', 'Magnum': '2026.2'},
            *({'Folder': str(folder), 'State': 'unreadable', 'Keystone': '',
               'Profile': '', 'Magnum': ''} for folder in (damaged, other))],
            json.loads(out))

    def test_down_without_a_sandbox(self):
        self.assertEqual((0, ''), self.call(cli.Down))
        said = self.err
        self.assertIn('There is no sandbox', said)
        self.assertIn(str(self.folder), said)

    def test_status_without_a_sandbox(self):
        self.assertEqual((1, ''), self.call(cli.Status))

    def env(self, **values):
        """Call ``sandbox env`` for a sandbox that is there."""
        self.pretend(**values)
        self.useFixture(fixtures.MockPatchObject(
            tempest_run.usable_drivers, 'description', return_value=None))
        return self.call(cli.Env)

    def test_env_changes_no_file_that_a_user_edited(self):
        self.env()
        files = [self.folder / 'tempest' / name
                 for name in ('etc/tempest.conf', '.stestr.conf')]
        for path in files:
            path.write_text(path.read_text() + '# mine\n')
        code, out = self.env()
        self.assertEqual(0, code)
        said = self.err
        for path in files:
            self.assertIn('# mine', path.read_text())
            self.assertIn(str(path), said)
        for line in out.splitlines():
            self.assertRegex(line, r'^export ')

    def test_env_changes_no_file_that_a_user_wrote(self):
        path = self.folder / 'tempest' / 'etc' / 'tempest.conf'
        path.parent.mkdir(parents=True)
        path.write_text('# mine\n')
        self.assertEqual(0, self.env()[0])
        self.assertEqual('# mine\n', path.read_text())

    def test_env_follows_the_sandbox(self):
        self.env()
        path = self.folder / 'tempest' / 'etc' / 'tempest.conf'
        before = path.read_text()
        self.env(magnum='2025.1')
        self.assertNotEqual(before, path.read_text())

    def test_env_is_for_a_shell(self):
        code, out = self.env()
        self.assertEqual(0, code)
        self.assertIn(
            f'export OS_CLIENT_CONFIG_FILE={self.folder}/clouds.yaml\n', out)
        for line in out.splitlines():
            self.assertRegex(line, r'^export [A-Z_]+=\S+$')
        self.assertTrue(
            (self.folder / 'tempest' / 'etc' / 'tempest.conf').exists())

    def evaluated(self, name):
        """A variable of a shell that has evaluated what env prints."""
        return subprocess.run(
            ['sh', '-c', f'{self.env()[1]}\nprintf %s "${{{name}-none}}"'],
            capture_output=True, text=True, check=True).stdout

    def test_env_leaves_nothing_of_another_cloud(self):
        """The openstack client prefers such variables to clouds.yaml."""
        for name in ('OS_AUTH_URL', 'OS_PASSWORD', 'OS_CACERT', 'OS_CLOUD'):
            self.useFixture(fixtures.EnvironmentVariable(name, 'production'))
        self.assertEqual('none', self.evaluated('OS_AUTH_URL'))
        self.assertEqual('none', self.evaluated('OS_PASSWORD'))
        self.assertEqual('none', self.evaluated('OS_CACERT'))
        self.assertEqual('sandbox', self.evaluated('OS_CLOUD'))

    def test_env_asks_no_proxy_for_the_sandbox(self):
        self.assertEqual('none', self.evaluated('no_proxy'))
        for name, value in (('https_proxy', 'http://proxy:3128'),
                            ('NO_PROXY', '.example.org')):
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        for name in ('no_proxy', 'NO_PROXY'):
            self.assertEqual('.example.org,127.77.0.0/16,198.18.0.0/21',
                             self.evaluated(name))
        self.useFixture(fixtures.EnvironmentVariable(
            'no_proxy', self.evaluated('no_proxy')))
        self.assertEqual('.example.org,127.77.0.0/16,198.18.0.0/21',
                         self.evaluated('no_proxy'))

    def test_tempest(self):
        run = self.useFixture(fixtures.MockPatchObject(
            tempest_run, 'run', mock.Mock(return_value=(
                self.folder / 'run.subunit', {})))).mock
        summarise = self.useFixture(fixtures.MockPatchObject(
            report, 'summarise')).mock
        self.pretend()
        self.useFixture(fixtures.MockPatchObject(
            leaks, 'take', return_value=model.Snapshot()))
        codes = []
        for code in (0, 1):
            summarise.return_value.exit_code = code
            codes.append(self.call(
                cli.Tempest, '--regex', 'smoke', '--driver', 'd', '-c', '4',
                '--third-party', '--', '--until-failure')[0])
        self.assertEqual([0, 1], codes)
        self.assertEqual(
            tempest_run.Order(
                regex='smoke', driver='d', third_party=True, concurrency=4,
                arguments=('--until-failure',)), run.call_args.args[1])

    def test_the_quick_tests(self):
        found = [case.id() for case in suite.cases()
                 if re.search(tempest_run.QUICK, case.id())]

        self.assertEqual(
            ['test_create_use_resize_delete',
             'test_two_clusters_side_by_side'],
            sorted(ident.partition('[')[0].rpartition('.')[2]
                   for ident in found))
        parser = cli.Tempest(mock.Mock(), None).get_parser('x')
        self.assertEqual(tempest_run.QUICK,
                         parser.parse_args(['--quick']).regex)

    def test_tempest_that_ended_early(self):
        stream = self.folder / 'run.subunit'
        self.useFixture(fixtures.MockPatchObject(
            tempest_run, 'run', side_effect=runs.RunCutOff(
                'Tempest ended', stream=stream)))
        summarise = self.useFixture(fixtures.MockPatchObject(
            report, 'summarise')).mock
        self.pretend()
        self.useFixture(fixtures.MockPatchObject(
            leaks, 'take', return_value=model.Snapshot()))

        self.assertEqual(3, self.call(cli.Tempest)[0])
        summarise.assert_called_once_with(
            stream, self.folder, 'tempest run of k8s_x (x 1.0)',
            outcome='interrupted', races={})

    def test_one_run_at_a_time(self):
        """They share tempest.conf, and the leaks of one are the other's."""
        self.pretend()
        self.useFixture(fixtures.MockPatchObject(
            leaks, 'take', return_value=model.Snapshot()))
        self.useFixture(fixtures.MockPatchObject(report, 'summarise'))
        began, end, running, most = (
            threading.Event(), threading.Event(), [], [])

        def run(box, order):
            running.append(order)
            most.append(len(running))
            began.set()
            end.wait(60)
            running.remove(order)
            return self.folder / 'run.subunit', {}

        self.useFixture(fixtures.MockPatchObject(tempest_run, 'run', run))
        box = sandbox.Box(self.folder)
        with futures.ThreadPoolExecutor(2) as pool:
            one = (box.tempest, tempest_run.Order(), progress.Silent())
            both = [pool.submit(*one)]
            began.wait(60)
            both.append(pool.submit(*one))
            done, _ = futures.wait(both[1:], timeout=1)
            self.assertEqual(set(), done)
            end.set()
            for each in both:
                each.result(60)
        self.assertEqual([1, 1], most)

    def test_a_run_ends_the_tests_of_a_killed_one(self):
        self.pretend()
        self.useFixture(fixtures.MockPatchObject(
            leaks, 'take', return_value=model.Snapshot()))
        orphan = subprocess.Popen(['sleep', '600'], env={
            runmarks.MARK: str(self.folder / 'tempest'),
            'PATH': os.defpath})
        self.addCleanup(orphan.kill)
        # Our own child stays a zombie until it is waited for.
        threading.Thread(target=orphan.wait, daemon=True).start()
        self.useFixture(fixtures.MockPatchObject(
            tempest_run, 'run', lambda box, order: (
                self.folder / 'run.subunit', orphan.wait(10))))
        _, code, _ = sandbox.Box(self.folder).tempest(
            tempest_run.Order(), progress.Silent())
        self.assertEqual(-signal.SIGKILL, code)

    def leaking(self, *argv):
        """Run tests that pass, and leave a trust; returns code and text."""
        self.pretend()
        self.useFixture(fixtures.MockPatchObject(
            tempest_run, 'run', return_value=(
                self.folder / 'run.subunit', {})))
        self.useFixture(fixtures.MockPatchObject(
            report, 'summarise')).mock.return_value.exit_code = 0
        self.useFixture(fixtures.MockPatchObject(leaks, 'take', side_effect=[
            model.Snapshot(), model.Snapshot(
                frozenset((model.Thing(model.TRUST, 't'),)))]))
        return self.call(cli.Tempest, *argv)

    def test_a_run_that_leaves_something_has_failed(self):
        code, out = self.leaking()

        self.assertEqual(1, code)
        self.assertIn('1 left behind:\n  trust t', out)

    def test_what_tests_of_others_leave_is_said_only(self):
        code, out = self.leaking('--third-party')

        self.assertEqual(0, code)
        self.assertIn('trust t', out)
