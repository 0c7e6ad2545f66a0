# SPDX-License-Identifier: Apache-2.0


"""Computes the downtime of a workload from the logs of its clients. Pure."""

import collections.abc
import dataclasses
import datetime
import re

#: How the clients address the service: by its address, and by its name.
WAYS = ('address', 'name')

_LINE = re.compile(r'(\S+) address=(ok|no) name=(ok|no)$')


@dataclasses.dataclass(frozen=True, order=True)
class Round:
    """One round of a client.

    :param at: seconds since the epoch, of its node's clock.
    :param answered: the ways that got an answer.
    """

    at: float
    client: str
    answered: frozenset[str] = dataclasses.field(compare=False)


@dataclasses.dataclass(frozen=True)
class Summary:
    """What the clients saw of one way.

    :param rounds: number of rounds.
    :param failed: number of rounds without an answer.
    :param gap: the longest time without an answer to any client, seconds.
    :param worst: the longest time that one client asked without getting an
        answer, seconds: (client, seconds).
    """

    rounds: int = 0
    failed: int = 0
    gap: float = 0.0
    worst: tuple[str, float] = ('', 0.0)

    def __str__(self) -> str:
        client, seconds = self.worst
        return (f'{self.failed} of {self.rounds} rounds without an answer, '
                f'none at all for {self.gap:.1f} s'
                + (f', longest {seconds:.1f} s for {client}' if client
                   else ''))


def parse(log: str, client: str) -> collections.abc.Iterator[Round]:
    """Rounds in a client's log with time stamps; other lines are ignored.

    :param log: text in the form of ``timestamps=true``: RFC 3339 with
        nanoseconds, a blank, and the line.
    """
    for line in log.splitlines():
        match = _LINE.match(line)
        if match:
            at = _seconds(match[1])
            if at is not None:
                yield Round(at, client, frozenset(
                    way for way, word in zip(WAYS, match.groups()[1:])
                    if word == 'ok'))


def summarise(rounds: collections.abc.Iterable[Round], way: str, begin: float,
              end: float) -> Summary:
    """Summarise the rounds between two moments for one way.

    The time before the first answer and after the last one counts.

    :param begin: seconds since the epoch; likewise ``end``.
    """
    rounds = sorted(r for r in rounds if begin <= r.at <= end)
    answered = [r.at for r in rounds if way in r.answered]
    moments = [begin, *answered, end]
    gap = max(b - a for a, b in zip(moments, moments[1:]))
    return Summary(len(rounds), len(rounds) - len(answered), gap,
                   _worst(rounds, way))


def _worst(rounds: collections.abc.Iterable[Round], way: str
           ) -> tuple[str, float]:
    since: dict[str, float] = {}
    worst = '', 0.0
    for one in rounds:
        if way in one.answered:
            since.pop(one.client, None)
            continue
        # The first answer shows that a new client's node is fully up.
        began = since.setdefault(one.client, one.at)
        if one.at - began > worst[1]:
            worst = one.client, one.at - began
    return worst


def _seconds(stamp: str) -> float | None:
    # Python takes six digits of a second, Go writes nine.
    match = re.fullmatch(r'(.{19})(?:\.(\d+))?(Z|[+-]\d\d:\d\d)', stamp)
    if not match:
        return None
    try:
        return datetime.datetime.fromisoformat(
            f'{match[1]}.{(match[2] or "0")[:6].ljust(6, "0")}'
            f'{match[3].replace("Z", "+00:00")}').timestamp()
    except ValueError:
        return None
