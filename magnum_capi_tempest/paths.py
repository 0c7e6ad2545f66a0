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


def _base(own, xdg, fallback):
    if os.environ.get(own):
        return pathlib.Path(os.environ[own]).absolute()
    base = os.environ.get(xdg)
    # XDG: a relative path in these variables is invalid and to be ignored.
    if not base or not os.path.isabs(base):
        base = pathlib.Path.home() / fallback
    return pathlib.Path(base) / 'magnum-capi'


def cache() -> pathlib.Path:
    """Folder for what can be rebuilt."""
    return _base('MAGNUM_CAPI_CACHE', 'XDG_CACHE_HOME', '.cache')


def state() -> pathlib.Path:
    """Folder for the state of what is running."""
    return _base('MAGNUM_CAPI_STATE', 'XDG_STATE_HOME', '.local/state')
