# SPDX-License-Identifier: Apache-2.0

"""Where a pinned program comes from.

On PATH if it is exactly the pinned version; else from the wheel that brings it
or from the cache; else it is downloaded, or built where that is not possible.
"""

import errno
import os
import pathlib
import tempfile

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.toolchain import build
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import store as stores

#: Seconds for a version command; a working one takes less than 0.5.
TIMEOUT = 10

#: Disables side effects of version commands (clusterctl checks for updates:
#: cmd/clusterctl/cmd/root.go).
QUIET = {'CLUSTERCTL_DISABLE_VERSIONCHECK': 'true'}


class Resolver:
    """Gets programs: PATH, the wheel, the cache, a download, a build.

    :param pins: :class:`pins.Pins`.
    :param progress: :class:`progress.Progress`.
    :param wheel: programs that were installed with their sources, read-only;
        None: there are none.
    """

    #: Publishers of which a message has said that they cannot be reached.
    _unreachable: set[str] = set()

    def __init__(self, pins: pins.Pins, store: stores.Store,
                 progress: progress.Progress, wheel: stores.Store | None = None
                 ) -> None:
        self._pins = pins
        self._wheel = wheel
        self._store = store
        self._progress = progress

    def get(self, name: str) -> pathlib.Path:
        """Path of an intact program, fetched if necessary.

        :param name: a key of ``pins.programs``.
        :raises EnvironmentProblem: there is no way to get it, or its
            publisher's file is not the pinned one.
        :raises CommandFailed: its build failed.
        """
        program = self._pins.programs[name]
        try:
            found = on_path(program) or self._kept(program, report=True)
            if found:
                return found
            with self._store.making(
                    name, f'makes {name} {program.version}',
                    self._progress) as work:
                # Another process may have made it while this one waited.
                return self._kept(program) or self._make(program, work)
        except OSError as e:
            raise _cannot_write(e, program, self._store.root) from e

    def has(self, name: str) -> bool:
        """Whether a program need be neither downloaded nor built."""
        program = self._pins.programs[name]
        return bool(on_path(program) or self._kept(program))

    def _ways(self, program: pins.Program) -> dict[str, pathlib.Path]:
        """Files in the cache by the way that makes them, best first."""
        found = {}
        if program.download:
            found['download'] = self._store.file(
                program.name, program.version, program.download.digest)
        if program.build and (program.build.installed or not found):
            found['build'] = self._store.file(
                program.name, program.version, build.key(program.build))
        return found

    def _installed(self, program: pins.Program) -> pathlib.Path | None:
        """The program that a wheel brings; None if it is of other sources."""
        if not (self._wheel and program.build and program.build.installed):
            return None
        file = self._wheel.file(
            program.name, program.version, build.key(program.build))
        return None if self._wheel.fault(file) else file

    def _kept(self, program: pins.Program, report: bool = False
              ) -> pathlib.Path | None:
        installed = self._installed(program)
        if installed:
            return installed
        for file in self._ways(program).values():
            fault = self._store.fault(file)
            if fault is None:
                self._store.used(file)
                return file
            if report and fault != 'missing':
                self._progress.info(f'{file} is broken: {fault}; replacing it')
        return None

    def _make(self, program: pins.Program, work: pathlib.Path) -> pathlib.Path:
        out, why = work / program.name, None
        ways = self._ways(program)
        if program.download:
            try:
                self._download(program.download, out)
                _require_version(program, out, 'download')
                return self._store.publish(ways['download'], work)
            except download.Unavailable as e:
                why = f'{e.what}: {e.last_seen}'
                self._report(program, why, isinstance(e, download.Closed))
        if 'build' in ways and program.build:
            build.make(program.build, out, self._progress,
                       warm=self._warm(program.build.origin))
            _require_version(program, out, 'build')
            return self._store.publish(ways['build'], work)
        raise errors.EnvironmentProblem(
            f'Cannot get {program.name} {program.version}',
            last_seen=why or 'there is no hash for this architecture, and no '
                             'way to build it',
            hint=f'Put {program.name} {program.version} on PATH')

    def _download(self, release: pins.Download, out: pathlib.Path) -> None:
        if release.member is None:
            self._fetch(release, out)
            return
        # Programs may share an archive, so it stays.
        archive = self._store.file('archives', release.name, release.digest,
                                   release.name)
        with self._store.making('archives', f'downloads {release.name}',
                                self._progress) as work:
            if self._store.fault(archive) is not None:
                self._fetch(release, work / release.name)
                self._store.publish(archive, work)
            self._store.used(archive)
            download.extract(release, archive, out)

    def _fetch(self, release: pins.Download, target: pathlib.Path) -> None:
        failure = None
        with self._progress.step(f'downloading {release.name}') as note:
            try:
                download.fetch(release, target, note)
            except download.Unavailable as e:
                # Not fatal while there is another way.
                failure = e
        if failure:
            raise failure

    def _report(self, program: pins.Program, why: str, closed: bool) -> None:
        """Say why there is no download; of a publisher only once."""
        if not closed:
            self._progress.info(f'{program.name}: no download: {why}')
        elif why not in self._unreachable:
            self._unreachable.add(why)
            self._progress.info(f'{why}; its programs are built with Go')

    def _warm(self, origin: str) -> bool:
        """Whether a program with these dependencies is in this cache."""
        return any(
            self._ways(one)['build'].exists()
            for one in self._pins.programs.values() if one.build
            and one.build.origin == origin)


def on_path(
        program: pins.Program, path: str | None = None) -> pathlib.Path | None:
    """First program on PATH whose version is exactly the pinned one.

    A distribution's "1.36.3-gke.1" or a launcher that calls itself
    "1.36.3-dispatcher" is another program.

    :param program: a :class:`pins.Program`.
    :param path: like the variable PATH, which is the default.
    """
    if program.statement is None:
        return None
    if path is None:
        path = os.environ.get('PATH', os.defpath)
    for folder in dict.fromkeys(path.split(os.pathsep)):
        # An empty or relative entry depends on the working folder.
        file = pathlib.Path(folder, program.name)
        if folder.startswith('/') and file.is_file() and os.access(
                file, os.X_OK) and (
                    version(program.statement, file) == program.version):
            return file
    return None


def version(statement: pins.Statement, file: pathlib.Path) -> str | None:
    """The version that a program reports, None if it reports none."""
    try:
        # minikube writes an audit log below the home folder and a log into
        # the folder for temporary files.
        with tempfile.TemporaryDirectory(prefix='magnum-capi-') as scratch:
            output = processes.run(
                [file, *statement.command], timeout=TIMEOUT,
                env={**os.environ, **QUIET, 'MINIKUBE_HOME': scratch,
                     'TMPDIR': scratch})
    except (errors.CommandFailed, errors.EnvironmentProblem, OSError):
        return None
    return statement.read(output)


def _require_version(
        program: pins.Program, out: pathlib.Path, way: str) -> None:
    """Find a wrong ldflag or release file here, not in a test run."""
    out.chmod(0o755)
    if program.statement is None:
        return
    stated = version(program.statement, out)
    if stated != program.version:
        raise errors.EnvironmentProblem(
            f'The {way} of {program.name} is not {program.version}',
            last_seen=f'it says {stated}',
            hint='Correct its ldflags in pins.toml')


def _cannot_write(error: OSError, program: pins.Program, root: pathlib.Path
                  ) -> errors.EnvironmentProblem:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return errors.EnvironmentProblem(
        f'No disk space for {program.name}' if full
        else f'Cannot store {program.name}: {error.strerror or error}',
        where=error.filename or root,
        hint='Free some space, or use another disk with MAGNUM_CAPI_CACHE'
        if full else 'Check that folder, or set MAGNUM_CAPI_CACHE')
