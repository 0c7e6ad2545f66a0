# SPDX-License-Identifier: Apache-2.0

"""The doors contract on small houses."""

import grimp
import testtools

from tools.hacking import doors


class DoorsTest(testtools.TestCase):

    def broken(self, contract, *imports):
        graph = grimp.ImportGraph()
        for line in imports:
            importer, imported = line.split(' -> ')
            for module in (importer, imported):
                if module not in graph.modules:
                    graph.add_module(module)
            graph.add_import(importer=importer, imported=imported)
        check = contract.check(graph, verbose=False)
        found = [door for door, _, _ in check.metadata['broken']]
        self.assertEqual(not found, check.kept)
        return found

    def doors(self, *imports, lines=('cli -> *', 'sandbox -> management')):
        return self.broken(doors.DoorsContract('name', {}, {
            'root': 'house', 'library': 'library',
            'foundation': ['errors', 'library.waiting'],
            'doors': lines}), *imports)

    def test_doors(self):
        self.assertEqual([], self.doors(
            'house.cli.a -> house.sandbox.b',
            'house.sandbox.a -> house.sandbox.b',
            'house.sandbox.a -> house.management.b',
            'house.sandbox.a -> library.discovery.model',
            'house.management -> house.errors',
            'house.management -> library.waiting',
            'house.management -> house',
            'house.management -> library',
            'house.management -> requests',
            'library.driver -> library.kube', lines=[
                'cli -> *',
                'sandbox -> management, library.discovery.model']))

    def test_no_door(self):
        self.assertEqual(
            ['management -> sandbox', 'sandbox -> cli',
             'sandbox -> discovery', 'sandbox -> library'],
            self.doors('house.sandbox.a -> house.discovery.resolve',
                       'house.sandbox.a -> library.discovery.resolve',
                       'house.sandbox.a -> house.cli.b',
                       'house.management -> house.sandbox.a', lines=[]))

    def test_new_room_has_no_doors(self):
        self.assertEqual(['kitchen -> management'], self.doors(
            'house.kitchen -> house.management', lines=[]))

    def test_foundation_opens_no_doors(self):
        self.assertEqual(['errors -> cli'], self.doors(
            'house.errors -> house.cli', lines=[]))

    def test_a_door_that_nobody_uses(self):
        self.assertEqual(['cli -> *', 'sandbox -> management'], self.doors(
            'house.sandbox.a -> house.sandbox.b'))
        self.assertEqual(['sandbox -> management.x'], self.doors(
            'house.sandbox.a -> house.management.y',
            lines=['sandbox -> management, management.x']))

    def test_libraries(self):
        contract = doors.LibrariesContract('name', {}, {
            'root': 'house', 'library': 'library',
            'libraries': ['a: stdlib, -subprocess, oslo_config']})

        self.assertEqual(
            ['house.a: requests', 'house.a: subprocess'],
            self.broken(
                contract, 'house.a -> requests', 'house.a.b -> subprocess',
                'house.a -> oslo_config', 'house.a -> os',
                'house.a -> house.b', 'house.a -> library.b',
                'house.b -> requests'))

    def test_bad_line_is_named(self):
        error = self.assertRaises(ValueError, doors._table, ['a b'], '->')

        self.assertIn("'a b' has no '->'", str(error))
