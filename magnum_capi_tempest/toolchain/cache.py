# SPDX-License-Identifier: Apache-2.0

"""The cache of programs, and checks of their integrity.

::

    <cache>/toolchain/locks/<program>.lock
                      <program>/<version>-<key>/<program>, receipt.json
                      <program>/<digest>.part     a download to be resumed
                      <program>/tmp-*             work in progress or leftovers

A program appears when its finished folder is renamed, so an existing one is
complete, whatever was killed meanwhile. Only the holder of a program's lock
writes below its folder: any ``tmp-*`` that it finds there is a leftover.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import tempfile

from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import lock

_RECEIPT = 'receipt.json'

#: Files of which this process has seen the full SHA-256: (path, size, mtime).
_seen: set[tuple] = set()


@dataclasses.dataclass(frozen=True)
class Entry:
    """A place in the cache, which may be empty.

    :param file: the program.
    """

    name: str
    version: str
    folder: pathlib.Path
    file: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Receipt:
    """Facts on a cached program.

    :param source: "download" or "build".
    :param size: bytes; ``mtime_ns``: as in :class:`os.stat_result`.
    :param seconds: how long it took to make.
    """

    version: str
    source: str
    sha256: str
    size: int
    mtime_ns: int
    seconds: float


class Store:
    """The cache folder.

    :param root: ``<cache>/toolchain`` by default.
    """

    def __init__(self, root: pathlib.Path | None = None):
        self.root = root or paths.cache() / 'toolchain'

    def entry(self, name, version, key, inner=None) -> Entry:
        """The place of one program.

        :param key: hex digest of everything that it is made from.
        :param inner: its path in the place, by default its name.
        """
        folder = self.root / name / f'{version}-{key[:12]}'
        return Entry(name, version, folder, folder / (inner or name))

    def receipt(self, entry) -> Receipt | None:
        """The receipt, None if it is missing or unreadable."""
        try:
            data = json.loads((entry.folder / _RECEIPT).read_text())
            return Receipt(**data)
        except (OSError, ValueError, TypeError):
            return None

    def fault(self, entry, *, deep=True) -> str | None:
        """What is wrong with a cached program; None if it is intact.

        Size and mtime are compared each time; the SHA-256 at the first use
        in this process and after the file has changed.

        :param deep: whether to compare the SHA-256 at all.
        """
        if not entry.folder.exists():
            return 'missing'
        receipt = self.receipt(entry)
        if receipt is None:
            return 'its receipt is missing or unreadable'
        try:
            stat = entry.file.stat()
        except OSError as e:
            return f'the file is unreadable: {e.strerror}'
        if stat.st_size != receipt.size:
            return f'it has {stat.st_size} bytes instead of {receipt.size}'
        if not os.access(entry.file, os.X_OK):
            return 'it is not executable'
        mark = entry.file, stat.st_size, stat.st_mtime_ns
        if mark in _seen:
            return None
        if deep or stat.st_mtime_ns != receipt.mtime_ns:
            if download.digest(entry.file) != receipt.sha256:
                return 'its SHA-256 differs from the receipt'
            _seen.add(mark)
        return None

    def lock(self, name, doing, progress):
        """Context: only this process makes ``name``; see :mod:`lock`."""
        return lock.hold(
            self.root / 'locks' / f'{name}.lock', doing, progress)

    @contextlib.contextmanager
    def workshop(self, name, keep=None):
        """Context: an empty folder to make ``name`` in; its lock is held.

        First removes leftovers of dead processes (files, and builds that
        still run) and downloads that will not be resumed.

        :param keep: name of the ``.part`` file that may stay.
        """
        home = self.root / name
        home.mkdir(parents=True, exist_ok=True)
        for left in home.glob('tmp-*'):
            leftovers.end(left)
            leftovers.remove(left)
        for left in home.glob('*.part'):
            if left.name != keep:
                left.unlink(missing_ok=True)
        folder = pathlib.Path(tempfile.mkdtemp(prefix='tmp-', dir=home))
        try:
            yield folder
        finally:
            leftovers.remove(folder)

    def publish(self, entry, work, source, seconds) -> pathlib.Path:
        """Turn a finished folder into the cached program.

        :param work: the folder of :meth:`workshop` with the program in it. It
            gets the cached program's name.
        :returns: path of the program.
        """
        made = work / entry.file.relative_to(entry.folder)
        made.chmod(0o755)
        stat = made.stat()
        receipt = Receipt(
            entry.version, source, download.digest(made), stat.st_size,
            stat.st_mtime_ns, round(seconds, 1))
        (work / _RECEIPT).write_text(
            json.dumps(dataclasses.asdict(receipt), indent=1) + '\n')
        work.chmod(0o755)
        if entry.folder.exists():
            # A folder cannot be renamed onto a non-empty one.
            broken = tempfile.mkdtemp(prefix='tmp-', dir=entry.folder.parent)
            os.rename(entry.folder, os.path.join(broken, 'broken'))
            shutil.rmtree(broken, ignore_errors=True)
        os.rename(work, entry.folder)
        _seen.add((entry.file, stat.st_size, stat.st_mtime_ns))
        return entry.file
