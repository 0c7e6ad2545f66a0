# SPDX-License-Identifier: Apache-2.0

"""Which tests does CNCF require for a minor version of Kubernetes?

One list a minor version, as CNCF's bot has it: that of the minor version's
first release. The bot holds it against every patch release, also if that has
dropped a test (v1.36.5 has 443 of the 446). Most tests are in several lists,
so there is one table of them; its head names the source of each list.
"""

import functools
import pathlib
import re

_TABLE = pathlib.Path(__file__).with_name('data') / 'required.txt'
_VERSION = re.compile(r'v?1\.(\d{1,3})(?![\d])')


def release(version: str) -> str:
    """``v1.36`` of ``v1.36.5+build`` or ``1.36``; empty if it is none."""
    match = _VERSION.match(version)
    return f'v1.{match[1]}' if match else ''


def minors() -> tuple[str, ...]:
    """The minor versions that have a list, ``v1.34`` ..., oldest first."""
    return tuple(_lists())


def of(version: str) -> tuple[str, ...] | None:
    """Names of the required tests, in the form of a spec's name.

    :param version: ``v1.34.9``, ``1.34``, ``v1.34.9+build``.
    :returns: None if there is no list for its minor version.
    """
    return _lists().get(release(version))


@functools.cache
def _lists() -> dict[str, tuple[str, ...]]:
    """The lists by minor version, the oldest first."""
    lines = [line.partition(' ')[::2] for line in _TABLE.read_text(
        encoding='utf-8').splitlines()]
    known = [int(word.removeprefix('v1.')) for word, _ in lines
             if word.startswith('v1.')]
    found: dict[int, list[str]] = {minor: [] for minor in known}
    for word, name in lines:
        if word[:1].isdecimal():
            first, _, last = word.partition('-')
            for minor in range(int(first), int(last or known[-1]) + 1):
                found[minor].append(name)
    return {f'v1.{minor}': tuple(names) for minor, names in found.items()}
