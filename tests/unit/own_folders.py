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
"""Cache and state folders of a test's own, so that it meets nobody's."""

import pathlib

import fixtures


class OwnFolders(fixtures.Fixture):
    """``base`` is a new folder; cache and state are set to be in it."""

    def _setUp(self):
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        for name in ('CACHE', 'STATE'):
            self.useFixture(fixtures.EnvironmentVariable(
                f'MAGNUM_CAPI_{name}', str(self.base / name.lower())))
