# SPDX-License-Identifier: Apache-2.0

"""The tests of driver discovery, and what their proof must not let pass."""

import csv
import pathlib
import re

import testtools

from magnum_capi_tempest import promises
from magnum_capi_tempest.report import model
from tests.proofs.discovery import compare
from tests.proofs.discovery import suite

PLAIN = compare.expected('T.plain', ['smoke'])
UNCURED = compare.expected('T.uncured', ['magnum-d7', 'uncured'])

SOURCE = pathlib.Path(__file__).parents[3] / 'doc' / 'source'
#: The attributes that the facts of the specification number, and ours. d10 is
#: that options are read once, as everywhere in OpenStack.
_KNOWN = {*(f'magnum-d{n}' for n in (*range(1, 10), 11)),
          'magnum-patch', 'magnum-rehoming', 'magnum-values'}


def ended(name, status=model.PASSED, why=''):
    return model.Test(name, f'x.{name}', status, details=(
        model.Detail('reason', why),) if why else ())


PASSES, FAILS = ended('T.plain'), ended('T.uncured', model.FAILED)


def leaks(*names):
    """The fixture of a class, failed for leftovers of tests."""
    return ended('tearDownClass (T)', model.FAILED, '\n'.join((
        'x.LeakFound: 2 left behind; last seen:', *(
            f'cluster c (1), left by: a.{name}[id-1,magnum-d7]'
            for name in names))))


class CompareTest(testtools.TestCase):

    def test_every_difference_is_reported(self):
        for difference, tests in (
                (None, [PASSES, FAILS]),
                ('T.plain must pass and failed: why',
                 [ended('T.plain', model.FAILED, 'why'), FAILS]),
                ('T.uncured must fail and passed',
                 [PASSES, ended('T.uncured')]),
                ('T.uncured must fail and was skipped: not set',
                 [PASSES, ended('T.uncured', model.SKIPPED, 'not set')]),
                ('T.uncured must fail and is unfinished',
                 [PASSES, ended('T.uncured', model.UNFINISHED)]),
                ('T.plain must pass and did not run', [FAILS]),
                ('T.plain ended twice', [PASSES, PASSES, FAILS]),
                # One of no deviation may be skipped.
                (None, [ended('T.plain', model.SKIPPED, 'no flag'), FAILS]),
                ('setUpClass (T) is no test that was wanted, and failed: x',
                 [PASSES, FAILS, ended('setUpClass (T)', model.FAILED, 'x')]),
                (None, [PASSES, FAILS, leaks('T.uncured')])):
            self.assertEqual(
                [difference] if difference else [], compare.differences(
                    model.Run('', tests=tuple(tests)), [PLAIN, UNCURED],
                    lambda test: test.deviations))


def rows():
    """Yield (deviation, passes with the filter, with the patches)."""
    with (SOURCE / 'discovery-deviations.csv').open() as file:
        for deviation, _, *passes in list(csv.reader(file))[1:]:
            yield (f'magnum-{deviation}',
                   *({'passes': True, 'fails': False}[cell]
                     for cell in passes))


class SuiteTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tests = suite.load()
        cls.deviant = [t for t in cls.tests if t.deviations]

    def test_the_table_has_every_deviation(self):
        self.assertEqual(
            {(deviation, not test.fails(True), True)
             for test in self.deviant for deviation in test.deviations},
            set(rows()))

    def test_the_page_names_every_finding(self):
        text = (SOURCE / 'discovery.rst').read_text()
        _, _, section = text.partition('What a filter cannot do\n---')

        self.assertEqual(
            {code for code, _ in compare.FINDINGS.values()},
            set(re.findall(r'\(``([a-z-]+)``\)', section)))

    def test_every_deviation_that_can_be_tested_is(self):
        self.assertEqual(
            _KNOWN, set().union(*(t.deviations for t in self.deviant)))

    def test_what_cannot_be_cured_is_a_deviation_with_a_finding(self):
        uncured = [t for t in self.tests if t.uncured]

        self.assertTrue(all(t.deviations for t in uncured))
        self.assertEqual(set(compare.FINDINGS), {t.name for t in uncured})

    def test_no_magnum_makes_the_promises_by_itself(self):
        found = [one for one in promises.of_magnum().values()
                 if one.id.startswith('discovery.')]

        self.assertNotEqual([], found)
        for one in found:
            self.assertNotEqual('', one.otherwise, one.id)
