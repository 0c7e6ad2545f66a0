# SPDX-License-Identifier: Apache-2.0

from importlib import metadata

import fixtures
import testtools

from magnum_capi.discovery import model
from magnum_capi.discovery import registry
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
            self.assertEqual((False, 400), (answer.accepted, answer.status))

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
        self.assertEqual((False, 400), (answer.accepted, answer.status))

    def test_what_cannot_be_loaded_is_an_error_of_the_server(self):
        for offer in (BROKEN, TWICE):
            answer = unmodified.get_driver(catalog(A, offer), UBUNTU,
                                           offer.name)
            self.assertEqual((False, 500), (answer.accepted, answer.status))

    def test_no_name(self):
        self.assertEqual(
            'b_drv', unmodified.get_driver(catalog(A, B), UBUNTU).driver)

    def test_type_of_nobody(self):
        self.assertIn('(vm, flatcar, kubernetes) is not supported',
                      unmodified.get_driver(catalog(A), FLATCAR).text)


class CreateClusterTest(testtools.TestCase):

    def test_the_winner_is_asked(self):
        self.assertEqual(
            'b_drv', unmodified.create_cluster(catalog(A, B), UBUNTU).driver)

    def test_a_beta_winner_blocks(self):
        answer = unmodified.create_cluster(catalog(A, BETA), UBUNTU)
        self.assertFalse(answer.accepted)
        self.assertIn('beta driver c_drv', answer.text)

    def test_an_enabled_one_does_not(self):
        self.assertEqual('c_drv', unmodified.create_cluster(
            catalog(A, BETA, enabled_beta_drivers=['c_drv']), UBUNTU).driver)


class CreateTemplateTest(testtools.TestCase):
    """What D2 to D6, D9 and D11 of the deviations look like."""

    def check(self, driver, distro, properties, /, **template):
        answer = unmodified.create_template(
            catalog(A, B, BETA, disabled_drivers=['b_drv']), properties,
            **template)
        self.assertEqual((None, driver, distro),
                         (answer.text, answer.driver, answer.distro))

    def refused(self, text, properties, **template):
        answer = unmodified.create_template(catalog(A, B), properties,
                                            **template)
        self.assertEqual((None, 400), (answer.driver, answer.status))
        self.assertIn(text, answer.text)

    def test_default_whatever_it_provides(self):
        self.check('a_drv', 'flatcar', {'os_distro': 'flatcar'})

    def test_image(self):
        self.check('c_drv', 'ubuntu', {'os_distro': 'ubuntu',
                                       'magnum_driver': 'c_drv'})

    def test_disabled(self):
        self.check('b_drv', 'ubuntu', {'os_distro': 'ubuntu',
                                       'magnum_driver': 'b_drv'})

    def test_template_before_image(self):
        self.check('a_drv', 'ubuntu', {'os_distro': 'ubuntu',
                                       'magnum_driver': 'c_drv'},
                   driver='a_drv')

    def test_empty_is_absent(self):
        self.check('a_drv', 'ubuntu', {'os_distro': 'ubuntu',
                                       'magnum_driver': ''})

    def test_blanks_are_not_stripped(self):
        self.refused("(' a_drv ') not supported", {
            'os_distro': 'ubuntu', 'magnum_driver': ' a_drv '})

    def test_magnum_distro_is_not_read(self):
        self.check('a_drv', 'fedora', {'os_distro': 'fedora',
                                       'magnum_distro': 'ubuntu'})
        self.refused('os_distro', {'magnum_distro': 'ubuntu'})

    def test_cluster_distro_is_overwritten(self):
        self.check('a_drv', 'ubuntu', {'os_distro': 'ubuntu'},
                   driver='a_drv', distro='fedora')

    def test_other_coe(self):
        self.refused('COE', {'os_distro': 'ubuntu'}, coe='swarm')

    def test_other_server_type(self):
        self.refused('Server type', {'os_distro': 'ubuntu'},
                     server_type='lxc')

    def test_default_that_is_not_there(self):
        answer = unmodified.create_template(
            catalog(A, default_driver='x'), {'os_distro': 'ubuntu'})
        self.assertIn("('x') not supported", answer.text)

    def test_no_drivers(self):
        answer = unmodified.create_template(catalog(), {'os_distro': 'ubuntu'})
        self.assertIn('not supported', answer.text)


class EarlierTemplateTest(testtools.TestCase):
    """Until 22.0 a template has the driver that its image names, or none."""

    def create(self, *offers, os_distro='ubuntu', magnum_driver=None,
               **template):
        properties = {'os_distro': os_distro, 'magnum_driver': magnum_driver}
        return unmodified.create_template(
            model.Catalog(offers, model.Policy(), 22), properties, **template)

    def test_none_and_the_last_makes_its_clusters(self):
        for offers, maker in (((A, B), 'b_drv'), ((B, A), 'a_drv')):
            for driver in (None, 'a_drv', 'unknown'):
                answer = self.create(*offers, driver=driver)
                self.assertEqual(
                    (None, None, 'ubuntu', maker),
                    (answer.text, answer.driver, answer.distro, answer.maker))

    def test_that_of_the_image(self):
        for driver in (None, 'b_drv'):
            answer = self.create(A, B, magnum_driver='a_drv', driver=driver)
            self.assertEqual(('a_drv', 'a_drv'),
                             (answer.driver, answer.maker))

    def test_the_type_has_to_be_provided_if_the_image_names_none(self):
        self.assertFalse(self.create(A, os_distro='flatcar').accepted)
        self.assertFalse(self.create(A, BETA).accepted)
        self.assertTrue(self.create(
            A, os_distro='flatcar', magnum_driver='a_drv').accepted)

    def test_a_request_with_a_distro_is_judged_by_its_own_driver(self):
        answer = self.create(A, driver='unknown', distro='ubuntu')
        self.assertFalse(answer.accepted)
        answer = self.create(A, B, driver='a_drv', distro='ubuntu')
        self.assertEqual((None, 'b_drv'), (answer.driver, answer.maker))

    def test_no_os_distro(self):
        for driver in (None, 'a_drv'):
            self.assertFalse(self.create(
                A, os_distro=None, magnum_driver=driver).accepted)

    def test_clusters_of_what_is_stored_may_be_refused(self):
        answer = self.create(A, os_distro='flatcar', driver='a_drv',
                             distro='flatcar')
        self.assertEqual((True, None), (answer.accepted, answer.maker))

    def test_the_cure_of_a_broken_driver_is_of_the_same_magnum(self):
        self.assertEqual(22, unmodified.without_broken(model.Catalog(
            (A, BROKEN), model.Policy(), 22)).magnum)


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


class RegistryTest(testtools.TestCase):
    """The two errors of the registry that are known by their words."""

    def test_they_are_those_words(self):
        self.useFixture(fixtures.FakeLogger())
        installed = self.useFixture(distributions.Distributions())
        installed.module('m_of_23', 'class N:\n    provides, beta = [], False')
        installed.add('one', nothing='m_of_23:N', double='m_of_23:N')
        installed.add('two', double='m_of_24:N')

        found = registry.catalog(model.Policy(), lambda: [
            point for each in metadata.distributions(
                path=[str(installed.folder)])
            for point in each.entry_points])
        self.assertTrue(unmodified.twice(found.by_name['double']))
        self.assertFalse(unmodified.twice(found.by_name['nothing']))
        self.assertEqual((), unmodified.poisoned_by(found))
        self.assertIsNotNone(found.by_name['nothing'].error)
