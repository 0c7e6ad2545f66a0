# SPDX-License-Identifier: Apache-2.0
"""A copy of the kubeconfig where Magnum's driver reads it."""

import contextlib
import pathlib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.management import folder

#: Key of the record.
_KEY = 'kubeconfig_to'


def give(directory: pathlib.Path, kubeconfig: pathlib.Path,
         target: pathlib.Path | None) -> None:
    """Write the copy, readable by its owner only, and record its path.

    :param directory: folder of the cluster.
    :param target: path, None for no copy.
    :raises EnvironmentProblem: it cannot be written.
    """
    if target is None:
        return
    target = pathlib.Path(target).absolute()
    content = pathlib.Path(kubeconfig).read_bytes()
    # Recorded first: a run that is killed in between leaves no unknown copy.
    folder.write(directory, {**(folder.read(directory) or {}),
                             _KEY: str(target)})
    try:
        if not target.exists() or target.read_bytes() != content:
            outfile.write_private(target, content)
        target.chmod(0o600)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot write the kubeconfig: {e.strerror}',
            where=target) from e


def take_back(directory: pathlib.Path, kubeconfig: pathlib.Path) -> None:
    """Remove the copy, unless it belongs to another cluster by now."""
    recorded = (folder.read(directory) or {}).get(_KEY)
    if not recorded:
        return
    with contextlib.suppress(OSError, TypeError):
        target = pathlib.Path(recorded)
        if target.read_bytes() == pathlib.Path(kubeconfig).read_bytes():
            target.unlink()
