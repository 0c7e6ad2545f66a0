# SPDX-License-Identifier: Apache-2.0


"""Fetches the archive until it is the one that the aggregator announced.

``sonobuoy retrieve`` tries once, and leaves a partial archive behind if the
stream breaks (Sonobuoy issues 572, 1633). Here it writes to a separate folder;
size and SHA-256 are compared with what ``status`` announced, the archive is
decompressed to its end, and only then does it get its name.
"""

import contextlib
import dataclasses
import os
import pathlib
import tempfile
import time

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import scratch
from magnum_capi import waiting
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.toolchain import disk

#: How often to try, and the pauses in between: about six minutes in all, which
#: covers the restart of a control plane.
ATTEMPTS = 8
PACE = waiting.Pace(first=2, factor=2, most=120)

_PART = '.part-'


@dataclasses.dataclass(frozen=True)
class Try:
    """The result of one attempt: a file, or why there is none."""

    number: int
    file: pathlib.Path | None = None
    fault: str = ''


def fetch(program, tarball: sonobuoy.Tarball, folder: pathlib.Path,
          progress, *, attempts=ATTEMPTS, clock=time) -> pathlib.Path:
    """Fetch an archive, and verify that it is complete.

    :param program: :class:`sonobuoy.Sonobuoy`.
    :param tarball: what ``status`` announced; it must be ready.
    :param folder: for the archive, under the announced name. If the same
        archive is already there, it is used.
    :raises WaitTimeout: it was incomplete ``attempts`` times.
    :raises EnvironmentProblem: no room, another file has its name, or the
        folder cannot be written.
    :raises UsageError: there is no archive yet.
    """
    if not tarball.ready or not tarball.name:
        raise errors.UsageError(
            'The results are not ready',
            hint='Wait for the run with: magnum-capi conformance resume')
    make_folder(folder)
    target = folder / tarball.name
    if target.exists():
        fault = difference(target, tarball)
        if fault:
            raise errors.EnvironmentProblem(
                'Another file with the name of the archive exists',
                where=target,
                last_seen=fault, hint='Move that file away')
        return target
    # First, as it removes what killed retrievals left.
    with scratch.folder(_PART, folder) as part:
        disk.require(2 * tarball.size, [folder],
                     f'the archive {tarball.name}', '--results')
        with progress.step(f'retrieving {tarball.name} '
                           f'({disk.text(tarball.size)})') as note:
            found = _until_whole(program, tarball, part.path, note, progress,
                                 attempts, clock)
            _keep(found, target)
    return target


def make_folder(folder: pathlib.Path):
    """Make the folder for results, and try to write to it.

    :raises EnvironmentProblem: that is impossible.
    """
    try:
        folders.private(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b'x')
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot write to the folder for results: {e.strerror}',
            where=folder, hint='Name another one with --results') from e


def _until_whole(program, tarball, part, note, progress, attempts, clock):
    count = 0

    def attempt():
        nonlocal count
        count += 1
        note(f'attempt {count}')
        result = _once(program, tarball, part, count)
        if result.fault:
            progress.info(f'attempt {count} of {attempts} to retrieve the '
                          f'archive: {result.fault}')
        return result

    return waiting.wait_for(
        attempt, done=lambda result: result.file is not None,
        failed=lambda result: f'{attempts} attempts'
        if result.number >= attempts else None,
        timeout=attempts * (sonobuoy.TRANSFER + PACE.most),
        what='a whole archive', describe=lambda result: result.fault,
        pace=PACE, clock=clock,
        hint='The results remain in the cluster; try again with "magnum-capi '
             'conformance retrieve"').file


def _once(program, tarball, part, number):
    name = 'archive.part'
    for old in part.iterdir():
        old.unlink()
    try:
        program.retrieve(part, name)
    except errors.CommandFailed as e:
        return Try(number, fault=(sonobuoy.failure_message(e.output)
                                  or str(e.what)))
    # The aggregator sends every archive it has; the hash identifies ours.
    faults = []
    for file in sorted(part.iterdir()):
        fault = difference(file, tarball)
        if not fault:
            return Try(number, file)
        faults.append(fault)
    return Try(number, fault='; '.join(faults) or 'no file came')


def difference(file: pathlib.Path, tarball: sonobuoy.Tarball) -> str:
    """Why a file is not the announced archive; empty if it is.

    Reads it once: size, SHA-256, and gzip to its end.
    """
    size = file.lstat().st_size
    if size != tarball.size:
        return f'{size} bytes instead of {tarball.size}'
    try:
        sha256 = archive.checksum(file)
    except damage.Damage as e:
        return str(e.what)
    if sha256 != tarball.sha256:
        return f'SHA-256 {sha256} instead of {tarball.sha256}'
    return ''


def _keep(file, target):
    """Give a verified file its name, durably and atomically."""
    with open(file, 'rb') as f:
        os.fsync(f.fileno())
    os.chmod(file, 0o600)
    try:
        # Not os.replace: it would overwrite a user's file of that name.
        os.link(file, target)
    except FileExistsError:
        raise errors.EnvironmentProblem(
            'Another file with the name of the archive exists', where=target,
            hint='Move that file away') from None
    except OSError:
        # A file system without hard links.
        os.rename(file, target)
    with contextlib.suppress(OSError):
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
