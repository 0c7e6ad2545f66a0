# SPDX-License-Identifier: Apache-2.0

from importlib import metadata

import fixtures
import testtools

from magnum_capi.discovery import catalog as catalog_
from magnum_capi.discovery import model
from magnum_capi.discovery import unmodified
from tests.unit.discovery import distributions

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
FLATCAR = model.ClusterType('vm', 'flatcar', 'kubernetes')
A = model.Offer('a_drv', (UBUNTU,))
B = model.Offer('b_drv', (UBUNTU, FLATCAR))
BETA = model.Offer('c_drv', (UBUNTU,), beta=True)
BROKEN = model.Offer('broken', error='import: ModuleNotFoundError: x')
TWICE = model.Offer('twice', error='registered more than once, by x and y')


def catalog(*offers, **policy):
    for name in ('disabled_drivers', 'enabled_beta_drivers'):
        policy[name] = frozenset(policy.get(name, ()))
    return model.Catalog(offers, model.Policy(**policy))


class AnswersTest(testtools.TestCase):
    """tests/functional/discovery/test_oracle.py asks the real Magnum."""

    def test_the_last_of_a_type_wins_beta_or_not(self):
        for found, winners in (
                (catalog(A, B), {UBUNTU: 'b_drv', FLATCAR: 'b_drv'}),
                (catalog(B, A), {UBUNTU: 'a_drv', FLATCAR: 'b_drv'}),
                (catalog(A, BETA), {UBUNTU: 'c_drv'}),
                (catalog(A, BETA, disabled_drivers=['c_drv']),
                 {UBUNTU: 'a_drv'})):
            self.assertEqual(winners, unmodified.type_map(found))

    def test_the_default(self):
        d = model.Offer('d_drv')
        for accepted, driver, found in (
                (True, 'a_drv', catalog(B, A)),
                (True, 'b_drv', catalog(A, B, disabled_drivers=['a_drv'])),
                (True, 'c_drv', catalog(BETA, d)),
                (True, 'b_drv', catalog(A, B, default_driver='b_drv')),
                (True, None, catalog(A, disabled_drivers=['a_drv'])),
                (False, None, catalog(A, default_driver='x')),
                (False, None, catalog(
                    A, default_driver='x', disabled_drivers=['x']))):
            answer = unmodified.default_driver(found)
            self.assertEqual((accepted, driver),
                             (answer.accepted, answer.driver))

    def test_the_driver_of_a_template(self):
        found = catalog(A, B, BETA, disabled_drivers=['a_drv'])
        for driver, *asked in (
                # A name is all that counts.
                ('a_drv', found, FLATCAR, 'a_drv'),
                ('b_drv', found, FLATCAR, 'b_drv'),
                ('c_drv', found, FLATCAR, 'c_drv'),
                ('b_drv', catalog(A, B), UBUNTU),
                (None, catalog(A, BETA), UBUNTU),
                ('c_drv', catalog(
                    A, BETA, enabled_beta_drivers=['c_drv']), UBUNTU),
                (None, catalog(A), UBUNTU, 'x'),
                (None, catalog(A), FLATCAR),
                (None, catalog(A, BROKEN), UBUNTU, 'broken'),
                (None, catalog(A, TWICE), UBUNTU, 'twice')):
            answer = unmodified.get_driver(*asked)
            self.assertEqual((driver is not None, driver),
                             (answer.accepted, answer.driver))
        self.assertIn('(vm, flatcar, kubernetes) is not supported',
                      unmodified.get_driver(catalog(A), FLATCAR).text)


class PoisonTest(testtools.TestCase):

    def test_who_breaks_magnum(self):
        for error, breaks in (
                ('construct: x', True), ('import: x', True),
                ('provides: a', True), ('provides: zzz', True), ('zzz', True),
                # What Magnum can live with.
                ('provides: no cluster types', False),
                (TWICE.error, False)):
            found = catalog(A, model.Offer('x', error=error))
            self.assertEqual(('x',) * breaks, unmodified.poisoned_by(found))

    def test_disabled_is_the_remedy(self):
        found = catalog(A, BROKEN, disabled_drivers=['broken'])
        self.assertEqual((), unmodified.poisoned_by(found))
        self.assertEqual(
            found.policy,
            unmodified.without_broken(catalog(A, BROKEN)).policy)
        self.assertIs(found, unmodified.without_broken(found))


class WordsTest(testtools.TestCase):
    """The two errors of drivers that are known by their words."""

    def test_they_are_those_words(self):
        self.useFixture(fixtures.FakeLogger())
        installed = self.useFixture(distributions.Distributions())
        installed.module('m_of_23', 'class N:\n    provides, beta = [], False')
        installed.add('one', nothing='m_of_23:N', double='m_of_23:N')
        installed.add('two', double='m_of_24:N')

        found = catalog_.load(model.Policy(), lambda: [
            point for each in metadata.distributions(
                path=[str(installed.folder)])
            for point in each.entry_points])
        self.assertTrue(unmodified.twice(found.by_name['double']))
        self.assertFalse(unmodified.twice(found.by_name['nothing']))
        self.assertEqual((), unmodified.poisoned_by(found))
        self.assertIsNotNone(found.by_name['nothing'].error)
