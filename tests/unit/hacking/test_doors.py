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

    def test_no_door(self):
        self.assertEqual(
            ['management -> sandbox', 'sandbox -> cli',
             'sandbox -> discovery', 'sandbox -> library'],
            self.doors('house.sandbox.a -> house.discovery.resolve',
                       'house.sandbox.a -> library.discovery.resolve',
                       'house.sandbox.a -> house.cli.b',
                       'house.management -> house.sandbox.a', lines=[]))

    def test_a_door_that_nobody_uses(self):
        self.assertEqual(['cli -> *', 'sandbox -> management'], self.doors(
            'house.sandbox.a -> house.sandbox.b'))

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
