# SPDX-License-Identifier: Apache-2.0

"""The command: Zuul up, our jobs read and run, Zuul down."""

import argparse
import contextlib
import datetime
import fcntl
import fnmatch
import os
import pathlib
import shutil
import sys

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import backends
from magnum_capi_sandbox.cloud import environment
from magnum_capi_tempest.management import network
from magnum_capi_tempest import paths
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from tests import proofs
from tests.zuul import expectations
from tests.zuul import programs
from tests.zuul import repositories
from tests.zuul import rest
from tests.zuul import site as sites

#: Folder of the pins of Zuul, and of what its executor runs.
_PINS = pathlib.Path(__file__).resolve().parent
#: Seconds for all programs to be ready, and for Zuul to have read a tenant:
#: 40 on two idle cores, ten times as many on busy ones.
_START = 900

#: Left, empty, by the executor when it tries whether bubblewrap works.
_TRIAL = pathlib.Path('/tmp/tmp')


class Run:
    """One run.

    :param jobs: names of those to be run; none: they are only read.
    :param results: folder for what stays.
    :param limit: seconds for all jobs.
    """

    def __init__(self, jobs, results, limit):
        self._jobs, self._results, self._limit = jobs, results, limit
        self._progress = progress.Progress(patience=60)
        self._ok = True

    def run(self) -> bool:
        """Bring Zuul up, look, run, and take it down; whether all is right."""
        programs.check()
        venvs = {name: environment.of_pins(
            self._progress, [_PINS / f'{pins}.txt'],
            f'Environment of {name.capitalize()}')
            for name, pins in (('zuul', 'zuul'), ('ansible', 'zuul-ansible'))}
        with _folder() as folder, network.allocate(sites.PORTS) as net:
            self._site = sites.Site(folder, self._results, net.address,
                                    **venvs)
            self._supervisor = supervision.Supervisor(folder)
            self._client = rest.Client(self._site)
            try:
                commits = self._up()
                self._read()
                if self._jobs:
                    self._build(commits)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copytree(folder / 'log', self._results / 'zuul')
                with self._progress.step('Zuul down'):
                    self._supervisor.shutdown()
        return self._ok

    def _up(self):
        database = backends.MariaDB(self._site.directory)
        with self._progress.step('Files, repositories, database'):
            (self._results / 'logs').mkdir(parents=True)
            self._site.write(database.url('zuul'), repositories.named(),
                             programs.environment())
            commits = repositories.make(self._site, self._jobs)
            database.install()
        self._supervisor.start()
        self._supervisor.launch([database.program()], 60, self._progress)
        database.execute('CREATE DATABASE zuul')
        self._supervisor.launch(
            programs.programs(self._site, database.program()), _START,
            self._progress)
        return commits

    def _read(self):
        """The tenant has no error, and Zuul can freeze each of our jobs."""
        with self._progress.step('The tenant is read'):
            waiting.wait_for(
                self._ready, done=bool, timeout=_START,
                what='Zuul to read the tenant',
                hint=f'See {self._supervisor.log("zuul-scheduler")}')
        self._report('configuration', [
            f'{found["source_context"]["path"]}: {found["error"]}'
            for found in self._client.get('config-errors')])
        for pipeline in expectations.PIPELINES:
            with self._progress.step(f'Jobs of {pipeline}'):
                frozen = self._client.frozen(pipeline)
            self._report(f'{len(frozen)} jobs of {pipeline}',
                         [] if frozen else ['Zuul sees none'])

    def _ready(self):
        try:
            return self._client.get('projects')
        except errors.EnvironmentProblem:
            return None

    def _report(self, what, problems):
        self._ok = self._ok and not problems
        for line in problems:
            print(f'WRONG {what}: {line}', flush=True)
        if not problems:
            print(f'ok    {what}', flush=True)

    def _build(self, commits):
        """Run all jobs, one after the other: there is one node."""
        told = set()

        def poll():
            for build in self._client.get('builds', pipeline='manual',
                                          limit=500):
                if build['result'] and build['uuid'] not in told:
                    told.add(build['uuid'])
                    self._report(
                        f'{build["job_name"]}: {build["result"]} after '
                        f'{build["duration"]} s, {build["log_url"]}',
                        expectations.problems(build))
            return told

        def failed(_told):
            dead = [status.name for status in self._supervisor.status()
                    if status.state != 'RUNNING']
            return f'{", ".join(dead)} ended' if dead else None

        self._client.enqueue(*commits)
        with self._progress.step(f'{len(self._jobs)} jobs'):
            waiting.wait_for(
                poll, done=lambda found: len(found) >= len(self._jobs),
                failed=failed, timeout=self._limit,
                what=f'{len(self._jobs)} jobs',
                describe=lambda found: f'{len(found)} have ended',
                pace=waiting.Pace(2, 1.2, 10))


@contextlib.contextmanager
def _folder():
    """The folder of the run, removed at the end.

    It is the same each time, so what a run that was killed has left is found
    and ended. Its path is short, because OpenSSH keeps sockets in the folders
    of builds, whose paths may have 107 characters (unix(7)).

    :raises UsageError: another run has it.
    """
    path = pathlib.Path(f'/tmp/zuul-{os.getuid()}')
    # Beside the folder, which is removed.
    with open(folders.make(paths.state()) / 'zuul.lock', 'w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise errors.UsageError(
                'Another Zuul runs', where=path,
                hint='Wait for its end') from None

        def clean():
            runmarks.sweep(path)
            shutil.rmtree(path, ignore_errors=True)

        there = _TRIAL.exists()
        clean()
        try:
            yield folders.make(path)
        finally:
            clean()
            if not there:
                with contextlib.suppress(OSError):
                    _TRIAL.rmdir()


def main():
    known = expectations.runnable()
    # tools/run_zuul.sh has the help.
    parser = argparse.ArgumentParser(prog='tools/run_zuul.sh', add_help=False)
    parser.add_argument('jobs', nargs='*')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--read', action='store_true')
    parser.add_argument('--results', type=pathlib.Path)
    parser.add_argument('--timeout', type=int, default=14400)
    args = parser.parse_args()
    chosen = [name for name in known if any(
        fnmatch.fnmatchcase(name, pattern)
        for pattern in args.jobs or expectations.usual())]
    if args.list:
        print(*known, sep='\n')
        return 0
    if not chosen:
        parser.error(f'no job matches {" ".join(args.jobs)}; see --list')
    now = datetime.datetime.now(datetime.UTC)
    results = (args.results or paths.state() / 'results'
               / f'zuul-{now:%Y%m%dT%H%M%S}').absolute()
    proofs.take_down_at_the_end()
    right = Run([] if args.read else chosen, results, args.timeout).run()
    print(f'Logs: {results}')
    return 0 if right else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'run_zuul: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
