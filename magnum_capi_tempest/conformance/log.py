# SPDX-License-Identifier: Apache-2.0

"""Reads the first and last lines of the e2e log.

Ginkgo announces how many specs it will run and sums up at the end. In between
are dots, or a hundred megabytes of steps, which are not needed: failures and
their output are in the JUnit file.
"""

import dataclasses
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import texts

#: Bytes of the start and of the end that are kept.
HEAD, TAIL = 256 << 10, 1 << 20

_PLANNED = re.compile(rb'Will run (\d{1,9}) of (\d{1,9}) specs', re.I)
_RAN = re.compile(
    rb'^Ran (\d{1,9}) of (\d{1,9}) Specs in (\d{1,9}(?:\.\d+)?) seconds?$',
    re.M)
_COUNTS = re.compile(rb'(\d{1,9}) (Passed|Failed|Flaked|Pending|Skipped)')
_SEED = re.compile(rb'^Random Seed: (\d{1,20})\b', re.M)
#: test/e2e/e2e.go of Kubernetes logs both before the suite, if it is verbose.
_VERSION = re.compile(
    rb'(e2e test|kube-apiserver) version: (v\d[\w.+-]{0,60})')
_RELEASE = re.compile(r'v1\.\d{1,3}')
_COLOUR = re.compile(rb'\x1b\[[0-9;]*m')


class Reader:
    """Takes a log in pieces and keeps only its beginning and end."""

    def __init__(self) -> None:
        self._head = b''
        self._tail = bytearray()

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        if len(self._head) < HEAD:
            self._head += bytes(piece[:HEAD - len(self._head)])
        self._tail += piece
        if len(self._tail) > 2 * TAIL:
            # Not with every piece: that would move a megabyte each time.
            del self._tail[:-TAIL]

    def close(self) -> model.Log:
        """Finish the log, and return what it says."""
        tail = _plain(bytes(self._tail))
        head = _plain(self._head)
        planned, seed = _PLANNED.search(head), _SEED.search(head)
        versions, server = _versions(head)
        ran = _last_ran(tail)
        log = model.Log(
            planned=int(planned[1]) if planned else None,
            server=server, versions=versions,
            seed=seed[1].decode() if seed else '',
            last=texts.end(tail[-8000:].decode('utf-8', 'replace'), 2000))
        if ran:
            # Blank lines may be in between.
            end = tail[ran.end():].lstrip().partition(b'\n')[0]
            counts = {word.decode(): int(number)
                      for number, word in _COUNTS.findall(end)}
            log = dataclasses.replace(
                log, ran=int(ran[1]) if counts else None,
                seconds=float(ran[3]), counts=counts,
                end=texts.line(end.decode(errors='replace'), 200))
        return log


def _plain(text: bytes) -> bytes:
    # Searching for a byte takes a tenth of the time of a pattern.
    return _COLOUR.sub(b'', text) if b'\x1b' in text else text


def _versions(head: bytes) -> tuple[tuple[tuple[str, int], ...], str]:
    """Releases with the numbers of their lines, and the server's version."""
    releases: dict[str, int] = {}
    server = ''
    for match in _VERSION.finditer(head):
        version = match[2].decode().rstrip('.')
        if match[1] == b'kube-apiserver':
            server = server or version
        if release := _RELEASE.match(version):
            releases.setdefault(
                release.group(), head.count(b'\n', 0, match.start()) + 1)
        if len(releases) > 9:
            break
    return tuple(releases.items()), server


def _last_ran(tail: bytes) -> re.Match[bytes] | None:
    """The last line that sums up, searched backwards as it is near the end."""
    at = len(tail)
    while (at := tail.rfind(b'Ran ', 0, at)) >= 0:
        if ran := _RAN.match(tail, at):
            return ran
    return None
