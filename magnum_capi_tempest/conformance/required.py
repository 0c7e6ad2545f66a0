# SPDX-License-Identifier: Apache-2.0

"""Which tests does CNCF require for a minor version of Kubernetes?

CNCF's bot has one list a minor version, and renews it every hour from the
release branch (kubernetes-sigs/verify-conformance,
hack/generate-conformanceyaml.sh). A patch release may drop tests, as v1.36.5
has done with three, but adds none: the newest list fits the runs of all. Most
tests are in several lists, so there is one table of them; its head names the
source of each list.
"""

import collections.abc
import functools
import pathlib
import re
import typing

_TABLE = pathlib.Path(__file__).with_name('data') / 'required.txt'
_VERSION = re.compile(r'v?1\.(\d{1,3})(?:\.(\d{1,3}))?(?![\d])')


class _List(typing.NamedTuple):
    """The tests of a minor version, and the release that has this list."""

    source: str
    names: tuple[str, ...]


def release(version: str) -> str:
    """``v1.36`` of ``v1.36.5+build`` or ``1.36``; empty if it is none."""
    match = _VERSION.match(version)
    return f'v1.{match[1]}' if match else ''


def minors() -> tuple[str, ...]:
    """The minor versions that have a list, ``v1.34`` ..., oldest first."""
    return tuple(_lists())


def source(version: str) -> str:
    """The release whose list a version has, ``v1.36.5``; empty without one."""
    found = _lists().get(release(version))
    return found.source if found else ''


def of(version: str, known: collections.abc.Container[str] | None = None
       ) -> tuple[str, ...] | None:
    """Names of the required tests, in the form of a spec's name.

    :param version: ``v1.34.9``, ``1.34``, ``v1.34.9+build``.
    :param known: names of the tests of a run of that version. If it is newer
        than the list, it may have dropped the others.
    :returns: None if there is no list for its minor version.
    """
    found = _lists().get(release(version))
    if found is None:
        return None
    if known is None or _patch(version) <= _patch(found.source):
        return found.names
    return tuple(name for name in found.names if name in known)


def _patch(version: str) -> int:
    match = _VERSION.match(version)
    return int(match[2] or 0) if match else 0


@functools.cache
def _lists() -> dict[str, _List]:
    """The lists by minor version, the oldest first."""
    lines = [line.partition(' ')[::2] for line in _TABLE.read_text(
        encoding='utf-8').splitlines()]
    sources = [word for word, _ in lines if word.startswith('v1.')]
    known = [int(release(word).removeprefix('v1.')) for word in sources]
    found: dict[int, list[str]] = {minor: [] for minor in known}
    for word, name in lines:
        if word[:1].isdecimal():
            first, _, last = word.partition('-')
            for minor in range(int(first), int(last or known[-1]) + 1):
                found[minor].append(name)
    return {release(word): _List(word, tuple(found[minor]))
            for word, minor in zip(sources, known, strict=True)}
