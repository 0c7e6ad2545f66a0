# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Where files live: XDG base directories, each overridable by one variable.

============ ======================== =====================================
what         variable                 default
============ ======================== =====================================
cache        ``MAGNUM_CAPI_CACHE``    ``$XDG_CACHE_HOME/magnum-capi``
state        ``MAGNUM_CAPI_STATE``    ``$XDG_STATE_HOME/magnum-capi``
============ ======================== =====================================

The cache can be deleted at any time when nothing runs; it costs only time to
make it again. The state belongs to what runs now.
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
    """Folder for what can be made again."""
    return _base('MAGNUM_CAPI_CACHE', 'XDG_CACHE_HOME', '.cache')


def state() -> pathlib.Path:
    """Folder for what belongs to running things."""
    return _base('MAGNUM_CAPI_STATE', 'XDG_STATE_HOME', '.local/state')
