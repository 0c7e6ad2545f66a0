# SPDX-License-Identifier: Apache-2.0

"""Reads the first and last lines of the e2e log.

Ginkgo announces how many specs it will run and sums up at the end. In between
are dots, or a hundred megabytes of steps, which are not needed: failures and
their output are in the JUnit file. Only if that is lost, the names of failed
specs are taken from the summary.
"""

import dataclasses
import re

from magnum_capi_tempest.conformance.results import suite_names
from magnum_capi_tempest import texts

_PLANNED = re.compile(rb'Will run (\d{1,9}) of (\d{1,9}) specs', re.I)
_RAN = re.compile(
    rb'^Ran (\d{1,9}) of (\d{1,9}) Specs in (\d{1,9}(?:\.\d+)?) seconds?$',
    re.M)
_COUNTS = re.compile(rb'(\d{1,9}) (Passed|Failed|Flaked|Pending|Skipped)')
_SEED = re.compile(rb'^Random Seed: (\d{1,20})\b', re.M)
_SERVER = re.compile(rb'kube-apiserver version: (v\d[\w.+-]{0,60})')
#: Bytes; smaller pieces are joined.
_SMALL = 16 << 10
_COLOUR = re.compile(rb'\x1b\[[0-9;]*m')


@dataclasses.dataclass(frozen=True)
class Log:
    """The e2e log, summed up.

    :param planned: specs that Ginkgo would run, None if it did not say.
    :param total: specs of the suite, None if it did not say.
    :param ran: specs that ran, from the last line; None if there is no such
        line: the suite did not end.
    :param seconds: duration of the suite, None likewise.
    :param counts: Ginkgo's words to numbers, ``{'Passed': 384, ...}``.
    :param failed: names of failed specs, as in the summary.
    :param server: version of the API server, empty if unknown.
    :param success: Ginkgo's last line says SUCCESS: it was not interrupted.
    :param seed: the random seed of the suite, empty if unknown.
    :param last: the last lines, cleaned, for a reader.
    """

    planned: int | None = None
    total: int | None = None
    ran: int | None = None
    seconds: float | None = None
    counts: dict = dataclasses.field(default_factory=dict)
    failed: tuple[str, ...] = ()
    server: str = ''
    seed: str = ''
    success: bool = False
    last: str = ''


class Scanner:
    """Takes a log in pieces and keeps only its beginning and end.

    :param limits: :class:`~.limits.Limits`.
    """

    def __init__(self, limits):
        self._limits = limits
        self._head = b''
        self._tail = []
        self._size = 0

    def feed(self, piece):
        """Take the next bytes."""
        if len(self._head) < self._limits.head:
            self._head += bytes(piece[:self._limits.head - len(self._head)])
        if len(piece) < _SMALL:
            # A million one-byte pieces must not become a million objects.
            if not self._tail or type(self._tail[-1]) is not bytearray or (
                    len(self._tail[-1]) > 4 * _SMALL):
                self._tail.append(bytearray())
            self._tail[-1] += piece
        else:
            self._tail.append(piece)
        self._size += len(piece)
        while self._size - len(self._tail[0]) >= self._limits.tail:
            self._size -= len(self._tail.pop(0))

    def close(self) -> Log:
        """Finish the log, and return what it says."""
        tail = _plain(b''.join(self._tail))
        head = _plain(self._head)
        planned, seed = _PLANNED.search(head), _SEED.search(head)
        server = _SERVER.search(self._head)
        ran = _last_ran(tail)
        counts, line = {}, b''
        if ran:
            line = tail[ran.end():].lstrip().partition(b'\n')[0]
            counts = {word.decode(): int(number)
                      for number, word in _COUNTS.findall(line)}
        return Log(
            planned=int(planned[1]) if planned else None,
            total=int((ran or planned)[2]) if ran or planned else None,
            ran=int(ran[1]) if ran and counts else None,
            seconds=float(ran[3]) if ran else None,
            counts=counts, failed=_failed(tail, ran),
            server=server[1].decode() if server else '',
            seed=seed[1].decode() if seed else '',
            success=line.startswith(b'SUCCESS!'),
            last=texts.end(tail[-8000:].decode('utf-8', 'replace'), 2000))


def _plain(text):
    # Searching for a byte takes a tenth of the time of a pattern.
    return _COLOUR.sub(b'', text) if b'\x1b' in text else text


def _last_ran(tail):
    """The last line that sums up, searched backwards as it is near the end."""
    at = len(tail)
    while (at := tail.rfind(b'Ran ', 0, at)) >= 0:
        if ran := _RAN.match(tail, at):
            return ran
    return None


def _failed(tail, ran):
    """Names between "Summarizing N Failures" and the last line."""
    start = tail.rfind(b'\nSummarizing ', 0, ran.start() if ran else None)
    if start < 0:
        return ()
    found = {}
    for line in tail[start:ran.start() if ran else None].splitlines():
        kind, mark, name = line.strip().partition(b'] ')
        if mark and kind in (b'[FAIL', b'[TIMEDOUT', b'[PANICKED!',
                             b'[INTERRUPTED', b'[ABORTED', b'[Fail'):
            name = texts.line(name.decode('utf-8', 'replace'), 2048)
            if not suite_names.suite_node(name):
                found[suite_names.from_summary(name)] = None
    return tuple(found)
