# SPDX-License-Identifier: Apache-2.0

"""How long tests took, so that workers get equal shares the next time.

stestr deals out the classes of tests before a run begins: by the durations
that the workspace has recorded, and blindly where there are none. In a new
workspace one worker may then have nothing to do for the last minutes.
"""

import contextlib
import pathlib

from subunit import v2
import testtools

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_tempest.workspace import runs


def keep(stream, path):
    """Write down how long the tests of a run took.

    :param stream: file with a recorded subunit stream.
    :param path: file for a stream with names and times only; without room
        for it, nothing is known. A test begins there when its worker has
        ended the one before: what its class makes for all of its tests has
        no time of its own.
    """
    with (contextlib.suppress(errors.EnvironmentProblem),
          open(stream, 'rb') as recorded, outfile.whole(path) as f):
        v2.ByteStreamToStreamResult(recorded).run(
            _Chain(v2.StreamResultToBytes(f)))


def tell(workspace, path):
    """Tell a workspace how long tests take.

    :param path: what :func:`keep` wrote; when it is not there, or cannot be
        read, the workspace learns nothing.
    """
    if not pathlib.Path(path).exists():
        return
    with contextlib.suppress(errors.CommandFailed):
        # With --subunit its exit code does not tell of failed tests.
        processes.run(
            [runs.beside('stestr'), 'load', '--force-init', '--subunit', path],
            cwd=workspace, timeout=120, binary=True)


class _Chain(testtools.StreamResult):
    """Passes tests on, each from the end of the one before in its worker."""

    def __init__(self, target):
        self._target = target
        self._began = None
        #: Time of the last end, by worker.
        self._ends = {}

    def status(self, test_id=None, test_status=None, test_tags=None,
               timestamp=None, **_):
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
