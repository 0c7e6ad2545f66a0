# SPDX-License-Identifier: Apache-2.0

"""Which file of an engine is where, and what its things are called; pure."""

import dataclasses
import hashlib
import os
import pathlib

from magnum_capi import errors

# sockaddr_un.sun_path has 108 bytes, the last one is zero (unix(7)).
_LONGEST_SOCKET_PATH = 107

#: There the engine has a file system of its own.
_HIDDEN = pathlib.Path('/run')


@dataclasses.dataclass(frozen=True)
class Layout:
    """Files of one engine.

    :param directory: absolute, of mode 0700: what belongs to the run.
    :param store: images and containers; outlives the run.
    """

    directory: pathlib.Path
    store: pathlib.Path

    @property
    def socket(self) -> pathlib.Path:
        """The engine's API, for its owner only."""
        return self.directory / 'docker.sock'

    @property
    def configuration(self) -> pathlib.Path:
        """Of dockerd."""
        return self.directory / 'daemon.json'

    @property
    def record(self) -> pathlib.Path:
        """What was brought up."""
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
        """Of all containers, without the slash in front."""
        return f'magnum-capi-{self.key}'

    @property
    def link(self) -> str:
        """The host's interface; names have at most 15 characters."""
        return f'mc{self.key}'


def check(layout):
    """Whether an engine can work there.

    :raises UsageError: a path is too long, or where the engine's own files
        hide it.
    """
    if len(os.fsencode(layout.socket)) > _LONGEST_SOCKET_PATH:
        raise errors.UsageError(
            'The path is too long for a socket '
            f'(over {_LONGEST_SOCKET_PATH} bytes)', where=layout.socket,
            hint='Choose a shorter folder')
    for folder in (layout.directory, layout.store):
        if folder.is_relative_to(_HIDDEN) \
                or folder.is_relative_to('/var/run'):
            raise errors.UsageError(
                'Containers cannot have their files below /run',
                where=folder, hint='Choose another folder')
