# SPDX-License-Identifier: Apache-2.0


"""Fetches the archive until it is the one that the aggregator announced.

``sonobuoy retrieve`` tries once, and leaves a partial archive behind if the
stream breaks (Sonobuoy issues 572, 1633). Here it writes to a separate folder;
size and SHA-256 are compared with what ``status`` announced, the archive is
decompressed to its end, and only then does it get its name.
"""

import collections.abc
import contextlib
import dataclasses
import os
import pathlib
import typing

from magnum_capi import errors
from magnum_capi import progress as progress_
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

#: Fetches the archive once, unchecked, as a file of this name in a folder, or
#: raises CommandFailed.
Call: typing.TypeAlias = collections.abc.Callable[[pathlib.Path, str], object]
#: Turns the output of a failed call into its message.
Explain: typing.TypeAlias = collections.abc.Callable[[str], str]


@dataclasses.dataclass(frozen=True)
class Try:
    """The result of one attempt.

    :param name: of the archive in the folder of the attempt; empty if it is
        not there.
    :param fault: why not.
    """

    number: int
    name: str = ''
    fault: str = ''


def fetch(call: Call, explain: Explain, announced: runner.Archive,
          folder: pathlib.Path, progress: progress_.Progress,
          clock: waiting.Clock, attempts: int = ATTEMPTS) -> str:
    """Fetch an archive, and verify that it is complete.

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


def _until_whole(call: Call, explain: Explain, announced: runner.Archive,
                 part: pathlib.Path,
                 note: collections.abc.Callable[[str], object],
                 progress: progress_.Progress, attempts: int,
                 clock: waiting.Clock) -> pathlib.Path:
    count = 0

    def attempt() -> Try:
        nonlocal count
        count += 1
        note(f'attempt {count}')
        result = _once(call, explain, announced, part, count)
        if result.fault:
            progress.info(f'attempt {count} of {attempts} to retrieve the '
                          f'archive: {result.fault}')
        return result

    whole = waiting.wait_for(
        attempt, done=lambda result: bool(result.name),
        failed=lambda result: f'{attempts} attempts'
        if result.number >= attempts else None,
        timeout=attempts * (TRANSFER + PACE.most),
        what='a whole archive', describe=lambda result: result.fault,
        pace=PACE, clock=clock,
        hint='The results remain in the cluster; try again with "magnum-capi '
             f'conformance attach {part.parent}"')
    return part / whole.name


def _once(call: Call, explain: Explain, announced: runner.Archive,
          part: pathlib.Path, number: int) -> Try:
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
            return Try(number, file.name)
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


def _require_same(target: pathlib.Path, announced: runner.Archive) -> None:
    """Refuse another file with the name of the archive."""
    fault = difference(target, announced)
    if fault:
        raise errors.EnvironmentProblem(
            'Another file with the name of the archive exists', where=target,
            last_seen=fault, hint='Move that file away')


def _keep(file: pathlib.Path, target: pathlib.Path,
          announced: runner.Archive) -> None:
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
