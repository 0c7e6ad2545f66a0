# SPDX-License-Identifier: Apache-2.0
"""The locks of a sandbox's folder; they outlive the folder."""

import collections.abc
import contextlib
import pathlib

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import lock


def file(purpose: str, directory: pathlib.Path) -> pathlib.Path:
    """Path of a lock for a sandbox's folder."""
    return (paths.cache() / 'locks'
            / f'{purpose}-{environment.digest(str(directory))}.lock')


@contextlib.contextmanager
def alone(directory: pathlib.Path) -> collections.abc.Iterator[None]:
    """Allow one ``up``, ``down`` or ``set`` at a time in a folder.

    :raises UsageError: another command is running.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock.hold(
                file('sandbox', directory), f'changes {directory}',
                progress.Silent(), timeout=0))
        except errors.WaitTimeout:
            raise errors.UsageError(
                'Another command is starting or stopping this sandbox',
                where=directory,
                hint='Wait until it has finished') from None
        yield
