# SPDX-License-Identifier: Apache-2.0

"""Magnum's errors that tests tolerate: counted and reported, never hidden.

A wait may continue after a temporary error. Nobody reads the log of a green
run, so a test attaches such errors as a detail, and reports count them: see
:data:`magnum_capi.waiting.TOLERATED`.
"""

from oslo_log import log

LOG = log.getLogger(__name__)


class Tolerated:
    """Counts tolerated errors of Magnum.

    :param by: where they occurred: a prefix for each.
    :param seen: list to add them to, of str; a new one by default. It can be
        shared: errors during setup and cleanup of a class are reported by the
        next test.
    """

    def __init__(self, by='', seen=None):
        self.seen = [] if seen is None else seen
        self._by = f'{by}, ' if by else ''

    def add(self, what, error):
        """Record an error.

        :param what: the request.
        """
        self.seen.append(' '.join(f'{self._by}{what}: {error}'.split()))
        LOG.warning('Tolerated, number %d: %s', len(self.seen), self.seen[-1])

    def take(self):
        """Return what was recorded, a line each, and clear it."""
        text = '\n'.join(self.seen)
        self.seen.clear()
        return text
