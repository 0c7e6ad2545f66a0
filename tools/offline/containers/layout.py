# SPDX-License-Identifier: Apache-2.0

"""Paths and names of an engine; pure."""

import dataclasses
import hashlib
import os
import pathlib

from magnum_capi import errors
from magnum_capi_tempest import paths

#: Here the engine has its own file system.
_HIDDEN = pathlib.Path('/run')


@dataclasses.dataclass(frozen=True)
class Layout:
    """Files of one engine.

    :param directory: for files of the run, absolute, mode 0700.
    :param store: for images and containers; outlives the run.
    """

    directory: pathlib.Path
    store: pathlib.Path

    @property
    def socket(self) -> pathlib.Path:
        """The engine's API, for its owner only."""
        return self.directory / 'docker.sock'

    @property
    def configuration(self) -> pathlib.Path:
        """dockerd's configuration file."""
        return self.directory / 'daemon.json'

    @property
    def record(self) -> pathlib.Path:
        """Record of what was brought up."""
        return self.directory / 'containers.json'

    @property
    def data(self) -> pathlib.Path:
        """dockerd's data-root."""
        return self.store / 'docker'

    @property
    def lock(self) -> pathlib.Path:
        """Locked by the user of the store; names that user."""
        return self.store / 'lock'

    @property
    def key(self) -> str:
        """Ten letters and digits that no other folder has."""
        return hashlib.sha256(os.fsencode(self.directory)).hexdigest()[:10]

    @property
    def cgroup(self) -> str:
        """Control group of all containers, without the leading slash."""
        return f'magnum-capi-{self.key}'

    @property
    def link(self) -> str:
        """The host's interface; names have at most 15 characters."""
        return f'mc{self.key}'


def check(layout):
    """Check that an engine can work with these paths.

    :raises UsageError: a path is too long, or hidden by the engine's own
        files.
    """
    paths.check_socket(layout.socket)
    for folder in (layout.directory, layout.store):
        if folder.is_relative_to(_HIDDEN) \
                or folder.is_relative_to('/var/run'):
            raise errors.UsageError(
                'Containers cannot have their files below /run',
                where=folder, hint='Choose another folder')
