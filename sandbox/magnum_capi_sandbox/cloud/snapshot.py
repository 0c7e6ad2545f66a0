# SPDX-License-Identifier: Apache-2.0
"""Seeded data of a cloud, kept in the cache: new sandboxes start from a copy.

A snapshot is a folder with the data folders, named by everything that its
content depends on. It gets its name when it is complete; one that is not is
thrown away and made again.
"""

import os
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import backends
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import releases
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import disk

#: Folders and files of a sandbox that a snapshot contains, if they exist:
#: none that :mod:`.credentials` makes.
MEMBERS = ('db', 'mariadb', 'images', 'seeded.json')

#: Those that every snapshot has.
_ALWAYS = ('db', 'images', 'seeded.json')

_HERE = pathlib.Path(__file__).parent

#: Free bytes below which a failed copy is for lack of space: more than the
#: largest file of a snapshot.
_MARGIN = 256 << 20


def path(profile: profiles.Profile,
         release: releases.Release = releases.NEWEST,
         kind: str = infrastructure.MEMORY) -> pathlib.Path:
    """Where the snapshot of a profile is, or would be.

    :param release: of Magnum.
    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    templates = _HERE.with_name('templates')
    sources = [*_HERE.rglob('*.py'), _HERE.with_name('catalog.py'),
               templates / '_common.j2',
               *(templates / f'{service.file}.j2'
                 for service in catalog.BY_TYPE.values())]
    database = backends.mariadb_version() \
        if profile.database == 'mariadb' else ''
    key = environment.digest(profile, environment.key(kind=kind), database,
                             *sorted(sources))
    return (paths.cache() / 'snapshots'
            / f'{profile.name}-{environment.key(release, kind)}-{key}')


def save(directory: pathlib.Path, target: pathlib.Path,
         progress: progress.Progress) -> None:
    """Copy the data of a stopped cloud; remove snapshots of no more use.

    Without disk space in the cache there is none, and the next sandbox takes
    longer.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = target.with_name(f'.{target.name}.{os.getpid()}')
    try:
        draft.mkdir(mode=0o700)
        _copy(directory, draft)
        draft.rename(target)
    except OSError as e:
        progress.info(f'The snapshot {target} cannot be kept: '
                      f'{e.strerror or e}')
        shutil.rmtree(draft, ignore_errors=True)
    for other in target.parent.iterdir():
        if other != target and not _of_use(other, target):
            _remove(other)


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    for name in MEMBERS:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, symlinks=True)
        elif (source / name).exists():
            shutil.copy2(source / name, target / name)


def _remove(path: pathlib.Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _of_use(other: pathlib.Path, newest: pathlib.Path) -> bool:
    """Whether a snapshot other than the newest may still be used.

    Each environment of the cloud has its own snapshots; without this, users
    of several Pythons or checkouts would make them again and again.
    """
    if other.name.startswith('.'):
        # A draft of a process that may have been killed.
        return pathlib.Path('/proc', other.suffix[1:]).exists()
    kind, parts = newest.name.split('-')[:2], other.name.split('-')
    return (len(parts) == 3 and other.is_dir() and parts[:2] != kind
            and environment.location(parts[1]).exists())


def restore(source: pathlib.Path, directory: pathlib.Path,
            progress: progress.Progress) -> bool:
    """Copy a snapshot into a sandbox's folder.

    :returns: whether there was a usable one.
    :raises EnvironmentProblem: no space.
    """
    if not source.exists():
        return False
    try:
        missing = [name for name in _ALWAYS if not (source / name).exists()]
        if missing:
            raise FileNotFoundError(f'it lacks {", ".join(missing)}')
        _copy(source, directory)
    except OSError as e:
        for name in MEMBERS:
            _remove(directory / name)
        if disk.free(directory) < _MARGIN:
            raise errors.EnvironmentProblem(
                'No disk space for a copy of the snapshot', where=directory,
                hint='Free some space, or name another folder with '
                     '--directory or MAGNUM_CAPI_STATE') from e
        progress.info(f'The snapshot {source} cannot be used ({e}) and is '
                      'created again')
        shutil.rmtree(source, ignore_errors=True)
        return False
    return True
