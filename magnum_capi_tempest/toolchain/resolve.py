# SPDX-License-Identifier: Apache-2.0

"""The order in which ways to get a program are tried, and its caching."""

import dataclasses
import errno
import pathlib
import time

from magnum_capi import errors
from magnum_capi_tempest.toolchain import build as build_
from magnum_capi_tempest.toolchain import cache
from magnum_capi_tempest.toolchain import download as download_
from magnum_capi_tempest.toolchain import onpath


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


class Resolver:
    """Gets programs: PATH, the cache, a download, a build.

    :param pins: :class:`pins.Pins`.
    :param progress: :class:`progress.Progress`.
    :param hosts: :class:`download.Hosts`.
    """

    def __init__(self, pins, store: cache.Store, progress, *, hosts=None):
        self._pins = pins
        self._store = store
        self._progress = progress
        self._hosts = hosts or download_.Hosts()

    def get(self, name) -> pathlib.Path:
        """Path of an intact program, fetched if necessary.

        :param name: a key of ``pins.programs``.
        :raises EnvironmentProblem: there is no way to get it.
        :raises CommandFailed: its build failed.
        """
        program = self._pins.programs[name]
        try:
            found = onpath.find(program) or self._kept(program, tell=True)
            if found:
                return found
            with self._store.lock(name, f'makes {name} {program.version}',
                                  self._progress):
                # Another process may have made it while this one waited.
                return self._kept(program) or self._make(program)
        except OSError as e:
            raise _cannot_write(e, program, self._store.root) from e

    def describe(self) -> list[State]:
        """The state of all programs, without making or fully reading any."""
        return [self._describe(p) for p in self._pins.programs.values()]

    def _describe(self, program):
        found = onpath.find(program)
        if found:
            return State(program.name, program.version, 'path', 'ready',
                         found)
        entries = self._entries(program)
        for way, entry in entries.items():
            fault = self._store.fault(entry, deep=False)
            if fault != 'missing':
                return State(program.name, program.version, way,
                             fault or 'ready', entry.file)
        return State(program.name, program.version, '/'.join(entries),
                     'missing', None)

    def _entries(self, program):
        """Places in the cache by the way that fills them, best first."""
        entries = {}
        if program.download:
            entries['download'] = self._store.entry(
                program.name, program.version, program.download.digest)
        if program.build and (program.build.family.installed or not entries):
            folder = program.build.family.path
            entries['build'] = self._store.entry(
                program.name, program.version, build_.key(program, folder))
        return entries

    def _kept(self, program, tell=False):
        for entry in self._entries(program).values():
            fault = self._store.fault(entry)
            if fault is None:
                return entry.file
            if tell and fault != 'missing':
                self._progress.info(
                    f'{entry.file} is broken: {fault}; replacing it')
        return None

    def _make(self, program):
        entries = self._entries(program)
        ways = {'download': self._download, 'build': self._build}
        part = f'{program.download.digest[:12]}.part' \
            if program.download else None
        reasons = []
        for way, entry in entries.items():
            with self._store.workshop(program.name, part) as work:
                begin = time.monotonic()
                out = work / program.name
                try:
                    ways[way](program, out, work.parent / str(part))
                    self._check(program, out, way)
                except download_.Unavailable as e:
                    reasons.append(str(e))
                    self._progress.info(
                        f'{program.name}: no {way}: {e.what}: {e.last_seen}')
                    continue
                return self._store.publish(
                    entry, work, way, time.monotonic() - begin)
        raise errors.EnvironmentProblem(
            f'Cannot get {program.name} {program.version}',
            last_seen='; '.join(reasons) or 'there is no checksum for this '
                                            'architecture, and no way to '
                                            'build it',
            hint=f'Put {program.name} {program.version} on PATH')

    def _download(self, program, out, part):
        self._hosts.check(program.download.url)
        failure = None
        with self._progress.step(
                f'downloading {program.name} {program.version}') as note:
            try:
                download_.fetch(program.download, part, hosts=self._hosts,
                                note=note)
                download_.unpack(program.download, part, out)
            except download_.Unavailable as e:
                # Not fatal while there is another way.
                failure = e
        if failure:
            raise failure

    def _build(self, program, out, _part):
        build_.make(program, out, self._progress,
                    warm=self._family_built(program.build.family))

    def _family_built(self, family):
        """Whether any program of a family was built into this cache."""
        for program in self._pins.programs.values():
            if program.build and program.build.family == family:
                receipt = self._store.receipt(
                    self._entries(program)['build'])
                if receipt is not None:
                    return True
        return False

    def _check(self, program, out, way):
        """Find a wrong ldflag or release file here, not in a test run."""
        out.chmod(0o755)
        if program.version_command is None:
            return
        says = onpath.version(program, out)
        if says != program.version:
            kind = download_.Unavailable if way == 'download' \
                else errors.EnvironmentProblem
            raise kind(
                f'The {way} of {program.name} is not {program.version}',
                last_seen=f'it says {says}',
                hint='Compare pins.toml with go.mod')


def _cannot_write(error, program, root):
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return errors.EnvironmentProblem(
        f'No disk space for {program.name}' if full
        else f'Cannot store {program.name}: {error.strerror or error}',
        where=error.filename or root,
        hint='Free some space, or use another disk with MAGNUM_CAPI_CACHE'
        if full else 'Check that folder, or set MAGNUM_CAPI_CACHE')
