# SPDX-License-Identifier: Apache-2.0

"""This machine: drivers of a folder, configuration and paste files."""

import json
import os
import pathlib

import fixtures
from oslo_config import cfg
import testtools

from magnum_capi.discovery import catalog
from magnum_capi.discovery import host
from magnum_capi.discovery import model
from magnum_capi.discovery import paste
from magnum_capi import errors
from tests.unit.discovery import distributions

PASTE = '''
[pipeline:api]
pipeline = authtoken {}api_v1

[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory

[filter:driver_discovery]
paste.filter_factory = magnum_capi.discovery.filter:factory
'''

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
ALL = model.Catalog(
    (model.Offer('z', (UBUNTU,), origin='z 1'),
     model.Offer('on', (UBUNTU,), beta=True, origin='on 1'),
     model.Offer('off', (UBUNTU,), beta=True),
     model.Offer('bad', error='import: x', origin='bad 2'),
     model.Offer('gone', origin='gone 3')),
    model.Policy('z', frozenset({'gone', 'typo'}),
                 frozenset({'on', 'typo', 'typo2'})))


class HostTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.addCleanup(cfg.CONF.clear)
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        for name in list(os.environ):
            if name.startswith(('OS_DRIVERS__', 'OS_API__')):
                self.useFixture(fixtures.EnvironmentVariable(name))
        # Magnum's of this machine are not looked at.
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_config.cfg._get_config_dirs',
            lambda project=None: [str(self.base / 'etc')]))
        self.installed = self.useFixture(distributions.Distributions())
        self.installed.module('mct_good')
        self.installed.add('good', mct_good='mct_good:Driver')
        read = catalog.installed
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.discovery.catalog.installed',
            lambda: [point for point in read()
                     if point.value.startswith('mct_')]))

    def write(self, name, text):
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def inventory(self, made=ALL):
        return self.write('inventory.json', json.dumps(written(made)))

    def problem(self, kind, **arguments):
        return self.assertRaises(kind, host.inspect, **arguments)


class DriversTest(HostTestCase):

    def test_what_is_installed(self):
        found = host.inspect()
        self.assertEqual(['mct_good'], [o.name for o in found.catalog.offers])
        self.assertEqual(
            ('Drivers: 1 of this Python environment',
             'Configuration: none found, defaults of Magnum',
             'Pipeline: not checked, assumed to be without the filter'),
            found.read_from)
        self.assertIsNone(found.position)

    def test_nothing_is_installed(self):
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.discovery.catalog.installed', list))
        e = self.problem(errors.EnvironmentProblem)
        self.assertIn('No driver of Magnum is installed', e.what)
        self.assertIn('--inventory', e.hint)

    def test_the_configuration_counts(self):
        off = '[drivers]\ndisabled_drivers = mct_good\n'
        file = self.write('a.conf', off)
        for arguments, state in (
                ({'files': [file]}, model.State.DISABLED),
                ({'folders': [str(self.base)]}, model.State.DISABLED),
                ({'files': [self.write('b/b.conf', '')]},
                 model.State.USABLE)):
            found = host.inspect(**arguments)
            self.assertEqual({state}, {*found.catalog.states.values()})
            [[path]] = arguments.values()
            self.assertIn(f'Configuration: {path}', found.read_from)
        self.write('etc/magnum.conf', off)
        self.assertEqual({model.State.DISABLED},
                         {*host.inspect().catalog.states.values()})

    def test_an_inventory_is_instead_of_what_is_installed(self):
        path = self.inventory()
        found = host.inspect(inventory=path)
        self.assertEqual(ALL.offers, found.catalog.offers)
        self.assertEqual(
            (f'Drivers and configuration: inventory {path}',
             'Pipeline: not checked, assumed to be without the filter'),
            found.read_from)

    def test_an_inventory_of_nothing(self):
        path = self.inventory(model.Catalog(()))
        e = self.problem(errors.EnvironmentProblem, inventory=path)
        self.assertEqual(('There is no driver in the inventory', path),
                         (e.what, e.where))

    def test_an_inventory_has_its_own_configuration(self):
        for more in ({'files': ['x']}, {'folders': ['x']}):
            e = self.problem(errors.UsageError, inventory=self.inventory(),
                             **more)
            self.assertIn('--config-file and --config-dir', e.hint)


class PipelineTest(HostTestCase):

    def look(self, setting=None, **arguments):
        """With api_paste_config; returns the position and what is said."""
        conf = self.write('x/magnum.conf', '[api]\n' + (
            f'api_paste_config = {setting}\n' if setting else ''))
        found = host.inspect([conf], **arguments)
        return found.position, found.read_from[-1]

    def test_the_position(self):
        for line, position, said in (
                ('= authtoken', paste.Position.ABSENT, 'without the filter'),
                ('= authtoken driver_discovery', paste.Position.IN_PLACE,
                 'with the filter'),
                ('= driver_discovery authtoken',
                 paste.Position.BEFORE_AUTHTOKEN,
                 'with the filter before authtoken')):
            path = self.write('paste.ini', PASTE.format('').replace(
                '= authtoken', line))
            self.assertEqual((position, f'Pipeline: {path}, {said}'),
                             self.look(path))

    def test_which_file_it_is(self):
        good = PASTE.format('driver_discovery ')
        mine, other = self.write('mine.ini', good), self.write('o.ini', '')
        self.write('x/api-paste.ini', good)
        self.write('x/named.ini', good)
        for found in (self.look(mine), self.look(other, pipeline=mine),
                      self.look('named.ini'), self.look()):
            self.assertEqual(paste.Position.IN_PLACE, found[0])
        self.assertEqual(paste.Position.IN_PLACE, host.inspect(
            inventory=self.inventory(), pipeline=mine).position)

    def test_one_that_is_not_there(self):
        for setting in (None, 'no.ini', str(self.base / 'no.ini')):
            self.assertEqual(
                (None, 'Pipeline: not checked, assumed to be without the '
                 'filter'), self.look(setting))

    def test_one_that_cannot_be_understood(self):
        path = self.write('paste.ini', '')
        for content, said in ((b'\xff\xfe', 'it is not UTF-8'),
                              (b'[x]\n', 'pipeline:api')):
            pathlib.Path(path).write_bytes(content)
            # Only who names the file wants to know.
            position, told = self.look(path)
            self.assertIsNone(position)
            self.assertIn(f'Pipeline: {path} cannot be understood', told)
            e = self.problem(errors.UsageError, pipeline=path)
            self.assertEqual(path, e.where)
            self.assertIn(said, str(e))
        e = self.problem(errors.UsageError, pipeline=str(self.base))
        self.assertEqual('Is a directory', e.last_seen)


def written(made):
    """The rows as cliff's JSON formatter writes them."""
    return [dict(zip(host.COLUMNS, row, strict=True))
            for row in host.rows(made)]


class RowsTest(testtools.TestCase):

    def test_states_and_options(self):
        default, off, beta = ('default_driver', 'disabled_drivers',
                              'enabled_beta_drivers')
        self.assertEqual(
            [('z', 'usable', [default]), ('on', 'usable', [beta]),
             ('off', 'beta, not enabled', []), ('bad', 'broken', []),
             ('gone', 'disabled', [off]),
             ('typo', 'not installed', [off, beta]),
             ('typo2', 'not installed', [beta])],
            [(row['Driver'], row['State'], row['Options'])
             for row in written(ALL)])


class InventoryTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path,
                                 'inventory.json')

    def read(self, content):
        self.path.write_bytes(content if isinstance(content, bytes)
                              else json.dumps(content).encode())
        return host.read(self.path)

    def refused(self, text, content):
        e = self.assertRaises(errors.UsageError, self.read, content)
        self.assertIn(text, str(e))
        self.assertIn(str(self.path), str(e))
        self.assertIn('discovery list -f json', str(e))
        self.assertTrue(str(e).isprintable())

    def test_it_is_read_as_it_was_written(self):
        for made in (
                ALL, model.Catalog(()),
                model.Catalog((model.Offer('a', (UBUNTU,)),),
                              model.Policy('nobody')),
                model.Catalog(ALL.offers, model.Policy(
                    mode=model.Mode.HIBISCUS))):
            found = self.read(written(made))
            self.assertEqual((made.offers, made.policy),
                             (found.offers, found.policy))

    def test_what_is_no_inventory(self):
        for text, content in (
                ('UTF-8', b'\xff\xfe'),
                ('Expecting value', b'+----+\n| Driver |'),
                ('recursion', b'[' * 100_000),
                ("last seen: {} is not of type 'array'", {}),
                ("row 1: [] is not of type 'object'", [[]]),
                ("\\u202e'] is not", [['\u202e']])):
            self.refused(text, content)
        e = self.assertRaises(errors.UsageError, host.read,
                              self.path.with_name('x'))
        self.assertIn('No such file', str(e))

    def test_too_large(self):
        largest = 16 << 20
        self.assertEqual((), self.read(b'[]'.ljust(largest)).offers)
        self.refused('too large', b'[]'.ljust(largest + 1))

    def test_values(self):
        kind = UBUNTU._asdict()
        for column, value, text in (
                ('State', None, "row 2: State: None is not one of"),
                ('State', 'fine', "row 2: State: 'fine' is not one of"),
                ('Driver', '', 'row 2: Driver: '),
                ('Beta', 'yes', "row 2: Beta: 'yes' is not of type"),
                ('Cluster types', ['x'], 'row 2: Cluster types: 0: '),
                ('Cluster types', [{'os': 'x'}], 'required property'),
                ('Cluster types', [kind | {'coe': None}], 'coe: None'),
                ('Cluster types', [kind | {'x': 'y'}], 'Additional'),
                ('Options', ['x'], 'row 2: Options: 0: '),
                ('Origin', None, 'row 2: Origin: '),
                ('Error', 3, 'row 2: Error: '),
                ('Mode', 'lenient', 'row 2: Mode: '),
                ('Mode', 'hibiscus', 'more than one default or mode'),
                ('Options', ['default_driver'], 'more than one default'),
                ('Driver', 'z', 'Two offers have one name')):
            rows = written(ALL)
            rows[1][column] = value
            self.refused(text, rows)
        del rows[1]['State']
        self.refused("row 2: 'State' is a required property", rows)
