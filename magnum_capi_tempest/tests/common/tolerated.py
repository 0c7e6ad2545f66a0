# SPDX-License-Identifier: Apache-2.0

"""What tests pass over of Magnum's errors: counted, told, never hidden.

A wait may go on in spite of an error that passes. Nobody reads the log of a
green run, so a test carries such errors as a detail, which reports count: see
:data:`magnum_capi.waiting.TOLERATED`.
"""

from oslo_log import log

LOG = log.getLogger(__name__)


class Tolerated:
    """Counts errors of Magnum that were passed over.

    :param by: who met them: a name in front of each.
    :param seen: list to add to, of str; a new one by default. Several may
        share one: what a class meets while it is set up, and when it is
        cleaned up, is told by the test that comes next.
    """

    def __init__(self, by='', seen=None):
        self.seen = [] if seen is None else seen
        self._by = f'{by}, ' if by else ''

    def add(self, what, error):
        """Note an error.

        :param what: what was asked.
        """
        self.seen.append(' '.join(f'{self._by}{what}: {error}'.split()))
        LOG.warning('Tolerated, number %d: %s', len(self.seen), self.seen[-1])

    def take(self):
        """Return what was seen, a line each, and forget it."""
        text = '\n'.join(self.seen)
        self.seen.clear()
        return text
