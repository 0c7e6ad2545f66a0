# SPDX-License-Identifier: Apache-2.0

"""One test case of a JUnit file: how it ended, and why.

Status and content can contradict each other; the worse one counts.
"""

import math
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import texts

#: Ginkgo's status of a spec -> ours (onsi/ginkgo, types.go).
_STATUSES = {
    'passed': model.PASSED, 'skipped': model.SKIPPED,
    'pending': model.SKIPPED, 'failed': model.FAILED,
    'timedout': model.FAILED, 'panicked': model.FAILED,
    'aborted': model.FAILED, 'interrupted': model.UNFINISHED}
#: Words that are more specific than ours.
_DETAILS = frozenset(('pending', 'timedout', 'panicked', 'aborted',
                      'interrupted'))
#: The line in an output that reports the failure. Its cause is before it;
#: what the framework then looked up (events, pods, nodes) is after it.
_FAILED = re.compile(r'^[ \t]*\[(?:FAILED|TIMEDOUT|PANICKED|INTERRUPTED|'
                     r'ABORTED)\]', re.MULTILINE)
#: Ginkgo's message when the time of the suite, not of the spec, was over.
SUITE_TIMEOUT = 'suite timeout occurred'


class Case:
    """A test case, as far as it has been read.

    :param name: cleaned.
    :param attributes: of its element.
    :ivar bad: it has a failure or an error.
    :ivar skipped: it has an element that says so, with this ``reason``.
    :ivar failure: pieces of text; ``output`` likewise.
    """

    __slots__ = ('name', 'status', 'seconds', 'bad', 'skipped', 'message',
                 'reason', 'failure', 'output')

    def __init__(self, name, attributes):
        self.name = name
        self.status = attributes.get('status', '')
        self.seconds = seconds(attributes.get('time'))
        self.bad = self.skipped = False
        self.message = self.reason = ''
        self.failure = self.output = ()

    def end(self):
        """How it ended: the worse of its status and its content.

        :returns: our status, Ginkgo's word if it is more specific, and whether
            status and content differ.
        """
        said = _STATUSES.get(self.status)
        differ = False
        if self.bad:
            if said not in (model.FAILED, model.UNFINISHED):
                differ = said is not None
                said = model.FAILED
        elif said is None:
            said = (model.SKIPPED if self.skipped
                    else model.PASSED if not self.status
                    else model.FAILED)
        elif said == model.PASSED and self.skipped:
            differ, said = True, model.SKIPPED
        detail = self.status if self.status in _DETAILS else ''
        if said == model.SKIPPED and self.reason.startswith('skipped - '):
            detail = model.SKIPPED_ITSELF
        return said, detail, differ

    def why(self, limits):
        """Failure and output, cleaned and shortened."""
        failure = texts.start('\n'.join(
            part for part in (self.message, ''.join(self.failure))
            if part).strip(), limits.failure)
        return failure, _output(''.join(self.output), limits.output)


def seconds(text):
    """A duration, None if malformed."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def around_failure(text, most, more=0):
    """The slice of an output to keep: around its failure, or at its end.

    :param more: additional characters, which reveal that there was more.
    """
    failed = _FAILED.search(text)
    begin = (max(failed.start() - most // 2, 0) if failed
             else max(len(text) - most, 0))
    return slice(begin, begin + most + more)


def _output(text, most):
    kept = around_failure(text, most)
    found = texts.clean(text[kept])
    if kept.start:
        found = '[...]\n' + found.partition('\n')[2]
    return found + '\n[...]' if len(text) > kept.stop else found
