# SPDX-License-Identifier: Apache-2.0

"""Reads and compares versions of Kubernetes and charts, without loss.

An image may have ``v1.35.0-rc.1``. A reader that only keeps digits and dots
turns this into 1.35.0.1, which is not a version; this one keeps or refuses it.
"""

import functools
import re

_NUMBER = r'(0|[1-9][0-9]{0,9})'
_PARTS = r'[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*'
_VERSION = re.compile(
    rf'v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}'
    rf'(?:-({_PARTS}))?(?:\+({_PARTS}))?', re.ASCII).fullmatch

#: The form of a version, for messages.
FORM = 'a version like v1.34.2 or v1.35.0-rc.1'


@functools.total_ordering
class Version:
    """A semantic version; the order is that of https://semver.org, item 11.

    Comparisons ignore build metadata (after "+").
    """

    def __init__(self, major: int, minor: int, patch: int,
                 pre: str | None = None, build: str | None = None) -> None:
        self.major, self.minor, self.patch = major, minor, patch
        self.pre, self.build = pre, build

    def _key(self) -> tuple[
            int, int, int, tuple[tuple[int, int, str], ...]]:
        # Numeric identifiers are lower than words; a version without
        # identifiers is higher than one with some.
        pre = tuple(
            (0, int(part), '') if part.isdigit() else (1, 0, part)
            for part in self.pre.split('.')) if self.pre else ((2, 0, ''),)
        return self.major, self.minor, self.patch, pre

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: 'Version') -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor."""
        return self.major, self.minor

    def __str__(self) -> str:
        text = f'{self.major}.{self.minor}.{self.patch}'
        if self.pre:
            text += f'-{self.pre}'
        if self.build:
            text += f'+{self.build}'
        return text

    def __repr__(self) -> str:
        return f'Version({self})'


def parse(text: str) -> Version:
    """Read a version, with or without a leading "v".

    :raises ValueError: it is invalid; the message says what is accepted.
    """
    match = _VERSION(text) if isinstance(text, str) else None
    if not match:
        raise ValueError(f'{text!r} is not {FORM}')
    major, minor, patch, pre, build = match.groups()
    return Version(int(major), int(minor), int(patch), pre, build)


def is_version(text: str | None) -> bool:
    """Whether :func:`parse` accepts a text."""
    return isinstance(text, str) and bool(_VERSION(text))
