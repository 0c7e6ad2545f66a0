# SPDX-License-Identifier: Apache-2.0
"""Writes the filter's log lines about a request, and finds them again.

There are at most two lines, each with the id of the request. Values of users
are quoted by :func:`.model.shown`, so they cannot forge a line.
"""

import collections.abc
import dataclasses
import re
import typing

from magnum_capi.discovery import model

_WHATS = ('template create', 'template update', 'cluster create',
          'cluster upgrade', 'request')
_DECIDED = re.compile(
    r'(?P<decisions>.*); answered (?P<status>\w+)(?: by the filter)?; '
    r'filter [\d.]+ ms, Glance [\d.]+ ms')
_REFUSED = re.compile(r'refused with (?P<status>\d{3}): (?P<said>.*)')
#: Longer lines of a log are cut.
_LONGEST = 1 << 16


def decided(what: str, request: str,
            decisions: collections.abc.Sequence[str],
            outcome: int | str | None, own: float, glance: float) -> str:
    """The log line about decisions.

    :param outcome: status of the response; None: there was none.
    :param own, glance: seconds that the filter itself and Glance took.
    """
    return (f'{what} {model.shown(request)}: '
            f'{", then ".join(decisions) or "no decision"}; answered '
            f'{outcome}; filter {own * 1e3:.2f} ms, Glance '
            f'{glance * 1e3:.2f} ms')


def refused(what: str, request: str, status: int, said: str) -> str:
    """The log line about a request that the filter refused."""
    return f'{what} {model.shown(request)}: refused with {status}: {said}'


@dataclasses.dataclass
class Entry:
    """What a log has about one request.

    :param status: of the response; None: there was none.
    :param decisions: with reasons; empty: there were none.
    :param said: error message of the filter; None: Magnum answered.
    """

    request: str
    what: str = 'request'
    status: int | None = None
    decisions: str = ''
    said: str | None = None

    @property
    def good(self) -> bool:
        return self.status is not None and self.status < 400

    def data(self) -> dict[str, typing.Any]:
        """The same for programs."""
        return dataclasses.asdict(self)

    def lines(self) -> list[str]:
        """The same in sentences, one a line."""
        who = 'Magnum' if self.said is None else 'the filter'
        told = [f'This is about the {self.what} {model.shown(self.request)}, '
                + (f'which {who} answered with {self.status}.' if self.status
                   else 'which had no answer.')]
        if self.decisions:
            told.append(f'Decided: {self.decisions}.')
        if self.said:
            told.append(f'The user was told: {self.said}')
        return told


def find(log: collections.abc.Iterable[str], request: str) -> Entry | None:
    """What a log says about a request; None: nothing."""
    entry = None
    mark = f' {model.shown(request)}: '
    for line in log:
        line = line[:_LONGEST]
        before, found, after = line.partition(mark)
        what = next((w for w in _WHATS if before.endswith(w)), None)
        if not found or what is None:
            continue
        entry = entry or Entry(request)
        entry.what = what
        if match := _DECIDED.match(after):
            status = match['status']
            entry.status = int(status) if status.isdigit() else None
            entry.decisions = match['decisions']
        elif match := _REFUSED.match(after):
            entry.status = int(match['status'])
            entry.said = match['said'].rstrip('\n')
    return entry
