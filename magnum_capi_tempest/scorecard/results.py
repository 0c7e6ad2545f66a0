# SPDX-License-Identifier: Apache-2.0

"""How the tests of the suite ended in one run. Pure.

Only what a report shows is kept, without secrets and without values that
differ from run to run (uuids, random names), so that it can be published.
"""

import dataclasses
import re

from magnum_capi_tempest import redact
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text
from magnum_capi_tempest.scorecard import suite

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'

#: Most characters of a behaviour or reason.
LONGEST = 240

_STATUS = {model.PASSED: PASSED, model.XFAILED: PASSED,
           model.SKIPPED: SKIPPED,
           # Whoever ended it, it measured nothing.
           model.UNFINISHED: SKIPPED}

_UUID = re.compile(r'\b[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\b', re.I)
#: The random end of names from data_utils.rand_name().
_RANDOM = re.compile(r'\b(tempest-[\w-]+?|[\w-]*?-)(?:-?\d{6,})\b')
#: Paths belong to the machine that was measured.
_PATH = re.compile(r'(?<![\w/:.-])/(?:[\w.@+-]+/)+[\w.@+-]*')
_ADDRESS = re.compile(r'\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b')
#: ``testtools.matchers._impl.MismatchError: `` and similar; keeps the last
#: name.
_CLASS = re.compile(r'^(?:[\w]+\.)+(\w+)(?=:|$)')


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a test ended.

    :param status: PASSED, FAILED or SKIPPED.
    :param reason: why it failed or was skipped, one line; may be empty.
    """

    status: str
    reason: str = ''


def outcomes(run: model.Run) -> dict[str, Outcome]:
    """How tests of the suite ended, by id of :class:`~.suite.Test`.

    Also by the id of a class, if its setup or cleanup failed or skipped it.
    """
    found = {}
    for test in run.tests:
        key = re.search(rf'\b{re.escape(suite.PACKAGE)}\.([\w.]+)', test.id)
        if key:
            found[key.group(1)] = Outcome(
                _STATUS.get(test.status, FAILED), behaviour(test))
    return found


def behaviour(test: model.Test) -> str:
    """Why a test failed or was skipped: one line without random parts."""
    if test.status == model.PASSED:
        return ''
    lines = [line for line in map(str.strip, test.reason.splitlines())
             if line and line != 'Traceback (most recent call last):']
    reason = ' '.join(lines[:4])
    short = _CLASS.sub(r'\1', reason)
    for noise in ('MismatchError: ', 'AssertionError: '):
        short = short.removeprefix(noise)
    return text.line(anonymous(redact.redact(short)), LONGEST)


def anonymous(line: str) -> str:
    """A text without uuids, addresses, paths and random names."""
    line = _UUID.sub('(uuid)', line)
    line = _RANDOM.sub('(name)', line)
    line = _PATH.sub('(path)', line)
    return _ADDRESS.sub('(address)', line)
