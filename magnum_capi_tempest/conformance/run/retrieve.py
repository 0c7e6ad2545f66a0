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

from magnum_capi import errors
from magnum_capi import scratch
from magnum_capi import waiting
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.toolchain import disk

#: How often to try, and the pauses in between: about six minutes in all, which
#: covers the restart of a control plane.
ATTEMPTS = 8
PACE = waiting.Pace(first=2, factor=2, most=120)

#: Seconds that one attempt may take.
TRANSFER = 1800

_PART = '.part-'


@dataclasses.dataclass(frozen=True)
class Try:
    """The result of one attempt: a file, or why there is none."""

    number: int
    file: pathlib.Path | None = None
    fault: str = ''


def fetch(call, explain, announced: runner.Archive, folder: pathlib.Path,
          progress, clock, attempts: int = ATTEMPTS) -> str:
    """Fetch an archive, and verify that it is complete.

    :param call: function of a folder and a file name that fetches the archive
        once, unchecked, or raises CommandFailed.
    :param explain: function of the output of a failed call: its message.
    :param announced: what ``status`` said of it.
    :param folder: for the archive, under the announced name. If the same
        archive is already there, it is used.
    :returns: its name.
    :raises WaitAborted: it was incomplete ``attempts`` times.
    :raises EnvironmentProblem: no room, another file has its name, or the
        folder cannot be written.
    """
    target = folder / announced.name
    if target.exists():
        _require_same(target, announced)
        return target.name
    # First, as it removes what killed retrievals left.
    with scratch.folder(_PART, folder) as part:
        disk.require(2 * announced.size, [folder],
                     f'the archive {announced.name}', '--output')
        with progress.step(f'retrieving {announced.name} '
                           f'({disk.text(announced.size)})') as note:
            found = _until_whole(call, explain, announced, part.path, note,
                                 progress, attempts, clock)
            _keep(found, target, announced)
    return target.name


def _until_whole(call, explain, announced, part, note, progress, attempts,
                 clock):
    count = 0

    def attempt():
        nonlocal count
        count += 1
        note(f'attempt {count}')
        result = _once(call, explain, announced, part, count)
        if result.fault:
            progress.info(f'attempt {count} of {attempts} to retrieve the '
                          f'archive: {result.fault}')
        return result

    return waiting.wait_for(
        attempt, done=lambda result: result.file is not None,
        failed=lambda result: f'{attempts} attempts'
        if result.number >= attempts else None,
        timeout=attempts * (TRANSFER + PACE.most),
        what='a whole archive', describe=lambda result: result.fault,
        pace=PACE, clock=clock,
        hint='The results remain in the cluster; try again with "magnum-capi '
             f'conformance attach {part.parent}"').file


def _once(call, explain, announced, part, number):
    for old in part.iterdir():
        old.unlink()
    try:
        call(part, 'archive.part')
    except errors.CommandFailed as e:
        return Try(number, fault=explain(e.output) or str(e.what))
    # The aggregator sends every archive it has; the hash identifies ours.
    faults = []
    for file in sorted(part.iterdir()):
        fault = difference(file, announced)
        if not fault:
            return Try(number, file)
        faults.append(fault)
    return Try(number, fault='; '.join(faults) or 'no file came')


def difference(file: pathlib.Path, announced: runner.Archive) -> str:
    """Why a file is not the announced archive; empty if it is.

    Reads it once: size, SHA-256, and gzip to its end.
    """
    size = file.lstat().st_size
    if size != announced.size:
        return f'{size} bytes instead of {announced.size}'
    try:
        sha256 = archive.checksum(file)
    except damage.Damage as e:
        return str(e.what)
    if sha256 != announced.sha256:
        return f'SHA-256 {sha256} instead of {announced.sha256}'
    return ''


def _require_same(target, announced):
    """Refuse another file with the name of the archive."""
    fault = difference(target, announced)
    if fault:
        raise errors.EnvironmentProblem(
            'Another file with the name of the archive exists', where=target,
            last_seen=fault, hint='Move that file away')


def _keep(file, target, announced):
    """Give a verified file its name, durably and atomically."""
    with open(file, 'rb') as f:
        os.fsync(f.fileno())
    os.chmod(file, 0o600)
    try:
        # Not os.replace: it would overwrite a user's file of that name.
        os.link(file, target)
    except FileExistsError:
        # Another command may have fetched it, too.
        _require_same(target, announced)
    except OSError:
        # A file system without hard links.
        os.rename(file, target)
    with contextlib.suppress(OSError):
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
