# SPDX-License-Identifier: Apache-2.0

"""The doors contract on small houses, and on this one."""

import configparser
import contextlib
import io
import logging
import pathlib

import fixtures
import grimp
from importlinter import cli as importlinter
import testtools

from magnum_capi_tempest.hacking import doors

TOP = pathlib.Path(__file__).resolve().parents[3]


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


class ThisHouseTest(testtools.TestCase):

    def lint(self, config):
        # import-linter sets logging up, and disables every logger there is.
        for logger in list(logging.root.manager.loggerDict.values()):
            if isinstance(logger, logging.Logger):
                self.addCleanup(setattr, logger, 'disabled', logger.disabled)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = importlinter.lint_imports(
                config_filename=str(config), no_cache=True)
        return code, out.getvalue()

    def test_rules_hold(self):
        code, out = self.lint(TOP / '.importlinter')

        self.assertEqual(0, code, out)

    def changed(self, contract, option, old, new):
        """Lint the same house with another rule; its code and output."""
        config = configparser.ConfigParser()
        config.read(TOP / '.importlinter')
        rules = config[f'importlinter:contract:{contract}']
        self.assertIn(old, rules[option])
        rules[option] = rules[option].replace(old, new)
        folder = self.useFixture(fixtures.TempDir()).path
        with open(pathlib.Path(folder) / 'x.ini', 'w') as stream:
            config.write(stream)
        return self.lint(stream.name)

    def test_a_closed_door_is_red(self):
        code, out = self.changed(
            'doors', 'doors', 'rehearsal, report', 'rehearsal')

        self.assertEqual(1, code)
        self.assertIn('There is no such door: cli -> report', out)

    def test_a_room_of_the_driver_that_looks_up_is_red(self):
        code, out = self.changed(
            'driver', 'layers', 'observed\ndesired', 'desired\nobserved')

        self.assertEqual(1, code)
        self.assertIn('magnum_capi.driver.observed is not allowed to '
                      'import magnum_capi.driver.desired:',
                      ' '.join(out.split()))

    def test_a_module_of_the_driver_without_a_floor_is_red(self):
        code, out = self.changed(
            'driver', 'layers', 'deadline | failures', 'failures')

        self.assertEqual(1, code)
        self.assertIn('magnum_capi.driver.deadline', out)
