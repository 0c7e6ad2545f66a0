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


import pathlib

import fixtures
import testtools

from magnum_capi_tempest.images import inventory
from magnum_capi_tempest.images import recipes


def recipe(name='small', **fields):
    """A recipe of one text file."""
    fields.setdefault('references', (f'example.org/{name}:1',))
    fields.setdefault('version', '1')
    return recipes.Recipe(name=name, **fields)


def archive(name='small', **fields):
    """An archive that is nowhere."""
    values = {
        'path': pathlib.Path(f'/nowhere/{name}.tar'),
        'references': (f'example.org/{name}:1',), 'kind': 'image',
        'set': 'node', 'kubernetes': None, 'version': '1',
        'image_id': 'ab' * 32, 'sha256': 'cd' * 32, 'size': 3,
        'stand_in': True, 'key': 'k', 'seconds': 1.0, **fields}
    return inventory.Archive(name=name, **values)


class TestCase(testtools.TestCase):

    def folder(self):
        return pathlib.Path(self.useFixture(fixtures.TempDir()).path)
