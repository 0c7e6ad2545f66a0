# SPDX-License-Identifier: Apache-2.0
"""Seeded data of a cloud, kept in the cache: new sandboxes start from a copy.

A snapshot is a tar file of the data folders, named by everything that its
content depends on. An unreadable one is thrown away and made again.
"""

import errno
import os
import pathlib
import shutil
import tarfile

from magnum_capi import errors
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import releases
from magnum_capi_tempest import paths

#: Folders and files of a sandbox that a snapshot contains, if they exist:
#: none that :mod:`.credentials` makes.
MEMBERS = ('db', 'mariadb', 'images', 'seeded.json')

_HERE = pathlib.Path(__file__).parent
_TEMPLATES = _HERE.with_name('templates')


def path(profile, release=releases.NEWEST,
         kind=infrastructure.MEMORY) -> pathlib.Path:
    """Where the snapshot of a profile is, or would be.

    :param release: of Magnum.
    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    sources = sorted([*(_HERE / 'programs').glob('*.py'),
                      *(_TEMPLATES / f'{service.file}.j2'
                        for service in catalog.BY_TYPE.values()),
                      _TEMPLATES / '_common.j2',
                      *(_HERE / f'{n}.py' for n in (
                          'seed', 'flavors', 'databases', 'backends'))])
    key = environment.digest(profile, environment.key(kind=kind), *sources)
    return (paths.cache() / 'snapshots'
            / f'{profile.name}-{environment.key(release, kind)}-{key}.tar')


def save(directory, target, progress):
    """Pack the data of a stopped cloud; remove snapshots of no more use.

    Without disk space in the cache there is none, and the next sandbox takes
    longer.
    """
    try:
        _save(directory, target)
    except OSError as e:
        progress.info(f'The snapshot {target} cannot be kept: {e.strerror}')


def _save(directory, target):
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = target.with_name(f'.{target.name}.{os.getpid()}')
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT, 0o600)
        with open(descriptor, 'wb') as f, tarfile.open(
                fileobj=f, mode='w') as tar:
            for name in MEMBERS:
                if (directory / name).exists():
                    tar.add(directory / name, name)
        temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)
    for old in target.parent.glob('*.tar'):
        if old != target and not _of_use(old, target):
            old.unlink(missing_ok=True)


def _of_use(other, newest):
    """Whether a snapshot other than the newest may still be used.

    Each environment of the cloud has its own snapshots; without this, users
    of several Pythons or checkouts would make them again and again.
    """
    kind, parts = newest.stem.split('-')[:2], other.stem.split('-')
    return (len(parts) == 3 and parts[:2] != kind
            and environment.location(parts[1]).exists())


def restore(source, directory, progress) -> bool:
    """Unpack a snapshot.

    :returns: whether there was a usable one.
    :raises EnvironmentProblem: no space.
    """
    if not source.exists():
        return False
    try:
        with tarfile.open(source, 'r:') as tar:
            for member in tar:
                _extract(tar, member, directory)
        # Check the last member: tarfile accepts a file cut between two.
        if not (directory / MEMBERS[-1]).exists():
            raise tarfile.ReadError('it is truncated')
    except (tarfile.TarError, OSError, EOFError, ValueError) as e:
        if getattr(e, 'errno', None) == errno.ENOSPC:
            raise errors.EnvironmentProblem(
                'No space left to unpack the snapshot', where=directory,
                hint='Free some space, or name another folder with '
                     '--directory or MAGNUM_CAPI_STATE') from e
        progress.info(f'The snapshot {source} cannot be used ({e}) and is '
                      'created again')
        source.unlink(missing_ok=True)
        _remove_members(directory)
        return False
    return True


def _remove_members(directory):
    for name in MEMBERS:
        shutil.rmtree(directory / name, ignore_errors=True)
        if (directory / name).is_file():
            (directory / name).unlink()


def _extract(tar, member, directory):
    """Write one file or folder of a snapshot, without rights for others.

    Links, devices and other names, which :func:`save` never packs, are
    refused, so that nothing can escape from the folder. Python's own filters
    for that came with 3.11.4 (PEP 706); Debian 12 has 3.11.2.
    """
    name = pathlib.PurePosixPath(member.name)
    if name.is_absolute() or '..' in name.parts or \
            name.parts[:1] not in [(known,) for known in MEMBERS] or \
            not (member.isdir() or member.isreg()):
        raise tarfile.ReadError(f'{member.name!r} is not of a snapshot')
    path = directory / name
    if member.isdir():
        path.mkdir(mode=0o700)
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL,
                         member.mode & 0o700)
    with open(descriptor, 'wb') as f:
        shutil.copyfileobj(tar.extractfile(member), f)
