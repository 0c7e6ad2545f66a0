# SPDX-License-Identifier: Apache-2.0

"""Several engines on one machine, and what they change of its kernel.

Locks and processes are real: dockerd is a program that sleeps, behind the
same flock(1). The kernel's settings are files in a folder.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import types

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest import proc
from tools.offline import containers
from tools.offline.containers import settings


class Supervisor:
    """Starts one program and knows whether it runs."""

    def __init__(self, socket):
        self._socket = socket
        self.process = None

    def start(self):
        pass

    def running(self):
        return True

    def launch(self, programs, timeout, progress):
        program, = programs
        self.process = subprocess.Popen(
            program.argv, stdout=subprocess.PIPE, start_new_session=True)
        # It sleeps, with all locks.
        self.process.stdout.readline()
        self._socket.touch()

    def status(self):
        lives = self.process is not None and self.process.poll() is None
        return [types.SimpleNamespace(
            name=settings.PROGRAM, state='RUNNING' if lives else 'EXITED',
            pid=lives and self.process.pid)]

    def stop(self, name=None):
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def kill(self):
        """As kill -9 of dockerd: nobody is told."""
        self.process.kill()
        waiting.wait_for(
            lambda: proc.ended(self.process.pid), done=bool, timeout=30,
            what='the engine to be dead')


class EnginesTest(testtools.TestCase):

    KEY = 'vm/overcommit_memory'

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        self.top = self.folder / 'sys'
        (self.top / 'vm').mkdir(parents=True)
        self.set('0')
        script = self.folder / 'dockerd'
        script.write_text('echo up; exec sleep 600\n')
        for name, value in (
                ('host.problem', lambda store: None),
                ('host.lacks_resource', lambda: False),
                ('host.programs', lambda: {
                    name: shutil.which(name) or name for name in (
                        'dockerd', 'flock', 'tini')}),
                ('settings._NAMESPACE', script),
                ('cgroups.make', lambda name: None),
                ('cgroups.remove', lambda name: None),
                ('engine._taken', lambda: []),
                ('engine._answers', lambda socket: True),
                ('engine._with_client', lambda *arguments: None)):
            self.patch(name, value)
        self.patch('kernel.TOP', self.top)
        self.patch('host_record.FOLDER', self.folder / 'host')

    def patch(self, name, value):
        self.useFixture(fixtures.MonkeyPatch(
            f'tools.offline.containers.{name}', value))

    def set(self, value):
        (self.top / self.KEY).write_text(f'{value}\n')

    @property
    def value(self):
        return (self.top / self.KEY).read_text().strip()

    def make(self, name):
        """An engine with folders of its own, the cache among them."""
        base = self.folder / name
        made = containers.Engine(
            base / 'run', Supervisor(base / 'run/docker.sock'),
            base / 'images')
        self.addCleanup(made.supervisor.stop)
        return made

    @contextlib.contextmanager
    def cache_of(self, one):
        with fixtures.EnvironmentVariable(
                'MAGNUM_CAPI_CACHE',
                str(one.layout.directory.parent / 'cache')):
            yield

    def up(self, one):
        with self.cache_of(one):
            one.up(progress.Silent())

    def down(self, one):
        with self.cache_of(one):
            one.down()

    def test_the_last_of_two_puts_back_what_was_before_the_first(self):
        one, two = self.make('one'), self.make('two')
        self.up(one)
        self.set('1')
        self.up(two)
        self.down(one)
        self.assertEqual('1', self.value)
        self.down(two)
        self.assertEqual('0', self.value)

    def test_one_that_was_killed_does_not_count(self):
        one, two = self.make('one'), self.make('two')
        self.up(one)
        self.set('1')
        self.up(two)
        one.supervisor.kill()
        self.down(two)
        self.assertEqual('0', self.value)

    def test_the_last_one_was_killed(self):
        one, two = self.make('one'), self.make('two')
        self.up(one)
        self.set('1')
        one.supervisor.kill()
        self.up(two)
        self.set('2')
        self.down(two)
        self.assertEqual('0', self.value)

    def test_all_were_killed_and_one_is_started_again(self):
        one, two = self.make('one'), self.make('two')
        self.up(one)
        self.set('1')
        self.up(two)
        for each in (one, two):
            each.supervisor.kill()
        self.up(two)
        self.down(two)
        self.assertEqual('0', self.value)

    def test_an_engine_that_does_not_start(self):
        one = self.make('one')

        def fail(programs, timeout, progress):
            self.set('1')
            raise OSError('no dockerd')

        one.supervisor.launch = fail
        self.assertRaises(OSError, self.up, one)
        self.assertEqual('0', self.value)
