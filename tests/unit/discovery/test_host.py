# SPDX-License-Identifier: Apache-2.0


"""This machine: drivers of a folder, configuration and paste files."""

import json
import os
import pathlib

import fixtures
import testtools

from magnum_capi.discovery import host
from magnum_capi.discovery import model
from magnum_capi.discovery import paste
from magnum_capi.discovery import registry
from magnum_capi import errors
from tests.unit.discovery import distributions

PASTE = '''
[pipeline:api]
pipeline = authtoken {}api_v1

[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory

[filter:driver_discovery]
paste.filter_factory = magnum_capi.discovery.middleware:factory
'''

ROW = {'Driver': 'a', 'Cluster types': [], 'State': 'usable', 'Beta': False,
       'Default': False, 'Origin': '', 'Error': None, 'Mode': 'strict'}


class HostTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        for name in list(os.environ):
            if name.startswith(('OS_DRIVERS__', 'OS_API__')):
                self.useFixture(fixtures.EnvironmentVariable(name))
        self.useFixture(fixtures.EnvironmentVariable(
            'HOME', str(self.base)))
        # Magnum's of this machine are not looked at.
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_config.cfg._get_config_dirs',
            lambda project=None: [str(self.base / 'etc')]))
        self.installed = self.useFixture(distributions.Distributions())
        self.installed.module('mct_good')
        self.installed.add('good', mct_good='mct_good:Driver')
        read = registry.installed
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.discovery.registry.installed',
            lambda: [point for point in read()
                     if point.value.startswith('mct_')]))

    def write(self, name, text):
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def inventory(self, *rows):
        return self.write('inventory.json', json.dumps(rows))

    def problem(self, kind, **arguments):
        return self.assertRaises(kind, host.look, **arguments)


class DriversTest(HostTestCase):

    def test_what_is_installed(self):
        found = host.look()

        self.assertEqual(['mct_good'], [o.name for o in found.catalog.offers])
        self.assertEqual(
            ('Drivers: 1 of this Python environment',
             'Configuration: none found, defaults of Magnum',
             'Pipeline: not checked, assumed to be without the filter'),
            found.looked_at)
        self.assertIsNone(found.position)

    def test_nothing_is_installed(self):
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.discovery.registry.installed', list))

        e = self.problem(errors.EnvironmentProblem)

        self.assertIn('No driver of Magnum is installed', e.what)
        self.assertIn('--inventory', e.hint)

    def test_an_inventory_is_instead_of_what_is_installed(self):
        path = self.inventory(ROW)

        found = host.look(recorded=path)

        self.assertEqual(['a'], [o.name for o in found.catalog.offers])
        self.assertEqual(
            (f'Drivers and configuration: inventory {path}',
             'Pipeline: not checked, assumed to be without the filter'),
            found.looked_at)

    def test_an_inventory_of_nothing(self):
        path = self.inventory()

        e = self.problem(errors.EnvironmentProblem, recorded=path)

        self.assertEqual(('There is no driver in the inventory', path),
                         (e.what, e.where))

    def test_an_inventory_has_its_own_configuration(self):
        conf = self.write('x.conf', '')
        for more in ({'files': [conf]}, {'folders': [str(self.base)]}):
            e = self.problem(errors.UsageError, recorded=self.inventory(ROW),
                             **more)
            self.assertIn('--config-file and --config-dir', e.hint)


class UnknownPipelineTest(HostTestCase):

    def test_of_a_paste_file_that_nobody_named(self):
        paste = self.write('paste.ini', '[app:main]\na = b\n')
        conf = self.write('m.conf', f'[api]\napi_paste_config = {paste}\n')

        found = host.look(files=[conf])

        self.assertIsNone(found.position)
        self.assertIn(f'Pipeline: {paste} cannot be understood',
                      found.looked_at[-1])
        # Who names it wants to know.
        e = self.problem(errors.UsageError, pipeline=paste)
        self.assertEqual(paste, e.where)


class ConfigurationTest(HostTestCase):

    def states(self, **arguments):
        return set(host.look(**arguments).catalog.states.values())

    def test_files_and_folders(self):
        off = '[drivers]\ndisabled_drivers = mct_good\n'
        file, other = self.write('a.conf', off), self.write('b.conf', '')
        self.write('c/d.conf', off)

        for arguments, state in (
                ({'files': [other]}, model.State.USABLE),
                ({'files': [other, file]}, model.State.DISABLED),
                ({'folders': [str(self.base / 'c')]}, model.State.DISABLED)):
            self.assertEqual({state}, self.states(**arguments))

    def test_those_that_magnum_finds(self):
        self.write('etc/magnum.conf',
                   '[drivers]\ndisabled_drivers = mct_good\n')

        self.assertEqual({model.State.DISABLED}, self.states())

    def test_none_of_them_when_others_are_given(self):
        self.write('etc/magnum.conf',
                   '[drivers]\ndisabled_drivers = mct_good\n')
        folder = self.base / 'empty'
        folder.mkdir()

        for arguments in ({'files': [self.write('b.conf', '')]},
                          {'folders': [str(folder)]}):
            self.assertEqual({model.State.USABLE}, self.states(**arguments))

    def test_they_are_named(self):
        file = self.write('b.conf', '')

        self.assertIn(f'Configuration: {file}, {self.base}',
                      host.look([file], [str(self.base)]).looked_at)

    def test_what_is_not_there(self):
        file = self.write('b.conf', '')
        for what, arguments in (
                ('file', {'files': [file, str(self.base / 'no')]}),
                ('file', {'files': [str(self.base)]}),
                ('folder', {'folders': [str(self.base / 'no')]}),
                ('folder', {'folders': [file]})):
            e = self.problem(errors.UsageError, **arguments)
            self.assertEqual(f'There is no such configuration {what}',
                             e.what)
            self.assertEqual([*arguments.values()][0][-1], e.where)


class PipelineTest(HostTestCase):

    def look(self, setting=None, **arguments):
        """With api_paste_config; returns the position and what is said."""
        conf = self.write('x/magnum.conf', '[api]\n' + (
            f'api_paste_config = {setting}\n' if setting else ''))
        found = host.look([conf], **arguments)
        return found.position, found.looked_at[-1]

    NOTHING = (None, 'Pipeline: not checked, assumed to be without the '
               'filter')

    def test_what_is_in_it(self):
        for line, position, said in (
                ('', paste.Position.ABSENT, 'without the filter'),
                ('driver_discovery ', paste.Position.IN_PLACE,
                 'with the filter'),
                ('early', paste.Position.BEFORE_AUTHTOKEN,
                 'with the filter before authtoken')):
            text = PASTE.format(line) if line != 'early' else PASTE.format(
                '').replace('= authtoken', '= driver_discovery authtoken')
            path = self.write('paste.ini', text)

            self.assertEqual((position, f'Pipeline: {path}, {said}'),
                             self.look(path))

    def test_one_that_is_given_is_looked_at_instead(self):
        path = self.write('mine.ini', PASTE.format('driver_discovery '))
        other = self.write('paste.ini', PASTE.format(''))

        self.assertEqual(paste.Position.IN_PLACE,
                         self.look(other, pipeline=path)[0])
        self.assertEqual(paste.Position.IN_PLACE, host.look(
            recorded=self.inventory(ROW), pipeline=path).position)

    def test_by_a_name_it_is_beside_the_configuration(self):
        self.write('x/mine.ini', PASTE.format('driver_discovery '))

        self.assertEqual(
            (paste.Position.IN_PLACE,
             f'Pipeline: {self.base}/x/mine.ini, with the filter'),
            self.look('mine.ini'))

    def test_without_a_setting_it_has_the_name_that_magnum_gives_it(self):
        self.write('x/api-paste.ini', PASTE.format('driver_discovery '))

        self.assertEqual(paste.Position.IN_PLACE, self.look()[0])

    def test_one_that_is_not_there(self):
        for setting in (None, 'no.ini', str(self.base / 'no.ini')):
            self.assertEqual(self.NOTHING, self.look(setting))

    def test_one_that_cannot_be_read(self):
        path = self.write('paste.ini', '')
        for content, said in ((b'\xff\xfe', 'it is not UTF-8'),
                              (b'[x]\n', 'pipeline:api')):
            pathlib.Path(path).write_bytes(content)

            e = self.problem(errors.UsageError, pipeline=path)

            self.assertEqual(path, e.where)
            self.assertIn(said, str(e))
        e = self.problem(errors.UsageError, pipeline=str(self.base))
        self.assertEqual('Is a directory', e.last_seen)
        self.assertIn('cannot be read', e.what)
