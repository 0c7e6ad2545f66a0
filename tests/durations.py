# SPDX-License-Identifier: Apache-2.0

"""How long tests took, so that workers get equal shares the next time.

stestr distributes the test classes before a run begins: by the durations
recorded in its repository, or blindly if there are none.
"""

import collections.abc
import contextlib
import datetime
import pathlib
import typing

from subunit import v2
import testtools

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_tempest.workspace import runs


def keep(stream: pathlib.Path, path: pathlib.Path) -> None:
    """Record how long the tests of a run took.

    :param stream: file with a recorded subunit stream.
    :param path: file for a stream with names and times only; without disk
        space nothing is recorded. In it a test begins when its worker has
        finished the previous one, because class-level setup has no times of
        its own.
    """
    with (contextlib.suppress(errors.EnvironmentProblem),
          open(stream, 'rb') as recorded, outfile.whole(path) as f):
        v2.ByteStreamToStreamResult(recorded).run(
            _Chain(v2.StreamResultToBytes(f)))


def tell(workspace: pathlib.Path, path: pathlib.Path) -> None:
    """Load recorded durations into the repository of a folder.

    :param path: written by :func:`keep`; ignored if it is missing or
        unreadable.
    """
    if not pathlib.Path(path).exists():
        return
    # Without durations a run only takes longer.
    with contextlib.suppress(errors.MagnumCapiError):
        # With --subunit the exit code does not reflect failed tests.
        processes.run(
            [runs.program_path('stestr'), 'load', '--force-init', '--subunit',
             path],
            cwd=workspace, timeout=120, binary=True)


class _Chain(testtools.StreamResult):
    """Passes tests on; each begins at the end of its worker's previous one."""

    def __init__(self, target: typing.Any) -> None:
        self._target = target
        self._began: datetime.datetime | None = None
        #: End of the last test, by worker.
        self._ends: dict[str | None, datetime.datetime] = {}

    # Senders use keywords only.
    def status(  # type: ignore[override]
            self, test_id: str | None = None, test_status: str | None = None,
            test_tags: collections.abc.Set[str] | None = None,
            timestamp: datetime.datetime | None = None, **_: object) -> None:
        if not (test_id and test_status and timestamp):
            return
        self._began = self._began or timestamp
        if test_status in ('exists', 'inprogress'):
            return
        worker = next((tag for tag in test_tags or ()
                       if tag.startswith('worker-')), None)
        self._target.status(
            test_id=test_id, test_status='inprogress',
            timestamp=self._ends.get(worker, self._began))
        self._target.status(test_id=test_id, test_status=test_status,
                            timestamp=timestamp)
        self._ends[worker] = timestamp
