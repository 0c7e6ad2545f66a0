# SPDX-License-Identifier: Apache-2.0

"""Programs of every Unix under a real supervisord."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
from unittest import mock
import xmlrpc.client

import fixtures
from supervisor import xmlrpc as supervisor_xmlrpc
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest import proc
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from magnum_capi_tempest.supervision import supervisor
from tests.unit import test_runmarks


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path).resolve()
        self.supervisor = self.supervise('run')

    def supervise(self, name):
        (self.base / name).mkdir(exist_ok=True)
        supervisor = supervision.Supervisor(self.base / name)
        self.addCleanup(supervisor.shutdown)
        return supervisor

    def shell(self, name, script='exec sleep 60', **kwargs):
        return supervision.Program(name, ('/bin/sh', '-c', script), **kwargs)

    def launch(self, *programs, timeout=60, supervisor=None):
        supervisor = supervisor or self.supervisor
        supervisor.start()
        supervisor.launch(programs, timeout, progress.Silent())

    def pids(self):
        return {s.name: s.pid for s in self.supervisor.status()}

    def states(self):
        return {s.name: s.state for s in self.supervisor.status()}

    def file(self, name):
        """A readiness probe: the program has made this file."""
        return (self.supervisor.directory / name).exists


class _Shared(_Base):
    """One supervisord for all tests of a class: a start costs 0.3 s."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = fixtures.TempDir(rootdir='/tmp')
        folder.setUp()
        cls.addClassCleanup(folder.cleanUp)
        cls.shared = supervision.Supervisor(
            pathlib.Path(folder.path).resolve())
        cls.addClassCleanup(cls.shared.shutdown)
        cls.shared.start()

    def supervise(self, name):
        self.addCleanup(self._clear)
        return self.shared

    def _clear(self):
        names = set(self.states()) - {'supervisord'}
        self.shared.stop(*names)
        for name in names:
            self.shared._call('removeProcessGroup', name)
            (self.shared.directory / 'programs' / f'{name}.conf').unlink()
        for path in self.shared.directory.iterdir():
            if path.name not in ('log', 'programs', 'supervisor.sock',
                                 'supervisord.conf', 'supervisord.pid',
                                 'session'):
                path.unlink()


class LaunchTest(_Shared):

    def test_one_after_the_other(self):
        told = []

        def ready(name):
            def probe():
                told.append((name, set(self.states()) - {'supervisord'}))
                return True
            return probe

        self.launch(
            self.shell('third', ready=ready('third'),
                       after=('first', 'second')),
            self.shell('first', ready=ready('first')),
            self.shell('second', ready=ready('second'), after=('first',)))
        self.assertEqual(
            [('first', {'first'}), ('second', {'first', 'second'}),
             ('third', {'first', 'second', 'third'})], told)

    def test_ended_program_with_the_end_of_its_log(self):
        e = self.assertRaises(
            errors.WaitAborted, self.launch,
            self.shell('etcd', 'echo first; echo no disk >&2; exit 3',
                       ready=lambda: False))
        self.assertIn('etcd has ended', str(e))
        self.assertIn('first\nno disk', str(e))
        self.assertIn(str(self.supervisor.log('etcd')), str(e))

    def test_ended_before_supervisord_answers(self):
        call = self.supervisor._call

        def late(method, *args):
            answer = call(method, *args)
            if method == 'startProcess':
                code = supervisor_xmlrpc.Faults.SPAWN_ERROR
                raise xmlrpc.client.Fault(code, f'SPAWN_ERROR: {args[0]}')
            return answer

        with mock.patch.object(self.supervisor, '_call', late):
            self.test_ended_program_with_the_end_of_its_log()

    def test_timeout_names_what_is_not_ready(self):
        good = self.shell('good')
        self.launch(good)

        e = self.assertRaises(
            errors.WaitTimeout, self.launch, good,
            self.shell('bad', ready=lambda: False), timeout=0.3)

        self.assertIn('not ready: bad', str(e))
        self.assertIn(str(self.supervisor.directory / 'log'), str(e))

    def test_program_that_is_not_there(self):
        e = self.assertRaises(
            errors.EnvironmentProblem, self.launch,
            supervision.Program('ghost', ('/no/such/program',)))
        self.assertIn('/no/such/program', str(e))

    def test_environment(self):
        os.environ['SECRET_OF_THE_USER'] = 'x'
        self.addCleanup(os.environ.pop, 'SECRET_OF_THE_USER')
        value = "50% of; this, isn't = that;"
        self.launch(self.shell(
            'one', 'env > env.new; mv env.new env; exec sleep 60',
            env={'OWN': value}, ready=self.file('env')))
        found = (self.supervisor.directory / 'env').read_text()
        self.assertIn(f'OWN={value}\n', found)
        self.assertIn(
            f'{runmarks.MARK}={self.supervisor.directory}\n', found)
        self.assertNotIn('SECRET_OF_THE_USER', found)

    def test_arguments_are_kept_as_they_are(self):
        arguments = ('100%(x)s', 'a;b', "it's", '"q"', 'a b', '', '$HOME')
        script = ('import os, sys; open("new", "w").write(repr(sys.argv[1:]))'
                  '; os.rename("new", "argv"); os.execv("/bin/sleep", '
                  '["sleep", "60"])')
        self.launch(supervision.Program(
            'one', (sys.executable, '-c', script, *arguments),
            ready=self.file('argv')))
        self.assertEqual(repr([*arguments]), (
            self.supervisor.directory / 'argv').read_text())

    def test_values_that_supervisor_would_change_are_refused(self):
        self.supervisor.start()
        for value in ('a ;b', 'a #b', 'two\nlines', 'say "hi"', "'quoted'"):
            with self.subTest(value):
                self.assertRaises(
                    errors.UsageError, self.launch,
                    self.shell('one', env={'OWN': value}))


class FolderTest(_Base):

    def test_odd_name(self):
        supervisor = self.supervise('of Zoë\'s; "a]b", $HOME')
        self.launch(self.shell('one'), supervisor=supervisor)
        self.assertEqual(['one', 'supervisord'], sorted(
            s.name for s in supervisor.status()))

    def test_names_that_supervisord_cannot_take(self):
        for name in ('50%', '[x]', 'a*', 'what?', 'a ;b', 'a #b', 'a\nb'):
            with self.subTest(name):
                self.assertRaises(errors.UsageError, supervision.Supervisor,
                                  self.base / name)

    def test_path_too_long_for_a_socket(self):
        room = 107 - len(os.fsencode(self.base / 'x' / 'supervisor.sock'))
        supervision.Supervisor(self.base / ('x' * (room + 1)))
        e = self.assertRaises(
            errors.UsageError, supervision.Supervisor,
            self.base / ('x' * (room + 2)))
        self.assertIn('over 107 bytes', str(e))

    def test_nothing_for_others(self):
        self.launch(self.shell('one', 'echo secret; exec sleep 60'))
        for path in (self.supervisor.directory / 'supervisor.sock',
                     self.supervisor.log('one')):
            self.assertEqual(0, path.stat().st_mode & 0o077, path)


class StatusTest(_Shared):

    def test_helpers_are_counted_with_their_program(self):
        script = (f'{sys.executable} -c "x = bytearray(60 << 20); '
                  'open(\'up\', \'w\'); import time; time.sleep(60)" & wait')
        self.launch(self.shell('parent', script, ready=self.file('up')))
        found = {s.name: s.memory for s in self.supervisor.status()}
        self.assertLess(60 << 20, found['parent'])
        self.assertLess(found['supervisord'], 60 << 20)

    def test_an_ended_program(self):
        self.launch(self.shell('one'))
        self.supervisor.signal('one', 'KILL')
        self.wait_for('one', 'EXITED')
        found, = [s for s in self.supervisor.status() if s.name == 'one']
        self.assertEqual((None, 0, 0.0), (found.pid, found.memory, found.cpu))

    def test_one_that_has_no_group_yet_gets_the_signal_too(self):
        with mock.patch.object(os, 'killpg', side_effect=ProcessLookupError):
            self.test_an_ended_program()

    def wait_for(self, name, state):
        waiting.wait_for(lambda: self.states()[name],
                         done=lambda s: s == state, timeout=60,
                         what=f'{name} to be {state}')


SERVER = '''
import http.server, sys
http.server.test(http.server.SimpleHTTPRequestHandler, bind=sys.argv[1],
                 port=int(sys.argv[2]))
'''


class ListensTest(_Shared):
    """Only what a program listens on itself can make it ready."""

    address = '127.210.0.1'

    def setUp(self):
        super().setUp()
        with socket.create_server((self.address, 0)) as free:
            self.port = free.getsockname()[1]
        (self.base / 'server.py').write_text(SERVER)
        self.asked = []

    def server(self, script, *more, **kwargs):
        """A program; its probe notes that it was called."""
        return self.shell(
            'server', f'serve="{sys.executable} {self.base}/server.py '
            f'{self.address} {self.port}"; {script}',
            listens=((self.address, self.port), *more),
            ready=lambda: self.asked.append(True) or True, **kwargs)

    def test_that_of_a_process_that_it_started(self):
        self.launch(self.server('$serve & wait'))
        self.assertEqual([True], self.asked)

    def test_one_that_ends_while_others_start(self):
        """A client that waits for them would talk to the taker of its port."""
        e = self.assertRaises(
            errors.WaitAborted, self.launch,
            self.server('$serve & while ! test -e $OUT/enough; do :; done; '
                        'kill $!', env={'OUT': str(self.base)}),
            self.shell('slow', after=('server',),
                       ready=(self.base / 'enough').touch))
        self.assertEqual([True], self.asked)
        self.assertIn('server has ended', str(e))

    def test_that_of_somebody_else(self):
        with socket.create_server((self.address, self.port)):
            program = self.server('exec sleep 60')
            e = self.assertRaises(
                errors.WaitTimeout, self.launch, program, timeout=0.3)
            self.assertFalse(self.supervisor.ready(program))
        self.assertIn(
            f'not ready: server ({self.address}:{self.port} is taken by ',
            str(e))
        self.assertIn(f'(pid {os.getpid()})', str(e))
        self.assertEqual([], self.asked)

    def test_of_one_that_ends_because_its_port_is_taken(self):
        """One line: the end of its log would say it once more."""
        with socket.create_server((self.address, self.port)):
            e = self.assertRaises(
                errors.WaitAborted, self.launch,
                self.server('echo address in use; exit 1'))
        self.assertIn(f'server has ended ({self.address}:{self.port} is '
                      'taken by ', str(e))
        self.assertNotIn('\n', str(e))


class ShutdownTest(_Base):

    def assert_nothing_runs(self, *files):
        """The programs wrote their process ids into files."""
        self.assertEqual([], runmarks.marked(self.supervisor.directory))
        for file in files:
            pid = int((self.supervisor.directory / file).read_text())
            self.assertTrue(proc.ended(pid), file)
        for name in ('supervisor.sock', 'supervisord.pid'):
            self.assertFalse((self.supervisor.directory / name).exists())

    def test_a_daemon_that_its_program_left_behind(self):
        """As epmd of RabbitMQ does."""
        self.launch(self.shell(
            'parent', 'cd /; setsid sh -c "echo \\$\\$ > $OUT/daemon; '
            'exec sleep 60" & while ! test -s $OUT/daemon; do :; done; '
            'touch $OUT/up; exec sleep 60',
            env={'OUT': str(self.supervisor.directory)},
            ready=self.file('up')))
        self.supervisor.stop('parent')
        daemon = int((self.supervisor.directory / 'daemon').read_text())
        self.assertIn(daemon, runmarks.marked(self.supervisor.directory))
        self.supervisor.shutdown()
        self.assert_nothing_runs('daemon')

    def launch_forgetful(self):
        """As Neutron, with setproctitle."""
        path = self.base / 'forgetful.py'
        path.write_text(test_runmarks.FORGETFUL)
        self.launch(self.shell(
            'neutron', f'echo $$ > pid; exec {sys.executable} -u {path} > up',
            ready=lambda: (self.supervisor.directory
                           / 'up').read_text() != ''))

    def test_one_that_overwrites_its_environment(self):
        self.launch_forgetful()
        self.supervisor.shutdown()
        self.assert_nothing_runs('pid')

    def test_after_supervisord_has_stopped_answering(self):
        self.launch(self.shell('one', 'echo $$ > pid; exec sleep 60',
                               ready=self.file('pid')))
        os.kill(self.pids()['supervisord'], signal.SIGSTOP)
        with mock.patch.object(supervisor, '_PATIENCE', 0.5):
            self.assertFalse(self.supervisor.running())
            self.supervisor.shutdown()
        self.assert_nothing_runs('pid')

    def test_while_supervisord_ends_by_itself(self):
        """It answers every question with a fault, until all have ended."""
        self.launch(self.shell(
            'deaf', 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done',
            ready=self.file('pid')))
        os.kill(self.pids()['supervisord'], signal.SIGTERM)
        waiting.wait_for(self.supervisor.running, timeout=10,
                         done=lambda running: not running, what='the end')
        self.supervisor.shutdown()
        self.assert_nothing_runs('pid')

    def test_a_shell_of_the_user_in_the_folder_lives_on(self):
        self.launch(self.shell('one'))
        with subprocess.Popen(['/bin/sleep', '60'],
                              cwd=self.supervisor.directory) as shell:
            self.addCleanup(shell.kill)
            self.supervisor.shutdown()
            self.assertIsNone(shell.poll())
            shell.kill()


class TailTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'log'

    def test_large_file_with_broken_text(self):
        self.path.write_bytes(b'\xff\n' * 50000 + b'end\n')
        self.assertEqual('\ufffd\nend', supervision.tail(self.path, 2))
