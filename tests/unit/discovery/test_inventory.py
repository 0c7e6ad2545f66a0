# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi.discovery import inventory
from magnum_capi.discovery import model
from magnum_capi import errors

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
FULL = model.Catalog(
    (model.Offer('z', (UBUNTU,), origin='z 1'),
     model.Offer('on', (UBUNTU,), beta=True, origin='on 1'),
     model.Offer('off', (UBUNTU,), beta=True),
     model.Offer('bad', error='import: x', origin='bad 2'),
     model.Offer('gone', origin='gone 3')),
    model.Policy('z', frozenset({'gone', 'typo'}),
                 frozenset({'on', 'typo', 'typo2'})))


def written(catalog):
    """The rows as cliff's JSON formatter writes them."""
    return [dict(zip(inventory.COLUMNS, row, strict=True))
            for row in inventory.rows(catalog)]


class RowsTest(testtools.TestCase):

    def test_states(self):
        self.assertEqual(
            {'z': 'usable', 'on': 'usable', 'off': 'beta, not enabled',
             'bad': 'broken', 'gone': 'disabled', 'typo': 'not installed',
             'typo2': 'not installed'},
            {row['Driver']: row['State'] for row in written(FULL)})

    def test_default(self):
        self.assertEqual(['z'], [row['Driver'] for row in written(FULL)
                                 if row['Default']])

    def test_what_names_a_driver_that_is_not_there(self):
        self.assertEqual([True, True], [
            row['Beta'] for row in written(FULL)[5:]])
        self.assertEqual('named by disabled_drivers, enabled_beta_drivers',
                         written(FULL)[5]['Error'])

    def test_the_default_among_those_that_are_not_there(self):
        rows = inventory.rows(model.Catalog((), model.Policy(
            'm', frozenset('az'))))
        self.assertEqual([('a', False), ('m', True), ('z', False)],
                         [(row[0], row[4]) for row in rows])


class RoundTripTest(testtools.TestCase):

    def check(self, catalog):
        found = inventory.parse(json.loads(json.dumps(written(catalog))))
        self.assertEqual((catalog.offers, catalog.policy),
                         (found.offers, found.policy))

    def test_everything(self):
        self.check(FULL)

    def test_default_that_is_not_installed(self):
        self.check(model.Catalog((model.Offer('a', (UBUNTU,)),),
                                 model.Policy('nobody')))

    def test_nothing(self):
        self.check(model.Catalog(()))

    def test_mode(self):
        self.check(model.Catalog(FULL.offers, model.Policy(
            mode=model.Mode.HIBISCUS)))


class BadTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path,
                                 'inventory.json')

    def refused(self, text, content):
        if isinstance(content, bytes):
            self.path.write_bytes(content)
        else:
            self.path.write_text(json.dumps(content))
        e = self.assertRaises(errors.UsageError, inventory.read, self.path)
        self.assertIn(text, str(e))
        self.assertIn(str(self.path), str(e))
        self.assertIn('discovery list -f json', str(e))
        self.assertNotIn('\n', str(e))

    def changed(self, number=0, **values):
        rows = written(FULL)
        rows[number].update(
            {name.replace('_', ' '): v for name, v in values.items()})
        return rows

    def test_no_file(self):
        e = self.assertRaises(errors.UsageError, inventory.read, self.path)
        self.assertIn('No such file', str(e))

    def test_no_text(self):
        self.refused('UTF-8', b'\xff\xfe')

    def test_no_json(self):
        self.refused('Expecting value', b'+----+\n| Driver |')

    def test_too_deep(self):
        self.refused('recursion', b'[' * 100_000)

    def test_too_large(self):
        largest = 16 << 20
        self.path.write_bytes(b'[]'.ljust(largest))
        self.assertEqual((), inventory.read(self.path).offers)

        self.refused('too large', b'[]'.ljust(largest + 1))

    def test_no_list(self):
        self.refused('it is not a list', {})

    def test_no_object(self):
        self.refused('row 1: it is not an object', [[]])

    def test_column_missing(self):
        rows = written(FULL)
        del rows[1]['State']
        self.refused("row 2: 'State' is missing", rows)

    def test_other_type(self):
        self.refused("row 1: 'Beta' is not a bool", self.changed(Beta='yes'))

    def test_no_name(self):
        self.refused("'Driver' is empty", self.changed(Driver=''))

    def test_state(self):
        self.refused("the state 'fine'", self.changed(State='fine'))

    def test_types(self):
        for bad in ('x', {}, {'server_type': 'vm', 'os': 'a', 'coe': None}):
            self.refused("'Cluster types' are not", self.changed(
                Cluster_types=[bad]))

    def test_a_type_with_more_than_a_type_has(self):
        self.refused('Cluster types', self.changed(Cluster_types=[
            {'server_type': 'vm', 'os': 'x', 'coe': 'y', 'more': 'z'}]))

    def test_error_without_reason(self):
        self.refused('do not fit', self.changed(Error='but usable'))
        self.refused('do not fit', self.changed(3, Error=None))
        self.refused('neither text nor null', self.changed(Error=3))

    def test_option_of_nobody(self):
        self.refused('which option', self.changed(5, Error='named by x'))

    def test_twice(self):
        self.refused("a second driver 'z'", self.changed(1, Driver='z'))

    def test_mode(self):
        self.refused('mode', self.changed(Mode='lenient'))

    def test_two_modes(self):
        self.refused('more than one mode', self.changed(Mode='hibiscus'))

    def test_two_defaults(self):
        self.refused('more than one', self.changed(1, Default=True))

    def test_unreadable(self):
        with mock.patch('builtins.open',
                        side_effect=PermissionError(13, 'denied')):
            e = self.assertRaises(errors.UsageError, inventory.read, 'f')
        self.assertIn('denied', str(e))
