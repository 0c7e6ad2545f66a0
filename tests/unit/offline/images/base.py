# SPDX-License-Identifier: Apache-2.0


import pathlib

import fixtures
import testtools

from tools.offline.images import archive
from tools.offline.images import layer
from tools.offline.images import recipes


def recipe(name='small', **fields):
    """A recipe of one text file."""
    fields.setdefault('references', (f'example.org/{name}:1',))
    fields.setdefault('version', '1')
    return recipes.Recipe(name=name, **fields)


class TestCase(testtools.TestCase):

    def folder(self):
        return pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def write(self, path, made):
        """Write an archive with the file /x; return its layer and its id."""
        file = self.folder() / 'layer.tar'
        layer.write(file, [layer.Entry('/x', b'x')])
        own = archive.layer(file)
        return own, archive.write(
            path, archive.config(made, [own], 'amd64'), [own],
            made.references)
