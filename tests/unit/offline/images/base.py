# SPDX-License-Identifier: Apache-2.0


import pathlib

import fixtures
import testtools

from tools.offline.images import inventory
from tools.offline.images import recipes


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
