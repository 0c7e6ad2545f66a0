# SPDX-License-Identifier: Apache-2.0

"""Records of cases: observations, time, commit, duration.

Each case has a file: cases may be run one by one, and again, and observations
can be judged again later.
"""

import dataclasses
import datetime
import hashlib
import json
import pathlib
import re

from magnum_capi import errors
from magnum_capi import processes


@dataclasses.dataclass
class Record:
    """One run of a case.

    :param commit: of :func:`commit`.
    :param began: time in ISO 8601, UTC.
    :param seconds: for everything, including preparation and cleanup.
    :param seen: what the proof yielded.
    :param problem: why the case could not be completed.
    :param ended: whether it ended without interruption.
    """

    case: str
    commit: str
    began: str = dataclasses.field(
        default_factory=lambda: datetime.datetime.now(
            datetime.UTC).isoformat(timespec='seconds'))
    seconds: float = 0.0
    seen: list = dataclasses.field(default_factory=list)
    problem: str = ''
    ended: bool = False


class Records:
    """The records in a folder, which is created if necessary."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def save(self, record: Record):
        """Save a record in place of an earlier run's."""
        path = self._path(record.case)
        new = path.with_suffix('.new')
        new.write_text(json.dumps(dataclasses.asdict(record), indent=1))
        new.replace(path)

    def load(self, case: str) -> Record | None:
        """The record of a case; None: it has not been run."""
        path = self._path(case)
        if not path.exists():
            return None
        try:
            return Record(**json.loads(path.read_text()))
        except (TypeError, ValueError) as e:
            raise errors.UsageError(
                'This is no record of a proof', where=path, last_seen=e,
                hint='Remove it, and run the case again') from e

    def _path(self, case):
        return self._folder / f'{file_name(case)}.json'


def file_name(case: str) -> str:
    """A file name for a case."""
    return re.sub(r'[^a-z0-9]+', '-', case.lower()).strip('-')[:100]


def commit(top: pathlib.Path) -> str:
    """The version of the source.

    :returns: the abbreviated hash, then "+" and a digest if there are
        uncommitted changes; empty outside of git.
    """
    def git(*argv):
        return processes.run(['git', '-C', str(top), *argv], timeout=60)

    try:
        found = git('rev-parse', '--short=12', 'HEAD').strip()
        changed = git('diff', 'HEAD')
    except (errors.CommandFailed, errors.EnvironmentProblem):
        return ''
    return found + (f'+{hashlib.sha256(changed.encode()).hexdigest()[:8]}'
                    if changed else '')
