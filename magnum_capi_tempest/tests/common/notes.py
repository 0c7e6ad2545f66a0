# SPDX-License-Identifier: Apache-2.0

"""What tests report beside their verdict, in details that reports read.

Nobody reads the log of a green run. What is seen while a class is set up or
cleaned up is reported by the next test of the process.
"""

import collections
import json
import time
import typing

from oslo_log import log

from magnum_capi_tempest import json_types
from magnum_capi_tempest import texts

LOG = log.getLogger(__name__)


class Clock(typing.Protocol):
    """What :class:`Notes` needs of :mod:`time`."""

    def time(self) -> float:
        ...


class Notes:
    """Lines that the next test reports, by the name of their detail.

    :param clock: for tests.
    """

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._lines: dict[str, list[str]] = collections.defaultdict(list)
        self._reported: set[tuple[str, str]] = set()
        self._statuses: dict[str, str] = {}

    def add(self, name: str, line: str) -> None:
        """Record a line of a detail, see :mod:`magnum_capi_tempest.texts`."""
        self._lines[name].append(line)

    def add_once(self, name: str, line: str) -> None:
        """Record a line unless this process has already reported it."""
        if (name, line) not in self._reported:
            self._reported.add((name, line))
            self.add(name, line)

    def tolerate(self, by: str, what: str, error: str) -> None:
        """Record an error of Magnum after which a wait goes on.

        :param by: the class that waits.
        :param what: the request.
        """
        self.add(texts.TOLERATED,
                 ' '.join(f'{by}, {what}: {error}'.split()))
        LOG.warning('Tolerated: %s', self._lines[texts.TOLERATED][-1])

    def see(self, uuid: str, cluster: json_types.Object | None) -> None:
        """Record the status of a cluster if it is another than before.

        It costs no request: waits observe clusters anyway.

        :param cluster: its body; None: it is gone.
        """
        status = (cluster or {}).get('status') or ''
        if status != self._statuses.get(uuid, ''):
            self._statuses[uuid] = status
            name = (cluster or {}).get('name') or ''
            self.add(texts.PHASES, json.dumps(
                [round(self._clock.time(), 1), uuid, name, status]))

    def take(self) -> dict[str, str]:
        """Return the texts that were recorded, by name, and forget them."""
        found = {name: '\n'.join(lines)
                 for name, lines in self._lines.items()}
        self._lines.clear()
        return found
