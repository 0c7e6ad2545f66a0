# SPDX-License-Identifier: Apache-2.0
"""Writes a run as a subunit version 2 stream, for collectors of test results.

:mod:`.subunit` reads such streams. A stream cannot contain the facts and the
verdict of a run, so a run that is not green for another reason than a failed
test gets an additional failed test, as in :mod:`.junit`.
"""

import datetime
import io

from subunit import v2

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text

_STATUS = {
    model.PASSED: 'success',
    model.FAILED: 'fail',
    model.ENVIRONMENT: 'fail',
    model.SKIPPED: 'skip',
    model.XFAILED: 'xfail',
    model.XPASSED: 'uxsuccess',
    # No end: this marks a test in a stream as cut off.
    model.UNFINISHED: None,
}
#: Id of the additional test for the verdict.
VERDICT = 'run.verdict'


def render(run):
    """The run as the bytes of a stream.

    The start of a test is unknown, only its duration: all tests start when
    the run did, so that durations are correct, but the order in time is not.
    A run without a start has no times in its stream.
    """
    out = io.BytesIO()
    stream = v2.StreamResultToBytes(out)
    for test in run.tests:
        _write(stream, test, run.started)
    if not run.ok and not run.failures:
        reason = '\n'.join((run.verdict, *run.problems))
        _write(stream, model.Test(
            VERDICT, VERDICT, model.FAILED,
            details=(model.Detail('reason', reason),)), run.started)
    return out.getvalue()


def _write(stream, test, started):
    name = text.line(test.id, 4096)
    stream.status(name, 'inprogress', timestamp=started)
    for detail in test.details:
        stream.status(
            name, file_name=text.line(detail.name), eof=True,
            file_bytes=text.clean(text.cut(detail.text)).encode(),
            mime_type='text/plain;charset=utf8', timestamp=started)
    end = started
    if started and test.seconds is not None:
        end = started + datetime.timedelta(seconds=test.seconds)
    if _STATUS[test.status]:
        stream.status(name, _STATUS[test.status],
                      test_tags={text.line(tag) for tag in test.tags} or None,
                      timestamp=end)
