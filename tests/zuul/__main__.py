# SPDX-License-Identifier: Apache-2.0

"""The command: Zuul up, our jobs read and run, a report, Zuul down."""

import argparse
import contextlib
import datetime
import fcntl
import fnmatch
import pathlib
import re
import shutil
import sys
import tempfile
import time

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.management import network
from magnum_capi_tempest import paths
from magnum_capi_tempest import report
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest import runmarks
from magnum_capi_tempest.sandbox.cloud import backends
from magnum_capi_tempest.sandbox.cloud import environment
from magnum_capi_tempest import supervision
from tests import proofs
from tests.zuul import builds
from tests.zuul import expectations
from tests.zuul import programs
from tests.zuul import repositories
from tests.zuul import rest
from tests.zuul import site as sites

#: Seconds for all programs to be ready, and for Zuul to have read a tenant:
#: 40 on two idle cores, ten times as many on busy ones.
_START = 900

#: Left, empty, by the executor when it tries whether bubblewrap works.
_TRIAL = pathlib.Path('/tmp/tmp')

_PINS = {'zuul': ('constraints/zuul.txt',),
         'ansible': ('constraints/zuul-ansible.txt',)}


class Run:
    """One run.

    :param jobs: names of those to be run; none: they are only read.
    :param results: for what stays.
    :param limit: seconds for all jobs.
    """

    def __init__(self, jobs, results, limit):
        self._jobs, self._results, self._limit = jobs, results, limit
        self._progress = progress.Progress(patience=60)
        self._began = time.monotonic()
        self._tests, self._facts = [], {}

    def run(self) -> model.Run:
        """Bring Zuul up, look, run, and take it down."""
        started = datetime.datetime.now(datetime.UTC)
        programs.check()
        venvs = {name: environment.of_pins(
            self._progress, pins, f'Environment of {name.capitalize()}')
            for name, pins in _PINS.items()}
        with _folders() as (folder, short), network.allocate(
                sites.PORTS, paths.cache() / 'networks') as net:
            self._site = sites.Site(folder, short, self._results,
                                    net.address, **venvs)
            self._supervisor = supervision.Supervisor(folder)
            try:
                self._up()
                self._client = rest.Client(self._site)
                self._look()
                if self._jobs:
                    self._build()
            finally:
                self._logs()
                with self._progress.step('Zuul down'):
                    self._supervisor.shutdown()
        return model.Run(
            'Zuul', started, time.monotonic() - self._began,
            tuple(self._tests), self._facts)

    def _up(self):
        began = time.monotonic()
        database = backends.MariaDB(self._site.directory)
        with self._progress.step('Files, repositories, database'):
            (self._results / 'logs').mkdir(parents=True)
            self._site.write(database.url('zuul'), repositories.named(),
                             programs.environment())
            self._commits = repositories.make(self._site, self._jobs)
            database.install()
        self._supervisor.start()
        self._supervisor.launch([database.program()], 60, self._progress)
        database.execute('CREATE DATABASE zuul')
        self._programs = programs.programs(self._site, database.program())
        self._supervisor.launch(self._programs, _START, self._progress)
        self._facts.update(self._versions(), **{
            'Commit': self._commits[1],
            'Zuul up': f'{time.monotonic() - began:.0f} s'})

    def _versions(self):
        def version(venv, *names):
            return processes.run(
                [venv / 'bin/python', '-c',
                 'import sys; from importlib.metadata import version; '
                 'print(*map(version, sys.argv[1:]))', *names],
                timeout=60).strip()

        return {'Zuul': version(self._site.zuul, 'zuul'),
                'Ansible': ', core '.join(version(
                    self._site.ansible, 'ansible', 'ansible-core').split()),
                'ZooKeeper': self._said(
                    'zookeeper', r'zookeeper.version=([\d.]+)'),
                'MariaDB': self._said('mariadb', r"Version: '(\S+)'")}

    def _said(self, name, pattern):
        """What a program says of its version when it starts."""
        found = re.search(pattern, self._supervisor.log(name).read_text())
        return found[1] if found else 'unknown'

    def _look(self):
        """The tenant has no error, and Zuul reads our jobs as we do."""
        with self._progress.step('The tenant is read'):
            waiting.wait_for(
                self._ready, done=bool, timeout=_START,
                what='Zuul to read the tenant',
                hint=f'See {self._supervisor.log("zuul-scheduler")}')
        self._tell('tenant', 'configuration', [
            f'{found["source_context"]["path"]}: {found["error"]}'
            for found in self._client.get('config-errors')])
        for pipeline in expectations.PIPELINES:
            with self._progress.step(f'Jobs of {pipeline}'):
                frozen = self._client.frozen(pipeline)
            missing = set(expectations.in_pipeline(pipeline)) ^ set(frozen)
            self._tell(pipeline, 'jobs', [
                f'{name}: only in one of Zuul and project.yaml'
                for name in missing])
            for name, job in frozen.items():
                self._tell(pipeline, name,
                           expectations.frozen_problems(name, job))

    def _ready(self):
        try:
            return self._client.get('projects')
        except errors.EnvironmentProblem:
            return None

    def _tell(self, group, name, problems, seconds=None, details=()):
        self._tests.append(model.Test(
            name, f'{group}.{name}',
            model.FAILED if problems else model.PASSED, seconds,
            (*(model.Detail('reason', '\n'.join(problems)),)
             * bool(problems), *details), group=group))
        if problems:
            self._progress.info(f'{group} {name}: {problems[0]}')

    def _build(self):
        """Run all jobs, one after the other: there is one node."""
        told = set()

        def poll():
            for build in self._client.get('builds', pipeline='manual',
                                          limit=500):
                if build['result'] and build['uuid'] not in told:
                    told.add(build['uuid'])
                    self._tell_build(build)
            return told

        def failed(_told):
            dead = [status.name for status in self._supervisor.status()
                    if status.state != 'RUNNING']
            return f'{", ".join(dead)} ended' if dead else None

        self._client.enqueue(*self._commits)
        with self._progress.step(f'{len(self._jobs)} jobs'):
            try:
                waiting.wait_for(
                    poll, done=lambda found: len(found) >= len(self._jobs),
                    failed=failed, timeout=self._limit,
                    what=f'{len(self._jobs)} jobs',
                    describe=lambda found: f'{len(found)} have ended',
                    pace=waiting.Pace(2, 1.2, 10))
            except errors.MagnumCapiError as e:
                self._tell('build', 'all', [str(e)], details=[model.Detail(
                    'end of zuul-executor.log', supervision.tail(
                        self._supervisor.log('zuul-executor'), 60))])

    def _tell_build(self, build):
        problems = builds.problems(build)
        log = self._results / 'logs' / build['uuid'] / 'job-output.txt'
        seconds = build['duration'] or 0
        self._progress.info(
            f'{build["job_name"]}: {build["result"]} after {seconds} s')
        links = '\n'.join([f'{build["result"]}: {build["log_url"]}', *(
            f'{found["name"]}: {found["url"]}'
            for found in build['artifacts'])])
        ends = {'end of job-output.txt': supervision.tail(log, 60),
                'end of what zuul-executor said of it': builds.said(
                    self._supervisor.log('zuul-executor'), build['uuid'])}
        self._tell('build', build['job_name'], problems, seconds, (
            model.Detail('links', links),
            *(model.Detail(name, text) for name, text in ends.items()
              if problems and text)))

    def _logs(self):
        """Keep what Zuul's own programs have said."""
        log = self._site.directory / 'log'
        if log.exists():
            shutil.copytree(log, self._results / 'zuul')


@contextlib.contextmanager
def _folders():
    """The folder of the run, and one with a short path; removed at the end.

    The first is the same each time, so what a run that was killed has left is
    found and ended. It has a link to the other.

    :raises UsageError: another run has it.
    """
    # With the lock beside it.
    path = folders.make(paths.state()) / 'zuul'
    with open(f'{path}.lock', 'w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise errors.UsageError(
                'Another Zuul runs', where=path,
                hint='Wait for its end, or set MAGNUM_CAPI_STATE') from None

        def clean():
            runmarks.sweep(path)
            with contextlib.suppress(OSError):
                shutil.rmtree(link.readlink(), ignore_errors=True)
            shutil.rmtree(path, ignore_errors=True)

        link = path / 'short'
        there = _TRIAL.exists()
        clean()
        folders.make(path)
        try:
            # Not below TMPDIR, which may be long.
            link.symlink_to(tempfile.mkdtemp(prefix='zuul-', dir='/tmp'))
            yield path, link.readlink()
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
    run = Run([] if args.read else chosen, results, args.timeout).run()
    written = report.write(run, results)
    terminal.show(run, report=written['report.html'])
    return 0 if run.ok else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'run_zuul: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
