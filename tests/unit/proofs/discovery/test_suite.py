# SPDX-License-Identifier: Apache-2.0

"""The tests of driver discovery, their attributes, and their table."""

import csv
import pathlib

import testtools

from magnum_capi_tempest import promises
from tests.proofs.discovery import compare
from tests.proofs.discovery import suite

SOURCE = pathlib.Path(__file__).parents[4] / 'doc' / 'source'
#: The attributes that the facts of the specification number, and ours. d10 is
#: that options are read once, as everywhere in OpenStack.
_KNOWN = {*(f'magnum-d{n}' for n in (*range(1, 10), 11)),
          'magnum-patch', 'magnum-rehoming', 'magnum-values'}


def table(name):
    """The rows of a table of the documentation, without its header."""
    with (SOURCE / f'{name}.csv').open() as file:
        return list(csv.reader(file))[1:]


def ways_out():
    """Yield (test, code of the finding)."""
    for test, code, _ in table('discovery-remedies'):
        yield test, code.strip('`')


def rows():
    """Yield (deviation, tests, passes with the filter, with the patches)."""
    for deviation, _, tests, *passes in table('discovery-deviations'):
        yield (f'magnum-{deviation}', tests.split(', '),
               *({'passes': True, 'fails': False}[cell] for cell in passes))


class SuiteTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tests = suite.load()
        cls.deviant = [t for t in cls.tests if t.deviations]

    def test_the_table_has_every_test_of_a_deviation(self):
        told = {(deviation, test, *passes)
                for deviation, tests, *passes in rows() for test in tests}

        self.assertEqual(
            {(deviation, test.name.split('.')[1], not test.fails(True), True)
             for test in self.deviant for deviation in test.deviations},
            told)

    def test_every_deviation_that_can_be_tested_is(self):
        self.assertEqual(
            _KNOWN, set().union(*(t.deviations for t in self.deviant)))

    def test_names_are_told_apart(self):
        names = [test.name for test in self.tests]

        self.assertEqual(len(names), len(set(names)))

    def test_what_cannot_be_cured_is_a_deviation_with_a_finding(self):
        uncured = [t for t in self.tests if t.uncured]

        self.assertTrue(all(t.deviations for t in uncured))
        self.assertEqual(set(compare.FINDINGS), {t.name for t in uncured})

    def test_the_table_has_the_findings(self):
        self.assertEqual(
            {(name.split('.')[1], code)
             for name, (code, _) in compare.FINDINGS.items()},
            set(ways_out()))

    def test_what_is_no_matter_of_discovery_is_left_out(self):
        names = {test.name.split('.')[0] for test in self.tests}

        self.assertEqual(
            set(), names & {'ConformanceTest', 'ConformanceLifeTest'})


class PromisesTest(testtools.TestCase):

    def test_no_magnum_promises_them_by_itself(self):
        found = [one for one in promises.of_magnum().values()
                 if one.id.startswith('discovery.')]

        self.assertEqual(14, len(found))
        for one in found:
            self.assertNotEqual('', one.otherwise, one.id)
