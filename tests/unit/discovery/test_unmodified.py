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


class TypeMapTest(testtools.TestCase):

    def test_last_wins(self):
        self.assertEqual({UBUNTU: 'b_drv', FLATCAR: 'b_drv'},
                         unmodified.type_map(catalog(A, B)))
        self.assertEqual({UBUNTU: 'a_drv', FLATCAR: 'b_drv'},
                         unmodified.type_map(catalog(B, A)))

    def test_beta_wins_enabled_or_not(self):
        self.assertEqual({UBUNTU: 'c_drv'},
                         unmodified.type_map(catalog(A, BETA)))

    def test_disabled_do_not_take_part(self):
        self.assertEqual({UBUNTU: 'a_drv'}, unmodified.type_map(
            catalog(A, BETA, disabled_drivers=['c_drv'])))


class DefaultDriverTest(testtools.TestCase):

    def test_first_of_the_alphabet(self):
        self.assertEqual('a_drv',
                         unmodified.default_driver(catalog(B, A)).driver)

    def test_a_disabled_one_is_passed_over(self):
        self.assertEqual('b_drv', unmodified.default_driver(
            catalog(A, B, disabled_drivers=['a_drv'])).driver)

    def test_beta_is_not(self):
        self.assertEqual('c_drv', unmodified.default_driver(
            catalog(BETA, model.Offer('d_drv'))).driver)

    def test_configured(self):
        self.assertEqual('b_drv', unmodified.default_driver(
            catalog(A, B, default_driver='b_drv')).driver)

    def test_configured_but_not_there(self):
        for more in ({}, {'disabled_drivers': ['x']}):
            answer = unmodified.default_driver(
                catalog(A, default_driver='x', **more))
            self.assertFalse(answer.accepted)

    def test_none(self):
        answer = unmodified.default_driver(
            catalog(A, disabled_drivers=['a_drv']))
        self.assertEqual((True, None), (answer.accepted, answer.driver))


class GetDriverTest(testtools.TestCase):

    def test_a_name_is_all_that_counts(self):
        found = catalog(A, B, BETA, disabled_drivers=['a_drv'])
        for name in ('a_drv', 'b_drv', 'c_drv'):
            self.assertEqual(
                name, unmodified.get_driver(found, FLATCAR, name).driver)

    def test_unknown_name(self):
        answer = unmodified.get_driver(catalog(A), UBUNTU, 'x')
        self.assertFalse(answer.accepted)

    def test_what_cannot_be_loaded(self):
        for offer in (BROKEN, TWICE):
            answer = unmodified.get_driver(catalog(A, offer), UBUNTU,
                                           offer.name)
            self.assertFalse(answer.accepted)

    def test_no_name(self):
        self.assertEqual(
            'b_drv', unmodified.get_driver(catalog(A, B), UBUNTU).driver)

    def test_type_of_nobody(self):
        self.assertIn('(vm, flatcar, kubernetes) is not supported',
                      unmodified.get_driver(catalog(A), FLATCAR).text)


class PoisonTest(testtools.TestCase):

    def test_enabled_and_broken(self):
        self.assertEqual(('broken',),
                         unmodified.poisoned_by(catalog(A, BROKEN)))

    def test_whatever_is_wrong_with_them(self):
        for error in ('construct: x', 'import: x', 'provides: a',
                      'provides: zzz', 'zzz'):
            self.assertEqual(('x',), unmodified.poisoned_by(
                catalog(A, model.Offer('x', error=error))))

    def test_disabled_is_the_cure(self):
        found = catalog(A, BROKEN, disabled_drivers=['broken'])
        self.assertEqual((), unmodified.poisoned_by(found))
        self.assertEqual(
            found.policy,
            unmodified.without_broken(catalog(A, BROKEN)).policy)

    def test_what_magnum_can_live_with(self):
        nothing = model.Offer('n', error='provides: no cluster types')
        self.assertEqual((), unmodified.poisoned_by(catalog(nothing, TWICE)))

    def test_nothing_broken(self):
        found = catalog(A)
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
