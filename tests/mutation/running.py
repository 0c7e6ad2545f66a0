# SPDX-License-Identifier: Apache-2.0

"""Processes in which tests run, that cannot hang and leave nothing behind."""

import contextlib
import multiprocessing
import os
import pathlib
import signal
import tempfile
import threading
import time

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest import runmarks
from tests.mutation import trial
from tests import sessions

#: Seconds for a test, and how often as long as without a mutant.
SECONDS, TIMES = 15, 10

#: The same for all tests of a mutant.
ALL_SECONDS, ALL_TIMES = 300, 3

#: Processes that may run at once for a mutant.
CROWD = 200


class Processes:
    """Starts processes, from several threads at once."""

    def __init__(self):
        self._stopped = threading.Event()
        self._server = multiprocessing.get_context('forkserver')

    def preload(self, modules: list[str]):
        """Fork from a process that has imported modules.

        Before the first call of :meth:`run`.
        """
        self._server.set_forkserver_preload(modules)

    def stop(self):
        """End all that run; those who wait for them get an error."""
        self._stopped.set()

    def run(self, mutant: tuple[str, str, str] | None,
            tests: dict[str, float], every: bool) -> dict:
        """Run tests in processes of their own.

        A process that ends before its time has a test that ended it; the
        tests after it get another process.

        :param mutant: module, path and source; None for none.
        :param tests: seconds by id.
        :returns: ``killers``, for each test ``failed``, ``timeout`` or
            ``died``; ``tests``, how many there were; ``seconds``; and
            ``unfinished``, how many were not run for lack of time.
        """
        began = time.monotonic()
        end = began + ALL_SECONDS + ALL_TIMES * sum(tests.values())
        left = {test: SECONDS + TIMES * seconds
                for test, seconds in tests.items()}
        killers = {}
        while left and time.monotonic() < end and (every or not killers):
            with self.process(
                    end - time.monotonic(), trial.run, mutant, left, every,
                    context=self._server) as (scratch, how):
                # It may end while it imports the mutant.
                results = read(scratch) or dict.fromkeys(
                    left, (trial.BEGUN, 0.0))
            for test, (sign, _seconds) in results.items():
                del left[test]
                if sign in (trial.BEGUN, trial.FAILED):
                    killers[test] = (
                        how or 'died' if sign == trial.BEGUN else 'failed')
        return {'killers': killers, 'tests': len(tests),
                'seconds': round(time.monotonic() - began, 2),
                'unfinished': len(left) if every or not killers else 0}

    @contextlib.contextmanager
    def process(self, limit, function, *args,
                context=multiprocessing.get_context('spawn')):
        """Run a function in a process that leaves nothing behind.

        :param limit: seconds.
        :param function: its first argument is a folder for its files.
        :returns: the folder, and how it ended: ``timeout``, ``died``, or
            empty when it came to its end.
        :raises MagnumCapiError: it was stopped.
        """
        with tempfile.TemporaryDirectory(prefix='mutant-') as scratch:
            process = context.Process(target=function, args=(scratch, *args))
            process.start()
            end = time.monotonic() + limit
            try:
                while (process.exitcode is None and time.monotonic() < end
                       and not self._stopped.is_set()
                       and _number(process.pid, scratch) < CROWD):
                    process.join(0.5)
                late = time.monotonic() >= end
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.kill()
                process.join()
                waiting.wait_for(
                    lambda: sessions.members(process.pid),
                    done=lambda left: not left, timeout=30,
                    what='what tests have started to end')
                runmarks.sweep(pathlib.Path(scratch))
            if self._stopped.is_set():
                raise errors.MagnumCapiError('The run was interrupted')
            yield pathlib.Path(scratch), (
                '' if process.exitcode == 0 else 'timeout'
                if late or process.exitcode == -signal.SIGALRM else 'died')


def _number(session, folder):
    """How many processes a process has started, and itself."""
    return len({*sessions.members(session),
                *runmarks.marked(pathlib.Path(folder))})


def read(scratch):
    """Sign and seconds by id of test, the last ones of each."""
    path = scratch / trial.RESULTS
    found = {}
    for line in path.read_text('utf-8').splitlines() if path.exists() else ():
        sign, seconds, test = line.split(' ', 2)
        found[test] = sign, float(seconds)
    return found
