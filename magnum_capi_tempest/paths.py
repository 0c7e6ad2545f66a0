# SPDX-License-Identifier: Apache-2.0

"""Where files live: XDG base directories, each overridable by one variable.

============ ======================== =====================================
what         variable                 default
============ ======================== =====================================
cache        ``MAGNUM_CAPI_CACHE``    ``$XDG_CACHE_HOME/magnum-capi``
state        ``MAGNUM_CAPI_STATE``    ``$XDG_STATE_HOME/magnum-capi``
============ ======================== =====================================

The cache can be deleted whenever nothing is running; rebuilding it only takes
time. The state belongs to what is running.
"""

import os
import pathlib

from magnum_capi import errors

# sockaddr_un.sun_path has 108 bytes, the last one is zero (unix(7)).
_LONGEST_SOCKET_PATH = 107


def _base(own: str, xdg: str, fallback: str) -> pathlib.Path:
    if os.environ.get(own):
        return pathlib.Path(os.environ[own]).absolute()
    base = os.environ.get(xdg)
    # XDG: a relative path in these variables is invalid and to be ignored.
    if not base or not os.path.isabs(base):
        return pathlib.Path.home() / fallback / 'magnum-capi'
    return pathlib.Path(base) / 'magnum-capi'


def cache() -> pathlib.Path:
    """Folder for what can be rebuilt."""
    return _base('MAGNUM_CAPI_CACHE', 'XDG_CACHE_HOME', '.cache')


def state() -> pathlib.Path:
    """Folder for the state of what is running."""
    return _base('MAGNUM_CAPI_STATE', 'XDG_STATE_HOME', '.local/state')


def check_socket(path: pathlib.Path) -> None:
    """:raises UsageError: the path is too long for a socket."""
    if len(os.fsencode(path)) > _LONGEST_SOCKET_PATH:
        raise errors.UsageError(
            'The path is too long for a socket '
            f'(over {_LONGEST_SOCKET_PATH} bytes)', where=path,
            hint='Choose a shorter folder')
