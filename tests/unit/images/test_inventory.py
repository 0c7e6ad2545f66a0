# SPDX-License-Identifier: Apache-2.0


import json
import os
from unittest import mock

from magnum_capi import errors
from magnum_capi_tempest import images
from magnum_capi_tempest.images import build
from magnum_capi_tempest.images import inventory
from magnum_capi_tempest.images import recipes
from magnum_capi_tempest.toolchain import download
from tests.unit.images import base


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

    def test_of_kind_and_of_set(self):
        self.assertEqual((self.node,), self.found.of_kind('node', 'v1.34.9'))
        self.assertEqual((), self.found.of_kind('node', 'v1.33.13'))
        self.assertEqual((self.archive,), self.found.of_set('node'))
        self.assertEqual(
            ['pause', 'proxy-1.33'],
            [a.name for a in self.found.of_set('node', 'v1.33.13')])

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


class TestRequire(base.TestCase):

    def test_names_what_is_missing_and_the_command(self):
        home = self.folder()
        error = self.assertRaises(
            errors.EnvironmentProblem, images.require, home, ('1.36',),
            images.NODES)

        self.assertIn('node-1.36', error.last_seen)
        self.assertIn(
            f'{images.COMMAND} build --directory {home} --kubernetes 1.36',
            error.hint)

    def test_the_command_works_as_typed(self):
        home = self.folder() / 'a b'
        error = self.assertRaises(
            errors.EnvironmentProblem, images.require, home, ('1.36',),
            images.NODES)

        self.assertIn(f"--directory '{home}'", error.hint)

    def test_minors_that_no_recipe_makes(self):
        error = self.assertRaises(
            errors.UsageError, images.require, self.folder(),
            ('1.36', '1.34', '1.99'), images.NODES)

        # minikube's machine has 1.34, but no node.
        self.assertIn('Kubernetes 1.34, 1.99 can', error.what)
        self.assertIn(', '.join(recipes.minors()), error.hint)

    def test_a_cut_off_archive_is_missing(self):
        home = self.folder()
        wanted = {'node-1.36': 'node', 'haproxy': 'image'}
        archives = {}
        for name, kind in wanted.items():
            path = home / f'{name}.tar'
            path.write_bytes(b'abc')
            archives[name] = base.archive(name, path=path, kind=kind,
                                          set='machine')
        inventory.write(inventory.Inventory(home, archives))
        self.assertEqual(
            set(wanted),
            set(images.require(home, ('1.36',), images.NODES).archives))
        (home / 'haproxy.tar').write_bytes(b'a')
        error = self.assertRaises(
            errors.EnvironmentProblem, images.require, home, ('1.36',),
            images.NODES)

        self.assertEqual('missing: haproxy', error.last_seen)


class TestProvide(base.TestCase):

    def provide(self):
        with mock.patch.object(build, 'build') as made:
            images.provide(('1.36',), images.NODES, 'progress')
        return made

    def test_only_what_is_missing_is_made(self):
        home = self.folder()
        path = home / 'haproxy.tar'
        path.write_bytes(b'abc')
        archives = {'haproxy': base.archive('haproxy', path=path)}
        with mock.patch.dict(os.environ, {inventory.VARIABLE: str(home)}):
            inventory.write(inventory.Inventory(home, archives))
            self.provide().assert_called_once_with(
                None, ('node-1.36',), ('1.36',), 'progress')
            archives['node-1.36'] = base.archive('node-1.36', path=path)
            inventory.write(inventory.Inventory(home, archives))
            self.provide().assert_not_called()
