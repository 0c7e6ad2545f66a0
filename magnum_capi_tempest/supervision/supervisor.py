# SPDX-License-Identifier: Apache-2.0
"""Controls supervisord: starts it, starts programs, waits, stops all."""

import collections.abc
import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import sys
import threading
import time
import typing
import xmlrpc.client

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest import json_types
from magnum_capi_tempest import runmarks
from magnum_capi_tempest.supervision import model
from magnum_capi_tempest.supervision import observation
from magnum_capi_tempest.supervision import readiness
from magnum_capi_tempest.supervision import settings

#: The program that has ended, or the names of those that are not ready.
_State: typing.TypeAlias = model.Program | set[str]

#: A fault of supervisord, from ``supervisor.xmlrpc.Faults``, which is not
#: imported: machines that only run tests have no supervisor.
_SPAWN_ERROR = 50

#: The command of supervisord.
DAEMON = (sys.executable, '-m', 'supervisor.supervisord')

#: Seconds to wait for an answer; the longest one is that of a program which
#: has to be stopped (``stopwaitsecs``).
_PATIENCE = 60

_DEAD = ('EXITED', 'FATAL', 'BACKOFF', 'STOPPED', 'UNKNOWN')


class Supervisor:
    """The programs of one folder.

    :param directory: folder of the run; it gets ``supervisor.sock``,
        ``supervisord.conf``, ``programs/`` and ``log/``.
    :raises UsageError: the path of the folder is too long for a socket.
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = pathlib.Path(directory)
        self._socket = self.directory / 'supervisor.sock'
        self._config = self.directory / 'supervisord.conf'
        self._lock = threading.Lock()
        settings.check(self.directory, self._socket)

    def running(self) -> bool:
        """Whether supervisord answers."""
        try:
            return bool(self._call('getState')['statename'] == 'RUNNING')
        except (OSError, xmlrpc.client.Fault):
            return False

    def start(self, program: typing.Sequence[str | pathlib.Path] = DAEMON
              ) -> None:
        """Start supervisord, unless it runs.

        :param program: command of supervisord, or one with the same options.
        """
        if self.running():
            return
        # Left by an earlier supervisord and possibly outdated.
        shutil.rmtree(self.directory / 'programs', ignore_errors=True)
        for name in ('programs', 'log'):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        settings.write_daemon(self._config, self.directory, self._socket)
        processes.run(
            [*program, '-c', self._config], env=self._environment(),
            timeout=30)
        waiting.wait_for(self.running, done=bool, timeout=30,
                         what=f'supervisord in {self.directory}')
        runmarks.remember(self.directory, self._call('getPID'))

    def _environment(self) -> dict[str, str]:
        keep = ('PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'USER', 'TZ')
        env = {k: os.environ[k] for k in keep if k in os.environ}
        env[runmarks.MARK] = str(self.directory)
        return env

    def launch(self, programs: collections.abc.Sequence[model.Program],
               timeout: float, progress: progress.Progress) -> None:
        """Start programs that do not run and wait until all are ready.

        :param programs: list of :class:`.model.Program`; those named in
            ``after`` are part of the list or were launched before.
        :param timeout: seconds for all of them.
        :raises WaitTimeout: naming the programs that are not ready.
        :raises WaitAborted: a program ended; with the end of its log.
        """
        mine = {p.name for p in programs}
        began: dict[str, float] = {}
        ready: set[str] = set()

        def poll() -> _State:
            infos = self._infos()
            for p in programs:
                if p.name in began or mine.intersection(p.after) - ready:
                    continue
                known = p.name in infos
                if not known or infos[p.name]['statename'] != 'RUNNING':
                    self._run(p, known)
                began[p.name] = time.monotonic()
            infos = self._infos()
            for p in programs:
                if p.name not in began:
                    continue
                info = infos[p.name]
                # Even if it was ready before: any program may take its port.
                if info['statename'] in _DEAD and not p.restart:
                    return p
                if p.name not in ready and readiness.ready(p, info['pid']):
                    ready.add(p.name)
                    seconds = time.monotonic() - began[p.name]
                    progress.info(f'  {p.name} ready after {seconds:.1f} s')
            return mine - ready

        def failed(state: _State) -> str | None:
            if not isinstance(state, model.Program):
                return None
            if self._obstacle(state):
                # One line: the log only says that the port is in use.
                return describe(state)
            log = self.log(state.name)
            return (f'{describe(state)}; the end of {log}:\n'
                    + observation.tail(log))

        def describe(state: _State) -> str:
            if isinstance(state, model.Program):
                return f'{state.name} has ended{self._obstacle(state)}'
            return 'not ready: ' + ', '.join(
                p.name + self._obstacle(p) for p in programs
                if p.name in state)

        waiting.wait_for(
            poll, done=lambda s: not s, failed=failed, timeout=timeout,
            what=', '.join(sorted(mine)), describe=describe,
            pace=waiting.Pace(0.05, 1.2, 0.3),
            hint=f'The logs are in {self.directory / "log"}')

    def ready(self, program: model.Program) -> bool:
        """Check once whether a program runs and is ready."""
        info = self._infos().get(program.name)
        return (info is not None and info['statename'] == 'RUNNING'
                and readiness.ready(program, info['pid']))

    def _obstacle(self, program: model.Program) -> str:
        info = self._infos().get(program.name, {})
        found = readiness.obstacle(program, info.get('pid') or None)
        return found and f' ({found})'

    def _run(self, program: model.Program, known: bool) -> None:
        with self._lock:
            if not known:
                self._add(program)
            try:
                self._call('startProcess', program.name, False)
            except xmlrpc.client.Fault as e:
                if e.faultCode == _SPAWN_ERROR:
                    # It ended before supervisord could answer; launch()
                    # notices that and reports the end of its log.
                    return
                raise errors.EnvironmentProblem(
                    f'Cannot start {program.name}: {e.faultString}',
                    where=program.argv[0]) from e

    def _add(self, program: model.Program) -> None:
        settings.write_program(
            self.directory / 'programs' / f'{program.name}.conf', program,
            self.directory, self.log(program.name))
        self._call('reloadConfig')
        self._call('addProcessGroup', program.name)

    def _infos(self) -> dict[str, json_types.Object]:
        return {i['name']: i for i in self._call('getAllProcessInfo')}

    def status(self) -> list[model.Status]:
        """The state of every program, its child processes included."""
        found = []
        for info in self._call('getAllProcessInfo'):
            pid = info['pid'] or None
            found.append(model.Status(
                info['name'], info['statename'], pid,
                *(observation.usage(pid) if pid else (0, 0.0))))
        pid = self._call('getPID')
        found.append(model.Status('supervisord', 'RUNNING', pid,
                                  *observation.usage(pid, children=False)))
        return found

    def stop(self, *names: str) -> None:
        """Stop programs; those that do not run are left alone."""
        for name in names:
            with contextlib.suppress(xmlrpc.client.Fault):
                self._call('stopProcess', name, True)

    def remove(self, *names: str) -> None:
        """Stop programs and forget them, so that their names are free."""
        self.stop(*names)
        for name in names:
            with contextlib.suppress(xmlrpc.client.Fault):
                self._call('removeProcessGroup', name)

    def restart(self, program: model.Program, timeout: float,
                progress: progress.Progress) -> None:
        """Stop a program, start it again and wait until it is ready."""
        self.stop(program.name)
        self.launch([program], timeout, progress)

    def signal(self, name: str, signal_name: str) -> None:
        """Send a signal, for example ``KILL``, to one program's group."""
        number = signal.Signals[f'SIG{signal_name}']
        for info in self._call('getAllProcessInfo'):
            if info['name'] == name and info['pid']:
                # A program that has just started may not have a group yet.
                for send in (os.killpg, os.kill):
                    with contextlib.suppress(ProcessLookupError):
                        send(info['pid'], number)
                        break

    def log(self, name: str) -> pathlib.Path:
        """Path of what a program prints."""
        return self.directory / 'log' / f'{name}.log'

    def shutdown(self) -> None:
        """Stop everything that runs for this folder.

        The state of a run is thrown away with it, so an orderly shutdown is
        not worth the wait.
        """
        with contextlib.suppress(OSError, xmlrpc.client.Fault):
            # supervisord goes last: as the parent, it reaps the others.
            runmarks.sweep(self.directory, spare=self._call('getPID'))
            self._call('shutdown')
            with contextlib.suppress(errors.WaitTimeout):
                waiting.wait_for(
                    lambda: runmarks.marked(self.directory), timeout=2,
                    done=lambda left: not left, what='supervisord to end')
        runmarks.sweep(self.directory)
        for path in (self._socket, self.directory / 'supervisord.pid'):
            path.unlink(missing_ok=True)

    def _call(self, method: str, *arguments: str | bool) -> typing.Any:
        with xmlrpc.client.ServerProxy(
                'http://localhost', _Transport(self._socket)) as proxy:
            return getattr(proxy.supervisor, method)(*arguments)


class _Transport(xmlrpc.client.Transport):
    """The package "supervisor" has one that waits without a limit."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: typing.Any) -> '_Connection':
        # Closed with the proxy.
        self._connection = host, _Connection(self._path)
        return self._connection[1]


class _Connection(http.client.HTTPConnection):

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__('localhost')
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_PATIENCE)
        self.sock.connect(str(self._path))
