# SPDX-License-Identifier: Apache-2.0

"""The statements of an e2e.log about itself, each with its line. Pure.

Only a verbose log contains versions (test/e2e/e2e.go of Kubernetes logs them
before the suite); every log ends with Ginkgo's two lines of sums.
"""

import dataclasses
import re

from magnum_capi_tempest import texts

_VERSION = re.compile(
    rb'(?:e2e test|kube-apiserver) version: ((v1\.\d{1,3})(?:\.\d+)?)[.\s+-]')
_RAN = re.compile(
    rb'^Ran (\d{1,9}) of (\d{1,9}) Specs in (\d{1,9}(?:\.\d{1,9})?)?')
_SEED = re.compile(rb'^Random Seed: (\d{1,20})\b')
_SUMS = re.compile(
    rb'-- (\d{1,9}) Passed \| (\d{1,9}) Failed \|')
_COLOUR = re.compile(rb'\x1b\[[0-9;]*m')


@dataclasses.dataclass(frozen=True)
class Said:
    """A number or a text, and the line it is in."""

    value: object
    line: int


@dataclasses.dataclass(frozen=True)
class Log:
    """The content of the file.

    :param versions: releases in it, ``v1.34``, each once.
    :param kubernetes: the last version in it, which is that of the API
        server, ``v1.34.9``; may be empty.
    :param ran: specs that ran, None if the log has no last line.
    :param sums: (passed, failed) of the last line, None likewise.
    :param seed: random seed of Ginkgo, empty if unknown.
    :param seconds: duration of the suite, None if unknown.
    :param end: the last line, "SUCCESS! -- ...", None if there is none.
    """

    versions: tuple[Said, ...] = ()
    ran: Said | None = None
    sums: Said | None = None
    kubernetes: str = ''
    seed: str = ''
    seconds: float | None = None
    end: Said | None = None


def read(lines) -> Log:
    """Read an e2e.log.

    :param lines: iterable of bytes, each including its line end.
    """
    versions, ran, sums, kubernetes = {}, None, None, ''
    seed, seconds, end = '', None, None
    for number, line in enumerate(lines, 1):
        if b'version: v1.' in line:
            found = _VERSION.search(line)
            if found:
                kubernetes = found[1].decode()
                versions.setdefault(found[2].decode(), number)
        elif (line.startswith((b'Ran ', b'Random Seed: ', b'\x1b'))
                or b' Passed' in line):
            line = _COLOUR.sub(b'', line)
            if found := _RAN.match(line):
                ran, sums, end = Said(int(found[1]), number), None, None
                seconds = float(found[3]) if found[3] else None
            elif found := _SEED.match(line):
                seed = found[1].decode()
            elif found := _SUMS.search(line):
                sums = Said((int(found[1]), int(found[2])), number)
                end = Said(texts.line(line.decode(errors='replace'), 200),
                           number)
    return Log(tuple(Said(*item) for item in versions.items()), ran, sums,
               kubernetes, seed, seconds, end)
