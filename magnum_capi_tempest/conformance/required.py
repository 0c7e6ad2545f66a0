# SPDX-License-Identifier: Apache-2.0

"""Which tests certify a cluster of some Kubernetes version?

The lists are files of this package, made by ``tools/required_tests.py`` from
the pinned Go modules k8s.io/kubernetes; one for each minor, because patch
releases do not change them.
"""

import functools
import pathlib
import re

_DATA = pathlib.Path(__file__).with_name('data')
_MINOR = re.compile(r'v?1\.(\d{1,3})(?!\d)')


def path(minor: str) -> pathlib.Path:
    """File of a minor, ``v1.34``, whether it is there or not."""
    return _DATA / f'required-{minor}.txt'


def minors() -> tuple[str, ...]:
    """The minors that there is a list for, oldest first."""
    found = (p.stem.removeprefix('required-')
             for p in _DATA.glob('required-v1.*.txt'))
    return tuple(sorted(found, key=lambda m: int(m.rpartition('.')[2])))


@functools.cache
def names(kubernetes_version: str) -> tuple[str, ...] | None:
    """Names of the tests, as a spec's name is; None without a list.

    :param kubernetes_version: ``v1.34.9``, ``1.34``, ``v1.34.9+build``.
    """
    match = _MINOR.match(kubernetes_version)
    if not match:
        return None
    try:
        lines = path(f'v1.{match[1]}').read_text().splitlines()
    except FileNotFoundError:
        return None
    return tuple(line for line in lines
                 if line and not line.startswith('#'))
