# SPDX-License-Identifier: Apache-2.0


import json
import os
from unittest import mock

from magnum_capi import errors
from magnum_capi_tempest.toolchain import download
from tests.unit.offline.images import base
from tools.offline.images import inventory


class TestInventory(base.TestCase):

    def setUp(self):
        super().setUp()
        self.home = self.folder()
        self.file = self.home / 'pause.tar'
        self.file.write_bytes(b'abc')
        self.archive = base.archive(
            'pause', path=self.file, size=3,
            sha256=download.digest(self.file), contents={'pause': '1'})
        self.node = base.archive(
            'node-1.34', path=self.home / 'node-1.34.tar', kind='node',
            set='machine', kubernetes='v1.34.9')
        self.proxy = base.archive(
            'proxy-1.33', path=self.home / 'proxy-1.33.tar',
            kubernetes='v1.33.13')
        inventory.write(inventory.Inventory(self.home, {
            a.name: a for a in (self.archive, self.node, self.proxy)}))
        self.found = inventory.read(self.home)

    def test_is_read_as_it_was_written(self):
        self.assertEqual(self.archive, self.found.archives['pause'])
        self.assertEqual(self.node, self.found.archives['node-1.34'])

    def test_a_moved_folder_is_read_from_where_it_is(self):
        moved = self.folder() / 'moved'
        os.rename(self.home, moved)

        self.assertEqual(
            moved / 'pause.tar',
            inventory.read(moved).archives['pause'].path)

    def test_of_kind(self):
        self.assertEqual((self.node,), self.found.of_kind('node', 'v1.34.9'))
        self.assertEqual((), self.found.of_kind('node', 'v1.33.13'))

    def test_verify_names_what_is_wrong(self):
        self.file.write_bytes(b'abd')
        self.node.path.write_bytes(b'longer')
        found = self.found.verify()

        self.assertIn('SHA-256', found['pause'])
        self.assertIn('6 bytes instead of 3', found['node-1.34'])
        self.assertIn('not there', found['proxy-1.33'])

    def test_a_folder_without_one_is_empty(self):
        self.assertEqual({}, inventory.read(self.folder()).archives)

    def test_what_is_none_is_reported_in_one_line(self):
        file = self.home / inventory.FILE
        row = json.loads(file.read_text())[0]
        for text in ('{', '[1]', '[{}]', '3', json.dumps(
                [{**row, 'file': '../x.tar'}]), json.dumps(
                [{**row, 'more': 1}])):
            file.write_text(text)
            error = self.assertRaises(errors.EnvironmentProblem,
                                      inventory.read, self.home)
            self.assertIn(str(file), str(error))

    def test_default_folder(self):
        with mock.patch.dict(os.environ,
                             {'MAGNUM_CAPI_IMAGES_DIR': '/here'}):
            self.assertEqual('/here', str(inventory.default_directory()))
        with mock.patch.dict(os.environ, {'MAGNUM_CAPI_CACHE': '/cache',
                                          'MAGNUM_CAPI_IMAGES_DIR': ''}):
            self.assertEqual('/cache/images',
                             str(inventory.default_directory()))
