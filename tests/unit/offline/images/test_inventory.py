# SPDX-License-Identifier: Apache-2.0

import os
from unittest import mock

from tests.unit.offline.images import base
from tools.offline.images import inventory


class TestInventory(base.TestCase):

    def test_what_is_no_archive_is_passed_over(self):
        home = self.folder()
        self.write(home / 'pause-1.tar', base.recipe('pause'))
        (home / 'mine.tar').write_text('mine')

        self.assertEqual(
            {'pause': home / 'pause-1.tar'},
            {name: one.path for name, one in inventory.read(home).items()})
        self.assertIsNone(inventory.files(home)[home / 'mine.tar'])
        self.assertEqual({}, inventory.read(home / 'missing'))

    def test_default_folder(self):
        with mock.patch.dict(os.environ,
                             {'MAGNUM_CAPI_IMAGES_DIR': '/here'}):
            self.assertEqual('/here', str(inventory.folder()))
        with mock.patch.dict(os.environ, {'MAGNUM_CAPI_CACHE': '/cache',
                                          'MAGNUM_CAPI_IMAGES_DIR': ''}):
            self.assertEqual('/cache/images', str(inventory.folder()))
