# SPDX-License-Identifier: Apache-2.0

"""Which tests does certification require for a version of Kubernetes?

The lists are files, which :mod:`magnum_capi_tempest.conformance.lists` creates
from Kubernetes' Go modules. The head of a file names the versions that were
checked and have exactly this list; patch releases between two of them have it
as well. Files of this package take precedence over the user's own.
"""

import datetime
import pathlib
import re
import typing

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import paths

PACKAGED = pathlib.Path(__file__).with_name('data')
PATTERN = 'required-v1.*.txt'
#: Kubernetes has three minor releases a year.
_STALE = datetime.timedelta(days=120)
_VERSION = re.compile(r'v?1\.(\d{1,3})(?:\.(\d{1,3})(?!\d)|(?![\d.]))')
_LOOKED = re.compile(r'# (v1\.\d+\.\d+) (\d{4}-\d\d-\d\d) (h1:\S+)\n')


class Looked(typing.NamedTuple):
    """A version that was checked.

    :param number: (minor, patch); the order of versions.
    :param date: of publication.
    :param h1: hash of its module.
    :param path: file of its list.
    """

    number: tuple[int, int]
    version: str
    date: datetime.date
    h1: str
    path: pathlib.Path


def folder() -> pathlib.Path:
    """The folder of the user's own lists."""
    return paths.state() / 'conformance-lists'


def number(version: str) -> tuple[int, int | None] | None:
    """(36, 5) of ``v1.36.5+build``, (36, None) of ``1.36``."""
    match = _VERSION.match(version)
    return match and (int(match[1]), match[2] and int(match[2]))


def looked_at() -> list[Looked]:
    """Every version whose tests are known, oldest first."""
    found = {}
    for place in (folder(), PACKAGED):
        for path in sorted(place.glob(PATTERN)):
            for entry in _head(path):
                found[entry.number] = entry
    return [found[key] for key in sorted(found)]


def _head(path):
    with open(path, encoding='utf-8') as stream:
        for line in stream:
            if not line.startswith('#'):
                return
            if match := _LOOKED.fullmatch(line):
                yield Looked(number(match[1]), match[1],
                             datetime.date.fromisoformat(match[2]), match[3],
                             path)


def read(path) -> tuple[str, ...]:
    """Names in a file, in the form of a spec's name."""
    lines = path.read_text(encoding='utf-8').splitlines()
    return tuple(line for line in lines
                 if line and not line.startswith('#'))


def minors() -> tuple[str, ...]:
    """The minor versions that have a list, oldest first."""
    return tuple(dict.fromkeys(f'v1.{one.number[0]}' for one in looked_at()))


def of(kubernetes_version: str) -> model.Required | None:
    """The tests of a version, or of the nearest known one, with a remark.

    :param kubernetes_version: ``v1.34.9``, ``1.34``, ``v1.34.9+build``; for a
        minor version alone, the newest list counts.
    :returns: None if it is older than every list, or no version.
    """
    wanted = number(kubernetes_version)
    known = looked_at()
    if not wanted or not known or wanted[0] < known[0].number[0]:
        return None
    minor, patch = wanted
    same = [one for one in known if one.number[0] == minor]
    if not same:
        nearest = [one for one in known if one.number[0] < minor][-1]
        return model.Required(
            read(nearest.path), nearest.version, certifies=False,
            remark=f'there is no list of required tests for Kubernetes '
                   f'{kubernetes_version}: compared with that of '
                   f'{nearest.version}; to get one: {model.UPDATE}')
    if patch is None:
        return model.Required(read(same[-1].path), same[-1].version)
    return _within(same, patch, kubernetes_version)


def _within(same, patch, kubernetes_version):
    """The tests of a patch release of a known minor version."""
    older = [one for one in same if one.number[1] <= patch]
    newer = [one for one in same if one.number[1] >= patch]
    nearest = older[-1] if older else newer[0]
    names = read(nearest.path)
    if older and newer and (nearest.path == newer[0].path
                            or names == read(newer[0].path)):
        return model.Required(names, nearest.version)
    return model.Required(
        names, nearest.version,
        remark='the required tests have not been checked for Kubernetes '
               f'{kubernetes_version}: compared with those of '
               f'{nearest.version}; to get them: {model.UPDATE} '
               f'v1.{same[0].number[0]}.{patch}')


def stale(today: datetime.date) -> str:
    """What to report if a newer minor version is due; may be empty."""
    known = looked_at()
    minor = known[-1].number[0]
    first = next(one for one in known if one.number[0] == minor)
    if today - first.date < _STALE:
        return ''
    return (f'v1.{minor}, the latest release that is known here, dates from '
            f'{first.date}: look for a newer one with "{model.UPDATE}", or '
            'name it with --latest')
