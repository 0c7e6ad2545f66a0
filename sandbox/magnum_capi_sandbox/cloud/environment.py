# SPDX-License-Identifier: Apache-2.0
"""The Python environments of the cloud: Keystone to Magnum, apart from ours.

They live in the cache, named by their content, and are shared by all
sandboxes. The newest Magnum is in the cloud's environment; an earlier one has
an environment of its own. An environment without its stamp comes from an
interrupted run and is made again.
"""

import collections.abc
import contextlib
import hashlib
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import typing

import psutil

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import releases
from magnum_capi_tempest import paths
from magnum_capi_tempest import proc
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import gobin
from magnum_capi_tempest.toolchain import lock

_STAMP = 'magnum-capi-complete'

#: Prefix of the names of environments with a user's own Magnum, and how many
#: are kept: every change of a checkout makes another one of 100 MB.
_OWN = 'own'
_KEPT = 5

#: Names of the environments among the versions of a sandbox.
_CLOUD, _MAGNUM_PACKAGES = 'packages of the cloud', 'packages of Magnum'

# Magnum's own pin, with its hashes.
_MAGNUM = re.compile(r'^magnum==.*(?:\n .*)*\n', re.MULTILINE)


class Environments(typing.NamedTuple):
    """Folders of the two environments; the same one for the newest Magnum."""

    cloud: pathlib.Path
    magnum: pathlib.Path


def digest(*parts: object) -> str:
    """Twelve hexadecimal digits that name the content of ``parts``."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) \
            else str(part).encode()
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()[:12]


def _python() -> tuple[str, ...]:
    """What identifies the Python that environments are made of.

    If this runs in a virtual environment, that is its base Python.
    """
    return (sys.implementation.cache_tag, platform.python_version(),
            os.path.realpath(sys.executable))


def _files(release: releases.Release, kind: str) -> list[pathlib.Path]:
    names = list(release.pins)
    if kind == infrastructure.OPENSTACK and releases.CLOUD in names:
        names.append(infrastructure.PINS)
    return [*map(resources.find, names)]


def key(release: releases.Release = releases.NEWEST,
        kind: str = infrastructure.MEMORY) -> str:
    """A name for the content of an environment: pins and Python version.

    :param kind: one of :data:`.infrastructure.KINDS`.
    :raises UsageError: the user's own Magnum is not in the cache any more.
    """
    parts = [*_files(release, kind), *_python()]
    if not release.wheel:
        return digest(*parts)
    if not pathlib.Path(release.wheel).exists():
        raise errors.UsageError(
            "The environment of this sandbox's Magnum has been removed",
            where=release.wheel, hint='Take the sandbox down and up again')
    return _OWN + digest(pathlib.Path(release.wheel), *parts)


def versions(release: releases.Release = releases.NEWEST,
             kind: str = infrastructure.MEMORY) -> dict[str, str]:
    """The keys of a sandbox's environments, as versions by name.

    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    return {_CLOUD: key(kind=kind), _MAGNUM_PACKAGES: key(release, kind)}


def made(versions: collections.abc.Mapping[str, str]) -> Environments:
    """The environments with these :func:`versions`; they may be gone."""
    return Environments(*(
        location(versions[name]) for name in (_CLOUD, _MAGNUM_PACKAGES)))


def pins(release: releases.Release, folder: pathlib.Path,
         kind: str = infrastructure.MEMORY) -> list[pathlib.Path]:
    """Files with the pins of an environment, in pip's format.

    :param folder: for modified copies, without Magnum: they are made if the
        user's own Magnum replaces the release's.
    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    files = _files(release, kind)
    if not release.wheel:
        return files
    rest = [folder / file.name for file in files]
    for file, target in zip(files, rest):
        target.write_text(_MAGNUM.sub('', file.read_text()))
    return rest


def location(name: str) -> pathlib.Path:
    """Folder of the environment with that :func:`key`; it may not exist."""
    return paths.cache() / 'cloud' / name


def uv() -> str:
    """Path of uv, which is installed with the extra ``sandbox``."""
    found = gobin.find_uv()
    if not found:
        raise errors.EnvironmentProblem(
            'uv is missing', where=sys.executable,
            hint='pip install uv')
    return found


def both(progress: progress.Progress, release: releases.Release,
         kind: str = infrastructure.MEMORY) -> Environments:
    """The environments of the cloud and of a release of Magnum.

    :param kind: one of :data:`.infrastructure.KINDS`.
    :raises CommandFailed: packages cannot be installed.
    """
    return Environments(ensure(progress, kind=kind),
                        ensure(progress, release, kind))


def ensure(progress: progress.Progress,
           release: releases.Release = releases.NEWEST,
           kind: str = infrastructure.MEMORY) -> pathlib.Path:
    """The environment's folder, made if necessary.

    :param release: of Magnum; the newest is part of the cloud.
    :param kind: one of :data:`.infrastructure.KINDS`.
    :raises CommandFailed: packages cannot be installed.
    :raises UsageError: the user's own Magnum is not in the cache any more.
    """
    folder = _ensure(
        progress, location(key(release, kind)),
        'Python environment of the cloud (Keystone to Magnum)'
        if release == releases.NEWEST else 'Python environment of Magnum '
                                           f'{release}',
        lambda scratch: [*_required(pins(release, scratch, kind)),
                         *([release.wheel] if release.wheel else [])])
    if release.wheel:
        _remove_oldest(folder)
    return folder


def _remove_unused(newest: pathlib.Path) -> None:
    """Remove the environments that nothing has used for long."""
    for stamp in newest.parent.glob(f'*/{_STAMP}'):
        if disk.unused(stamp):
            _remove(stamp)


def of_pins(progress: progress.Progress,
            files: collections.abc.Sequence[pathlib.Path], what: str
            ) -> pathlib.Path:
    """The folder of an environment that is not part of a cloud.

    :param files: absolute paths of the files with its pins.
    :param what: its name for display.
    :raises CommandFailed: packages cannot be installed.
    """
    return _ensure(
        progress, location(digest(*files, *_python())), what,
        lambda _scratch: _required(files))


def _required(files: collections.abc.Sequence[pathlib.Path]
              ) -> list[pathlib.Path | str]:
    return [word for file in files for word in ('--requirement', file)]


def _ensure(
        progress: progress.Progress,
        folder: pathlib.Path,
        what: str,
        words: collections.abc.Callable[
            [pathlib.Path], collections.abc.Sequence[str | pathlib.Path]]
) -> pathlib.Path:
    """Make an environment if it does not exist.

    :param words: function that returns what uv is to install; its argument
        is a folder for temporary files.
    """
    with lock.hold(folder.with_name(f'{folder.name}.lock'),
                   f'makes {folder}', progress) as held:
        if not (folder / _STAMP).exists():
            with progress.step(what):
                _make(folder, words, held)
            _remove_unused(folder)
        (folder / _STAMP).touch()
    return folder


def _remove_oldest(newest: pathlib.Path) -> None:
    """Remove the least recently used ones with Magnums of users' own."""
    stamps = sorted(newest.parent.glob(f'{_OWN}*/{_STAMP}'), key=_last_use)
    for stamp in stamps[:-_KEPT]:
        _remove(stamp)


def _remove(stamp: pathlib.Path) -> None:
    """Remove an environment, unless a program runs from it."""
    if not _in_use(stamp.parent):
        # First: without it, the rest does not count as an environment.
        stamp.unlink(missing_ok=True)
        shutil.rmtree(stamp.parent, ignore_errors=True)


def _last_use(stamp: pathlib.Path) -> float:
    with contextlib.suppress(FileNotFoundError):
        return stamp.stat().st_mtime
    # Another run is removing it.
    return 0


def _in_use(folder: pathlib.Path) -> bool:
    """Whether a sandbox runs from an environment.

    Directly or with an environment of its own, see services.environment and
    overlay.empty.
    """
    for process in psutil.process_iter():
        first, _, _ = (proc.variable(process, 'PATH') or '').partition(':')
        python = pathlib.Path(first, 'python')
        with contextlib.suppress(OSError):
            if folder in python.parents or (
                    folder in python.readlink().parents):
                return True
    return False


def _make(
        folder: pathlib.Path,
        words: collections.abc.Callable[
            [pathlib.Path], collections.abc.Sequence[str | pathlib.Path]],
        held: int) -> None:
    """Make an environment.

    :param held: descriptor of its lock. A uv that outlives this process must
        not write into it while another run makes it again.
    """
    shutil.rmtree(folder, ignore_errors=True)
    # With this variable compiled files would be missing for good.
    env = {k: v for k, v in os.environ.items()
           if k not in ('PYTHONDONTWRITEBYTECODE', 'VIRTUAL_ENV')}
    hint = ('Check that a package index can be reached; see the message of uv '
            'above, and its environment variables')
    # uv leaves lock files where temporary files go.
    with tempfile.TemporaryDirectory(prefix='magnum-capi-') as temporary:
        env['TMPDIR'] = temporary
        processes.run([uv(), 'venv', '--quiet', '--python', sys.executable,
                       folder], env=env, timeout=120, hint=hint,
                      pass_fds=(held,))
        processes.run([uv(), 'pip', 'install', '--quiet', '--python',
                       folder / 'bin' / 'python',
                       *words(pathlib.Path(temporary))],
                      env=env, timeout=1800, hint=hint, pass_fds=(held,))
    (folder / _STAMP).touch()
