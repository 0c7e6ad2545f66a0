# SPDX-License-Identifier: Apache-2.0

"""Which tests does CNCF require for a minor version of Kubernetes?

One list a minor version, as CNCF's bot has it: that of the minor version's
first release. The bot holds it against every patch release, also if that has
dropped a test (v1.36.5 has 443 of the 446). The head of a file names the
source of its list.
"""

import functools
import pathlib
import re

_FOLDER = pathlib.Path(__file__).with_name('data')
_VERSION = re.compile(r'v?1\.(\d{1,3})(?![\d])')


def release(version: str) -> str:
    """``v1.36`` of ``v1.36.5+build`` or ``1.36``; empty if it is none."""
    match = _VERSION.match(version)
    return f'v1.{match[1]}' if match else ''


@functools.cache
def minors() -> tuple[str, ...]:
    """The minor versions that have a list, ``v1.34`` ..., oldest first."""
    found = [path.stem.removeprefix('required-')
             for path in _FOLDER.glob('required-v1.*.txt')]
    return tuple(sorted(found, key=lambda one: int(one.split('.')[1])))


@functools.cache
def of(version: str) -> tuple[str, ...] | None:
    """Names of the required tests, in the form of a spec's name.

    :param version: ``v1.34.9``, ``1.34``, ``v1.34.9+build``.
    :returns: None if there is no list for its minor version.
    """
    minor = release(version)
    if minor not in minors():
        return None
    lines = (_FOLDER / f'required-{minor}.txt').read_text(
        encoding='utf-8').splitlines()
    return tuple(line for line in lines if not line.startswith('#'))
