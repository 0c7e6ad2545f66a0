# SPDX-License-Identifier: Apache-2.0

"""The cache of programs. ::

    <cache>/toolchain/locks/<program>.lock
                      <program>/<version>-<key>/<program>, receipt.json
                      <program>/tmp-*         work in progress or leftovers

A program appears when its finished folder is renamed, so an existing one is
complete, whatever was killed meanwhile. Only the holder of a program's lock
writes below its folder: any ``tmp-*`` that it finds there is a leftover.
"""

import collections.abc
import contextlib
import functools
import json
import os
import pathlib
import shutil
import tempfile

from magnum_capi import progress
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import lock

_RECEIPT = 'receipt.json'


class Store:
    """The cache folder.

    :param root: ``<cache>/toolchain`` by default.
    """

    def __init__(self, root: pathlib.Path | None = None) -> None:
        self.root = root or paths.cache() / 'toolchain'

    def file(self, name: str, version: str, key: str, inner: str | None = None
             ) -> pathlib.Path:
        """Path of a program in the cache, which may lack it.

        :param key: hex digest of everything that it is made from.
        :param inner: its path in its folder, by default its name.
        """
        return self.root / name / f'{version}-{key[:12]}' / (inner or name)

    def fault(self, file: pathlib.Path) -> str | None:
        """What is wrong with a cached program; None if it is intact.

        Its SHA-256 is compared at the first use in this process, and after
        the file has changed.
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
        if _digest(file, size, stat.st_mtime_ns) != sha256:
            return 'its SHA-256 differs from the receipt'
        return None

    def _folder(self, file: pathlib.Path) -> pathlib.Path:
        name, folder, *_ = file.relative_to(self.root).parts
        return self.root / name / folder

    @contextlib.contextmanager
    def making(self, name: str, doing: str, progress: progress.Progress
               ) -> collections.abc.Iterator[pathlib.Path]:
        """Context: an empty folder to make ``name`` in, for one process.

        First removes leftovers of dead processes: files, and builds that
        still run.
        """
        home = self.root / name
        with lock.hold(self.root / 'locks' / f'{name}.lock', doing, progress):
            home.mkdir(exist_ok=True)
            for left in home.glob('tmp-*'):
                leftovers.end(left)
                leftovers.remove(left)
            folder = pathlib.Path(tempfile.mkdtemp(prefix='tmp-', dir=home))
            try:
                yield folder
            finally:
                leftovers.remove(folder)

    def publish(self, file: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
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

    def used(self, file: pathlib.Path) -> None:
        """Note that a cached program is of use."""
        with contextlib.suppress(OSError):
            os.utime(self._folder(file) / _RECEIPT)


@functools.cache
def _digest(file: pathlib.Path, _size: int, _mtime: int) -> str:
    return download.digest(file)
