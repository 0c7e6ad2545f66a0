# SPDX-License-Identifier: Apache-2.0
"""The Python environments of the cloud: Keystone to Magnum, apart from ours.

They live in the cache, named by what they consist of, and are used by every
sandbox. The newest Magnum is in that of the cloud; an earlier one has an
environment of its own. Each is made in one go: one without its stamp is from
an interrupted run and made again.
"""

import fcntl
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile
import typing

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import paths
from magnum_capi_tempest import resources
from magnum_capi_tempest.sandbox import releases
from magnum_capi_tempest.toolchain import gobin

_STAMP = 'magnum-capi-complete'


class Environments(typing.NamedTuple):
    """Folders of the two environments; one and the same for the newest."""

    cloud: pathlib.Path
    magnum: pathlib.Path


def digest(*parts) -> str:
    """Twelve hexadecimal digits that name the content of ``parts``."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) \
            else str(part).encode()
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()[:12]


def key(release=releases.NEWEST) -> str:
    """Names the content of an environment: pins and Python version."""
    return digest(*map(resources.find, release.pins),
                  sys.implementation.cache_tag, sys.executable)


def location(name: str) -> pathlib.Path:
    """Folder of the environment with that :func:`key`, made or not."""
    return paths.cache() / 'cloud' / name


def uv() -> str:
    """Path of uv, which is installed with the extra ``sandbox``."""
    found = gobin.find_uv()
    if not found:
        raise errors.EnvironmentProblem(
            'uv is missing', where=sys.executable,
            hint='pip install uv')
    return found


def both(progress, release) -> Environments:
    """The environments of the cloud and of a release of Magnum.

    :raises CommandFailed: packages cannot be installed.
    """
    return Environments(ensure(progress), ensure(progress, release))


def ensure(progress, release=releases.NEWEST) -> pathlib.Path:
    """The environment's folder; made when it is not there.

    :param release: of Magnum; the newest is part of the cloud.
    :raises CommandFailed: packages cannot be installed.
    """
    folder = location(key(release))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f'{folder}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / _STAMP).exists():
            what = ('Cloud environment (Keystone to Magnum)'
                    if release == releases.NEWEST else
                    f'Environment of Magnum {release.name}')
            with progress.step(what):
                _make(folder, release.pins)
    return folder


def _make(folder, pins):
    shutil.rmtree(folder, ignore_errors=True)
    # Compiled files would be missing for good with this variable.
    env = {k: v for k, v in os.environ.items()
           if k not in ('PYTHONDONTWRITEBYTECODE', 'VIRTUAL_ENV')}
    hint = ('A package index must be reachable; see the message of uv above '
            'and its environment variables')
    # uv leaves lock files where temporary files go.
    with tempfile.TemporaryDirectory(prefix='magnum-capi-') as temporary:
        env['TMPDIR'] = temporary
        processes.run([uv(), 'venv', '--quiet', '--python', sys.executable,
                       folder], env=env, timeout=120, hint=hint)
        processes.run([uv(), 'pip', 'install', '--quiet', '--python',
                       folder / 'bin' / 'python', *(
                           word for name in pins for word in (
                               '--requirement', resources.find(name)))],
                      env=env, timeout=1800, hint=hint)
    (folder / _STAMP).touch()
