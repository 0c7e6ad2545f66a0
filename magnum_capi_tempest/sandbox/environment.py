# SPDX-License-Identifier: Apache-2.0
"""The Python environment of the cloud: Keystone to Magnum, apart from ours.

It lives in the cache, named by what it consists of, and is used by every
sandbox. It is made in one go: an environment without its stamp is from an
interrupted run and made again.
"""

import fcntl
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import paths
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import gobin

CONSTRAINTS = 'constraints/cloud.txt'

_STAMP = 'magnum-capi-complete'


def digest(*parts) -> str:
    """Twelve hexadecimal digits that name the content of ``parts``."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) \
            else str(part).encode()
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()[:12]


def key() -> str:
    """Names the content of the environment: pins and Python version."""
    return digest(resources.find(CONSTRAINTS),
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
            hint='Install magnum-capi-tempest[sandbox]')
    return found


def ensure(progress) -> pathlib.Path:
    """The environment's folder; made when it is not there.

    :raises CommandFailed: packages cannot be installed.
    """
    folder = location(key())
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f'{folder}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / _STAMP).exists():
            with progress.step('Cloud environment (Keystone to Magnum)'):
                _make(folder)
    return folder


def _make(folder):
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
                       folder / 'bin' / 'python', '--requirement',
                       resources.find(CONSTRAINTS)],
                      env=env, timeout=1800, hint=hint)
    (folder / _STAMP).touch()
