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

"""Where the sidecar of an archive is, and whether there may be one.

Apart from :mod:`sidecar`: where there is none, nobody waits for what reads
one to be imported.
"""

import pathlib

SUFFIX = '.result.json'


def path(archive) -> pathlib.Path:
    """Where the sidecar of an archive is."""
    archive = pathlib.Path(archive)
    return archive.with_name(archive.name + SUFFIX)


def load(archive):
    """As :func:`.sidecar.load`."""
    try:
        path(archive).lstat()
    except OSError:
        return None
    from magnum_capi_tempest.conformance.record import sidecar
    return sidecar.load(archive)
