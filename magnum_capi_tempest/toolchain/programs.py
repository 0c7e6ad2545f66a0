# SPDX-License-Identifier: Apache-2.0

"""Where a pinned program comes from, and the cache that keeps it.

On PATH if it is exactly the pinned version; else from the cache; else it is
downloaded, or built where that is not possible. ::

    <cache>/toolchain/locks/<program>.lock
                      <program>/<version>-<key>/<program>, receipt.json
                      <program>/tmp-*         work in progress or leftovers

A program appears when its finished folder is renamed, so an existing one is
complete, whatever was killed meanwhile. Only the holder of a program's lock
writes below its folder: any ``tmp-*`` that it finds there is a leftover.
"""

import contextlib
import dataclasses
import errno
import functools
import json
import os
import pathlib
import shutil
import tempfile

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import build
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import lock

_RECEIPT = 'receipt.json'

#: Seconds for a version command; a working one takes less than 0.5.
TIMEOUT = 10

#: Disables side effects of version commands (clusterctl checks for updates:
#: cmd/clusterctl/cmd/root.go).
QUIET = {'CLUSTERCTL_DISABLE_VERSIONCHECK': 'true'}


@dataclasses.dataclass(frozen=True)
class State:
    """Whether a program is there, and where.

    :param source: "path", "download" or "build"; for a missing program the
        possible ways, joined by "/".
    :param state: "ready", "missing", or what is wrong with the cached program.
    :param path: None when missing.
    """

    program: str
    version: str
    source: str
    state: str
    path: pathlib.Path | None


class Store:
    """The cache folder.

    :param root: ``<cache>/toolchain`` by default.
    """

    def __init__(self, root: pathlib.Path | None = None):
        self.root = root or paths.cache() / 'toolchain'

    def file(self, name, version, key, inner=None) -> pathlib.Path:
        """Path of a program in the cache, which may lack it.

        :param key: hex digest of everything that it is made from.
        :param inner: its path in its folder, by default its name.
        """
        return self.root / name / f'{version}-{key[:12]}' / (inner or name)

    def fault(self, file: pathlib.Path, *, deep=True) -> str | None:
        """What is wrong with a cached program; None if it is intact.

        Its SHA-256 is compared at the first use in this process, and after
        the file has changed.

        :param deep: whether to compare the SHA-256.
        """
        folder = self._folder(file)
        if not folder.exists():
            return 'missing'
        try:
            receipt = json.loads((folder / _RECEIPT).read_text())
            size, sha256 = receipt['size'], receipt['sha256']
        except (OSError, ValueError, TypeError, KeyError):
            return 'its receipt is missing or unreadable'
        try:
            stat = file.stat()
        except OSError as e:
            return f'the file is unreadable: {e.strerror}'
        if stat.st_size != size:
            return f'it has {stat.st_size} bytes instead of {size}'
        if not os.access(file, os.X_OK):
            return 'it is not executable'
        if deep and _digest(file, size, stat.st_mtime_ns) != sha256:
            return 'its SHA-256 differs from the receipt'
        return None

    def _folder(self, file):
        name, folder, *_ = file.relative_to(self.root).parts
        return self.root / name / folder

    @contextlib.contextmanager
    def making(self, name, doing, progress):
        """Context: an empty folder to make ``name`` in, for one process.

        First removes leftovers of dead processes: files, and builds that
        still run.
        """
        home = self.root / name
        home.mkdir(parents=True, exist_ok=True)
        with lock.hold(self.root / 'locks' / f'{name}.lock', doing, progress):
            for left in home.glob('tmp-*'):
                leftovers.end(left)
                leftovers.remove(left)
            folder = pathlib.Path(tempfile.mkdtemp(prefix='tmp-', dir=home))
            try:
                yield folder
            finally:
                leftovers.remove(folder)

    def publish(self, file, work) -> pathlib.Path:
        """Turn a finished folder into the cached program; returns its path.

        Other versions that nobody has used for long are removed.

        :param work: the folder of :meth:`making` with the program in it.
        """
        folder = self._folder(file)
        made = work / file.relative_to(folder)
        made.chmod(0o755)
        stat = made.stat()
        (work / _RECEIPT).write_text(json.dumps({
            'sha256': _digest(made, stat.st_size, stat.st_mtime_ns),
            'size': stat.st_size}) + '\n')
        work.chmod(0o755)
        if folder.exists():
            # A folder cannot be renamed onto a non-empty one.
            broken = tempfile.mkdtemp(prefix='tmp-', dir=folder.parent)
            os.rename(folder, os.path.join(broken, 'broken'))
            shutil.rmtree(broken, ignore_errors=True)
        os.rename(work, folder)
        for receipt in folder.parent.glob(f'*/{_RECEIPT}'):
            if disk.unused(receipt):
                # First: without it, the rest does not count.
                receipt.unlink(missing_ok=True)
                shutil.rmtree(receipt.parent, ignore_errors=True)
        return file

    def used(self, file):
        """Note that a cached program is of use."""
        with contextlib.suppress(OSError):
            os.utime(self._folder(file) / _RECEIPT)


@functools.cache
def _digest(file, _size, _mtime):
    return download.digest(file)


class Resolver:
    """Gets programs: PATH, the cache, a download, a build.

    :param pins: :class:`pins.Pins`.
    :param progress: :class:`progress.Progress`.
    """

    #: Publishers of which a message has said that they cannot be reached.
    _told: set[str] = set()

    def __init__(self, pins, store: Store, progress):
        self._pins = pins
        self._store = store
        self._progress = progress

    def get(self, name) -> pathlib.Path:
        """Path of an intact program, fetched if necessary.

        :param name: a key of ``pins.programs``.
        :raises EnvironmentProblem: there is no way to get it, or its
            publisher's file is not the pinned one.
        :raises CommandFailed: its build failed.
        """
        program = self._pins.programs[name]
        try:
            found = on_path(program) or self._kept(program, tell=True)
            if found:
                return found
            with self._store.making(
                    name, f'makes {name} {program.version}',
                    self._progress) as work:
                # Another process may have made it while this one waited.
                return self._kept(program) or self._make(program, work)
        except OSError as e:
            raise _cannot_write(e, program, self._store.root) from e

    def describe(self) -> list[State]:
        """The state of all programs, without making or fully reading any."""
        return [self._describe(p) for p in self._pins.programs.values()]

    def _describe(self, program):
        found = on_path(program)
        if found:
            return State(program.name, program.version, 'path', 'ready',
                         found)
        ways = self._ways(program)
        for way, file in ways.items():
            fault = self._store.fault(file, deep=False)
            if fault != 'missing':
                return State(program.name, program.version, way,
                             fault or 'ready', file)
        return State(program.name, program.version, '/'.join(ways),
                     'missing', None)

    def _ways(self, program):
        """Files in the cache by the way that makes them, best first."""
        found = {}
        if program.download:
            found['download'] = self._store.file(
                program.name, program.version, program.download.digest)
        if program.build and (program.build.family.installed or not found):
            found['build'] = self._store.file(
                program.name, program.version,
                build.key(program, program.build.family.path))
        return found

    def _kept(self, program, tell=False):
        for file in self._ways(program).values():
            fault = self._store.fault(file)
            if fault is None:
                self._store.used(file)
                return file
            if tell and fault != 'missing':
                self._progress.info(f'{file} is broken: {fault}; replacing it')
        return None

    def _make(self, program, work):
        out, why = work / program.name, None
        ways = self._ways(program)
        if 'download' in ways:
            try:
                self._download(program, out)
                _require_version(program, out, 'download')
                return self._store.publish(ways['download'], work)
            except download.Unavailable as e:
                why = f'{e.what}: {e.last_seen}'
                self._tell(program, why, isinstance(e, download.Closed))
        if 'build' in ways:
            build.make(program, out, self._progress,
                       warm=self._family_built(program.build.family))
            _require_version(program, out, 'build')
            return self._store.publish(ways['build'], work)
        raise errors.EnvironmentProblem(
            f'Cannot get {program.name} {program.version}',
            last_seen=why or 'there is no hash for this architecture, and no '
                             'way to build it',
            hint=f'Put {program.name} {program.version} on PATH')

    def _download(self, program, out):
        failure = None
        with self._progress.step(
                f'downloading {program.name} {program.version}') as note:
            try:
                download.fetch(program.download, out, note)
            except download.Unavailable as e:
                # Not fatal while there is another way.
                failure = e
        if failure:
            raise failure

    def _tell(self, program, why, closed):
        """Say why there is no download; of a publisher only once."""
        if not closed:
            self._progress.info(f'{program.name}: no download: {why}')
        elif why not in self._told:
            self._told.add(why)
            self._progress.info(f'{why}; its programs are built with Go')

    def _family_built(self, family):
        """Whether any program of a family was built into this cache."""
        return any(
            self._store.fault(self._ways(one)['build'], deep=False)
            != 'missing' for one in self._pins.programs.values()
            if one.build and one.build.family == family)


def on_path(program, path=None) -> pathlib.Path | None:
    """First program on PATH whose version is exactly the pinned one.

    A distribution's "1.36.3-gke.1" or a launcher that calls itself
    "1.36.3-dispatcher" is another program.

    :param program: a :class:`pins.Program`.
    :param path: like the variable PATH, which is the default.
    """
    if program.version_command is None:
        return None
    if path is None:
        path = os.environ.get('PATH', os.defpath)
    for folder in dict.fromkeys(path.split(os.pathsep)):
        # An empty or relative entry depends on the working folder.
        file = pathlib.Path(folder, program.name)
        if folder.startswith('/') and file.is_file() and os.access(
                file, os.X_OK) and version(program, file) == program.version:
            return file
    return None


def version(program, file) -> str | None:
    """The version that ``file`` reports, None if it reports none."""
    try:
        # minikube writes an audit log below the home folder and a log into
        # the folder for temporary files.
        with tempfile.TemporaryDirectory(prefix='magnum-capi-') as scratch:
            output = processes.run(
                [file, *program.version_command], timeout=TIMEOUT,
                env={**os.environ, **QUIET, 'MINIKUBE_HOME': scratch,
                     'TMPDIR': scratch})
    except (errors.CommandFailed, errors.EnvironmentProblem, OSError):
        return None
    return program.read_version(output)


def _require_version(program, out, way):
    """Find a wrong ldflag or release file here, not in a test run."""
    out.chmod(0o755)
    if program.version_command is None:
        return
    says = version(program, out)
    if says != program.version:
        raise errors.EnvironmentProblem(
            f'The {way} of {program.name} is not {program.version}',
            last_seen=f'it says {says}', hint='Compare pins.toml with go.mod')


def _cannot_write(error, program, root):
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return errors.EnvironmentProblem(
        f'No disk space for {program.name}' if full
        else f'Cannot store {program.name}: {error.strerror or error}',
        where=error.filename or root,
        hint='Free some space, or use another disk with MAGNUM_CAPI_CACHE'
        if full else 'Check that folder, or set MAGNUM_CAPI_CACHE')
