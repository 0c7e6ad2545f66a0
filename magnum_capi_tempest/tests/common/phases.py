# SPDX-License-Identifier: Apache-2.0

"""Records when the statuses of clusters changed, for the timeline of a report.

It costs no request: waits observe clusters anyway.
"""

import json
import time


class Phases:
    """The statuses of the clusters that a process has seen.

    The next test reports those that were seen during setup and cleanup of a
    class.
    """

    def __init__(self, clock=time):
        self._clock = clock
        self._last = {}
        self._lines = []

    def see(self, uuid, cluster):
        """Record the status of a cluster if it is another than before.

        :param cluster: its body; None: it is gone.
        """
        status = (cluster or {}).get('status') or ''
        if status != self._last.get(uuid, ''):
            self._last[uuid] = status
            name = (cluster or {}).get('name') or ''
            self._lines.append(json.dumps(
                [round(self._clock.time(), 1), uuid, name, status]))

    def take(self):
        """Return what was recorded, see texts.PHASES, and forget it."""
        text = '\n'.join(self._lines)
        self._lines.clear()
        return text
