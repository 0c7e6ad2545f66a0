# SPDX-License-Identifier: Apache-2.0

"""Image archives that are only on paper."""

import pathlib

from magnum_capi_tempest.images import inventory as inventories

FOLDER = pathlib.Path('/images')


def image(name, *references, kind='image', kubernetes=None, set='node',
          stand_in=True, size=10 << 20):
    return inventories.Archive(
        name=name, path=FOLDER / f'{name}.tar', references=references,
        kind=kind, set=set, kubernetes=kubernetes, version='1',
        image_id='0' * 64, sha256='0' * 64, size=size, stand_in=stand_in,
        key='0' * 64, seconds=1.0)


def node(kubernetes, **values):
    return image(f'node-{kubernetes}', f'kindest/node:{kubernetes}',
                 kind='node', kubernetes=kubernetes, set='machine',
                 **values)


def inventory(*archives):
    return inventories.Inventory(FOLDER, {a.name: a for a in archives})


class Reader:
    """In the place of the module "inventory"."""

    def __init__(self, found):
        self._found = found

    def read(self, directory):
        return self._found()
