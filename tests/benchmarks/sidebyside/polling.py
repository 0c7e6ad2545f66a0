# SPDX-License-Identifier: Apache-2.0
"""Polls of clusters that are held in progress, by both drivers in turns.

Magnum is stopped meanwhile; polls.py, in a process with Magnum's Python, is
its conductor.
"""

import json
import pathlib
import subprocess
import threading
import time

from magnum_capi import progress as progress_module
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import services
from magnum_capi_tempest import toolchain
from tests.benchmarks.sidebyside import figures
from tests.benchmarks.sidebyside import lives

#: Seconds without polls, to see what controllers ask for.
IDLE = 5

#: Part by which the API server may have counted more or fewer requests.
TOLERANCE = 0.1

#: Seconds for one command to the polling process, and for a change to show.
PATIENCE = 300

_PROGRAM = pathlib.Path(__file__).with_name('polls.py')


class Poller:
    """The process that polls: see polls.py for its commands."""

    def __init__(self, box):
        layout, silent = box.layout(), progress_module.Silent()
        helm = toolchain.ensure(['helm'], silent)['helm']
        file, folder = map(str, layout.magnum_conf)
        self._log = layout.log / 'polls.log'
        with open(self._log, 'w') as log:
            self._process = subprocess.Popen(
                [layout.magnum_env / 'bin' / 'python', _PROGRAM,
                 layout.address,
                 str(layout.management.port('kube-apiserver')),
                 '--config-file', file, '--config-dir', folder],
                env=services.environment(
                    layout, environment.ensure(silent), [helm.parent]),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._process.kill()
        # Also closes the pipes.
        self._process.communicate()

    def do(self, what, uuids=()):
        """Send a command; returns its answer.

        :raises lives.Broken: there was none.
        """
        limit = threading.Timer(PATIENCE, self._process.kill)
        limit.start()
        try:
            print(json.dumps({'do': what, 'uuids': list(uuids)}),
                  file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            raise lives.Broken(
                'The polling process has ended', where=self._log,
                last_seen=self._log.read_text()[-500:]) from None
        finally:
            limit.cancel()

    def poll(self, uuids):
        """Poll each once; returns what it cost, by id."""
        return dict(zip(uuids, self.do('poll', uuids)))


class Polling:
    """Polls of all clusters that there are.

    :param management: watching.Management.
    :param magnum: lives.Magnum.
    """

    def __init__(self, box, management, magnum, progress):
        self._box = box
        self._management = management
        self._clusters = magnum.clusters
        self._names = set(magnum.names.values())
        self._progress = progress

    def measure(self, number):
        """Poll each cluster so many times, and until its update ends.

        :returns: by driver, ``first``, ``held`` and ``last``: see
            figures.polls.
        :raises lives.Broken: the figures cannot be what they should be.
        """
        management = self._management
        management.hold(self._names, True)
        self._wait(True)
        with Poller(self._box) as poller:
            for uuids in self._clusters.values():
                poller.do('mark', uuids)
            first = self._rounds(poller, 1)
            poller.do('settle')
            before, begin = management.counted(), time.monotonic()
            idle(IDLE)
            middle, middle_time = management.counted(), time.monotonic()
            held = self._rounds(poller, number)
            after, end = management.counted(), time.monotonic()
            self._check(held, figures.difference(after, middle),
                        figures.difference(middle, before),
                        end - middle_time, middle_time - begin)
            management.hold(self._names, False)
            self._wait(False)
            last = self._last(poller)
        return {name: self._costs(first[name], held[name], last[name])
                for name in self._clusters}

    def _wait(self, held):
        """Wait until all clusters are held, or none is."""
        waiting.wait_for(
            lambda: [name for name in self._names
                     if bool(self._management.ask('lacks', name)) != held],
            done=lambda others: not others, timeout=PATIENCE,
            what='nodes of control planes to be '
            + ('held' if held else 'Ready'), pace=waiting.Pace(0.2, 1, 1))

    def _rounds(self, poller, number):
        """Poll all clusters of each driver in turns."""
        found = {name: [] for name in self._clusters}
        for turn in range(number):
            order = list(found)
            for name in order if turn % 2 else reversed(order):
                found[name].append(poller.poll(self._clusters[name]))
        return found

    def _check(self, held, counted, others, seconds, idle_seconds):
        sent = sum(poll['requests'] for rounds in held.values()
                   for round_ in rounds for poll in round_.values())
        off = figures.off(counted, others, sent, seconds, idle_seconds)
        self._progress.info(
            f'{sent} requests of polls; the API server counted {off:+.1%}')
        if abs(off) > TOLERANCE:
            raise lives.Broken(
                f'Polls sent {sent} requests, and the API server counted '
                f'{off:+.1%}', last_seen=counted)
        free = [name for name in self._names
                if not self._management.ask('lacks', name)]
        if free:
            raise lives.Broken(
                'Clusters that were to be held are complete', last_seen=free)

    def _last(self, poller):
        """The poll of each cluster that ends its update.

        Sums in a Cluster follow its Machines after a while.
        """
        found = {name: [] for name in self._clusters}

        def left(name, uuids):
            polled = poller.poll(uuids)
            over = {uuid: poll for uuid, poll in polled.items()
                    if poll['status'].endswith('_COMPLETE')}
            found[name] += over.values()
            return [uuid for uuid in uuids if uuid not in over]
        remaining = dict(self._clusters)

        def step():
            for name, uuids in remaining.items():
                remaining[name] = left(name, uuids)
            return remaining
        waiting.wait_for(
            step, done=lambda those: not any(those.values()),
            timeout=PATIENCE, what='the end of all updates',
            pace=waiting.Pace(1, 1, 1))
        return found

    @staticmethod
    def _costs(first, held, last):
        def each(rounds):
            return [poll for round_ in rounds for poll in round_.values()]
        return {
            'first': figures.polls(each(first)),
            'held': figures.polls(each(held)) | {'premature': sum(
                poll['status'].endswith('_COMPLETE')
                for poll in held[-1].values())},
            'last': figures.polls(last)}


def idle(seconds):
    """Let a time go by in which nothing is done."""
    end = time.monotonic() + seconds
    waiting.wait_for(time.monotonic, done=lambda now: now >= end,
                     timeout=seconds + 60, what='the end of an idle time',
                     pace=waiting.Pace(seconds, 1, seconds))
