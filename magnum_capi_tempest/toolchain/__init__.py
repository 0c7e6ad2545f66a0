# SPDX-License-Identifier: Apache-2.0

"""Pinned external programs: find, download or build, verify, keep.

The entry point of this room. The pins are in ``pins.toml``; Go itself and the
files of Go modules are in :mod:`magnum_capi_tempest.toolchain.go`.
"""

import collections.abc
import pathlib

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import build
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import programs
from magnum_capi_tempest.toolchain import store


def ensure(names: collections.abc.Sequence[str],
           progress: progress_.Progress | None = None,
           found: pins.Pins | None = None) -> dict[str, pathlib.Path]:
    """Fetch programs, one after the other, each in its pinned version.

    :param names: iterable of program names, keys of ``pins.toml``.
    :param progress: gets a message about every step longer than 2 s.
    :param found: other pins, a :class:`pins.Pins`.
    :returns: absolute path of each.
    :raises UsageError: a name is not pinned; nothing was done.
    :raises EnvironmentProblem: a program can neither be downloaded nor
        built here, or there is no disk space.
    :raises CommandFailed: a build failed.
    """
    names = list(names)
    progress = progress or progress_.Progress()
    found = found or pins.load()
    unknown = [n for n in names if n not in found.programs]
    if unknown:
        raise errors.UsageError(
            f'Unknown program {", ".join(unknown)}',
            hint=f'Known programs: {", ".join(found.programs)}')
    resolver = _resolver(found, progress)
    return {name: resolver.get(name) for name in names}


def versions(names: collections.abc.Sequence[str]) -> dict[str, str]:
    """Versions of pinned programs, those of our own with their sources'."""
    found = pins.load().programs
    return {name: _version(found[name]) for name in names}


def _version(program: pins.Program) -> str:
    if program.build and program.build.folder and not program.download:
        return f'{program.version}-{build.key(program.build)[:12]}'
    return program.version


def missing(names: collections.abc.Iterable[str],
            found: pins.Pins | None = None) -> set[str]:
    """Those programs that :func:`ensure` would have to download or build.

    :param names: keys of ``pins.toml``.
    :param found: as of :func:`ensure`.
    """
    resolver = _resolver(found or pins.load(), progress_.Silent())
    return {name for name in names if not resolver.has(name)}


def _resolver(
        found: pins.Pins, progress: progress_.Progress) -> programs.Resolver:
    try:
        wheel = store.Store(resources.find('sandbox/programs'))
    except errors.EnvironmentProblem:
        # A checkout, or a wheel for any platform.
        wheel = None
    return programs.Resolver(found, store.Store(), progress, wheel)
