# SPDX-License-Identifier: Apache-2.0

"""Services that supervisord forks behave as if they had been executed."""

import json
import os
import pathlib
import shutil
import signal

import fixtures
import psutil
import testtools

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import services
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision

#: Reports everything that a program can know about its start.
_TELL = '''
import json, os, signal, sys, threading, time, warnings
modules = sorted(set(sys.modules) & {"sqlalchemy", "eventlet"})
json.dump({
    "argv": sys.argv, "path": sys.path, "environment": dict(os.environ),
    "name": __name__, "folder": os.getcwd(), "modules": modules,
    "umask": os.umask(0), "group": os.getpgrp() == os.getpid(),
    "threads": threading.active_count(),
    "files": sorted(os.listdir("/proc/self/fd"))[:4],
    "handlers": {number.name: str(signal.getsignal(number))
                 for number in signal.valid_signals()
                 if isinstance(number, signal.Signals)},
    "warnings": [one[0] for one in warnings.filters][:1],
}, open(sys.argv[1] + ".new", "w"))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
'''


class ForkTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir(rootdir='/tmp')).path)
        self.python = (environment.ensure(progress.Silent())
                       / 'bin' / 'python')
        # It forks programs in its own folder.
        self.programs = self.folder / 'program files'
        self.programs.mkdir()
        shutil.copy(services.PROGRAMS / 'supervisord.py', self.programs)
        (self.programs / 'tell.py').write_text(_TELL)
        self.supervisor = supervision.Supervisor(self.folder)
        self.addCleanup(self.supervisor.shutdown)
        self.supervisor.start(
            (self.python, self.programs / 'supervisord.py'))

    def launch(self, name, script, *arguments, ready=None):
        self.supervisor.launch([supervision.Program(
            name, (str(self.python), str(script), *arguments), ready=ready,
            env={'PYTHONWARNINGS': 'ignore', 'MINE': 'its own'})], 60,
            progress.Silent())

    def told(self, name, script):
        answer = self.folder / f'{name}.json'
        self.launch(name, script, str(answer), ready=answer.exists)
        return json.loads(answer.read_text()) | {'argv': None}

    def pid(self, name):
        return {s.name: s.pid for s in self.supervisor.status()}[name]

    def test_as_if_it_had_been_executed(self):
        executed = self.folder / 'elsewhere'
        executed.mkdir()
        shutil.copy(self.programs / 'tell.py', executed)
        forked = self.told('forked', self.programs / 'tell.py')
        other = self.told('executed', executed / 'tell.py')

        self.assertEqual([['sqlalchemy'], []],
                         [one.pop('modules') for one in (forked, other)])
        for one, where in ((forked, self.programs), (other, executed)):
            self.assertEqual(str(where), one['path'].pop(0))
            for key in ('SUPERVISOR_PROCESS_NAME', 'SUPERVISOR_GROUP_NAME',
                        'LC_CTYPE'):
                one['environment'].pop(key, None)
        self.assertEqual(other, forked)

    def test_who_looks_at_processes_sees_the_program(self):
        self.told('forked', self.programs / 'tell.py')
        process = psutil.Process(self.pid('forked'))

        self.assertEqual(self.pid('supervisord'), process.ppid())
        self.assertEqual('forked', process.name())
        self.assertEqual(str(self.folder), process.environ()[runmarks.MARK])

    def test_it_is_stopped_and_started_again(self):
        before = self.told('forked', self.programs / 'tell.py')
        pid = self.pid('forked')
        self.supervisor.stop('forked')
        self.assertFalse(psutil.pid_exists(pid))

        self.assertEqual(before, self.told('forked',
                                           self.programs / 'tell.py'))

    def test_how_it_ends(self):
        for text, code, said in (
                ('print("done")', 0, 'done'),
                ('import sys; sys.exit("no luck")', 1, 'no luck'),
                ('import sys; sys.exit(3)', 3, ''),
                ('raise OSError("broken")', 1, 'OSError: broken')):
            with self.subTest(text):
                name = f'one{code}{len(text)}'
                path = self.programs / f'{name}.py'
                path.write_text(text)
                self.assertRaises(
                    waiting.errors.WaitAborted, self.launch, name, path,
                    ready=lambda: False)
                self.assertEqual(code, self.status(name))
                self.assertIn(said, self.supervisor.log(name).read_text())

    def status(self, name):
        return {one['name']: one['exitstatus'] for one in
                self.supervisor._call('getAllProcessInfo')}[name]

    def test_a_signal_ends_it_at_once(self):
        self.told('forked', self.programs / 'tell.py')
        pid = self.pid('forked')
        os.kill(pid, signal.SIGTERM)
        waiting.wait_for(lambda: psutil.pid_exists(pid),
                         done=lambda there: not there, timeout=10,
                         what='the program to end')
