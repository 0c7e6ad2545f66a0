# SPDX-License-Identifier: Apache-2.0

import dataclasses
import operator

import testtools

from magnum_capi.discovery import model

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
ROCKY = model.ClusterType('vm', 'rocky', 'kubernetes')


class ShownTest(testtools.TestCase):

    def test_what_is_plain_stays_and_is_quoted(self):
        self.assertEqual("'k8s_capi-v1.2:ubuntu/x+y'",
                         model.shown('k8s_capi-v1.2:ubuntu/x+y'))

    def test_nothing_can_be_seen(self):
        self.assertEqual("''", model.shown(''))

    def test_control_characters_are_escaped(self):
        self.assertEqual(r"'a\x1b[31m\r\n\x00'",
                         model.shown('a\x1b[31m\r\n\0'))

    def test_other_scripts_and_lone_surrogates_are_escaped(self):
        self.assertEqual(r"'\xe9\u202e\U0001f600\ud800'",
                         model.shown('\xe9\u202e\U0001f600\ud800'))

    def test_the_quotation_cannot_be_left(self):
        self.assertEqual(r"'a\x27 is fine\\'", model.shown("a' is fine\\"))

    def test_64_characters_are_shown_and_no_more(self):
        self.assertEqual(f"'{'x' * 64}'", model.shown('x' * 64))
        self.assertEqual(f"'{'x' * 64}...'", model.shown('x' * 65))

    def test_escapes_count_and_are_not_cut_apart(self):
        # 64 is no multiple of the 10 characters of one escape.
        self.assertEqual("'" + r'\U0001f600' * 6 + "...'",
                         model.shown('\U0001f600' * 7))

    def test_other_objects_are_their_text(self):
        self.assertEqual("'None'", model.shown(None))


class PlainTest(testtools.TestCase):

    def test_words_stay(self):
        self.assertEqual("No module named 'x'",
                         model.plain("No module named 'x'"))

    def test_lines_become_one(self):
        self.assertEqual('a b c', model.plain(' a\n  b\u2028c\r\n'))

    def test_control_characters_are_escaped(self):
        self.assertEqual(r'\x1b[2J\x00', model.plain('\x1b[2J\0'))

    def test_200_characters_are_shown_and_no_more(self):
        self.assertEqual('x' * 200, model.plain('x' * 200))
        self.assertEqual('x' * 200 + '...', model.plain('x' * 201))


class ListedTest(testtools.TestCase):

    def test_names_and_types(self):
        self.assertEqual(r'a, (vm, ubuntu, kubernetes), \n',
                         model.listed(['a', UBUNTU, '\n']))

    def test_nothing(self):
        self.assertEqual('', model.listed(()))

    def test_many_are_counted(self):
        names = [f'd{number}' for number in range(60)]

        self.assertEqual(', '.join(names[:24]), model.listed(names[:24]))
        self.assertEqual(', '.join(names[:24]) + ' and 36 more',
                         model.listed(names))


class ClusterTypeTest(testtools.TestCase):

    def test_is_looked_up_like_the_tuple_of_magnum(self):
        self.assertEqual(1, {('vm', 'ubuntu', 'kubernetes'): 1}[UBUNTU])

    def test_as_text(self):
        self.assertEqual(r'(vm, a b\n, kubernetes)', str(
            model.ClusterType('vm', 'a b\n', 'kubernetes')))


class CatalogTest(testtools.TestCase):

    def test_state_of_each_driver(self):
        catalog = model.Catalog([
            model.Offer('usable', (UBUNTU,)),
            model.Offer('disabled', (UBUNTU,)),
            model.Offer('broken', error='import: ImportError'),
            model.Offer('beta', (UBUNTU,), beta=True),
            model.Offer('enabled_beta', (UBUNTU,), beta=True),
            model.Offer('broken_beta', beta=True, error='x'),
            model.Offer('disabled_all', beta=True, error='x'),
        ], model.Policy(
            disabled_drivers=frozenset({'disabled', 'disabled_all'}),
            enabled_beta_drivers=frozenset({'enabled_beta'})))

        self.assertEqual({
            'usable': model.State.USABLE,
            'disabled': model.State.DISABLED,
            'broken': model.State.BROKEN,
            'beta': model.State.BETA,
            'enabled_beta': model.State.USABLE,
            'broken_beta': model.State.BROKEN,
            'disabled_all': model.State.DISABLED,
        }, dict(catalog.states))

    def test_providers_are_usable_and_sorted_and_once(self):
        catalog = model.Catalog([
            model.Offer('z', (UBUNTU, UBUNTU)),
            model.Offer('beta', (UBUNTU,), beta=True),
            model.Offer('a', (ROCKY, UBUNTU)),
            model.Offer('off', (UBUNTU,)),
        ], model.Policy(disabled_drivers=frozenset({'off'})))

        self.assertEqual(('a', 'z'), catalog.providers(UBUNTU))
        self.assertEqual(('a',), catalog.providers(ROCKY))
        self.assertEqual(('beta',), catalog.beta_providers(UBUNTU))
        self.assertEqual((), catalog.beta_providers(ROCKY))

    def test_nobody_provides_what_is_written_otherwise(self):
        catalog = model.Catalog([model.Offer('a', (UBUNTU,))])

        self.assertEqual((), catalog.providers(
            model.ClusterType('vm', 'Ubuntu', 'kubernetes')))

    def test_what_is_on_offer_is_usable_and_sorted(self):
        catalog = model.Catalog([
            model.Offer('a', (UBUNTU,)), model.Offer('b', (ROCKY,)),
            model.Offer('c', (model.ClusterType('bm', 'x', 'y'),),
                        beta=True)])

        self.assertEqual('(vm, rocky, kubernetes), (vm, ubuntu, kubernetes)',
                         catalog.offered)

    def test_nothing_is_on_offer(self):
        self.assertEqual('nothing', model.Catalog(()).offered)

    def test_offers_keep_their_order(self):
        offers = (model.Offer('z'), model.Offer('a'))

        self.assertEqual(offers, model.Catalog(offers).offers)

    def test_two_offers_of_one_name_are_a_mistake(self):
        self.assertRaises(ValueError, model.Catalog,
                          [model.Offer('a'), model.Offer('a')])

    def test_nothing_can_be_changed(self):
        catalog = model.Catalog([model.Offer('a')])

        for mapping in (catalog.by_name, catalog.states):
            self.assertRaises(TypeError, operator.setitem, mapping, 'b', 1)


class ImagePropertiesTest(testtools.TestCase):

    def test_blanks_around_do_not_count(self):
        self.assertEqual(
            model.ImageProperties('ubuntu', 'fedora', 'k8s_v1'),
            model.ImageProperties.of({
                'magnum_distro': ' ubuntu\n', 'os_distro': 'fedora\t',
                'magnum_driver': '\u3000k8s_v1', 'other': 'x'}))

    def test_blank_and_null_are_nothing(self):
        self.assertEqual(model.ImageProperties(), model.ImageProperties.of({
            'magnum_distro': ' ', 'os_distro': None, 'magnum_driver': ''}))

    def test_a_number_is_its_text(self):
        self.assertEqual('7', model.ImageProperties.of(
            {'os_distro': 7}).os_distro)


class DecisionTest(testtools.TestCase):

    refusal = model.Refusal(model.Kind.UNKNOWN, 'Not there', 'Look.')

    def test_neither_driver_nor_refusal_is_a_mistake(self):
        self.assertRaises(ValueError, model.Decision, UBUNTU, None, None, ())

    def test_both_are_a_mistake(self):
        self.assertRaises(ValueError, model.Decision, UBUNTU, 'a',
                          self.refusal, ())

    def test_is_immutable(self):
        decision = model.Decision(UBUNTU, None, self.refusal, ())

        self.assertRaises(dataclasses.FrozenInstanceError, setattr,
                          decision, 'driver', 'a')

    def test_a_refusal_as_text(self):
        self.assertEqual('Not there. Look.', str(self.refusal))


class ImmutableTest(testtools.TestCase):
    """What threads of Magnum's API share: nobody can change it."""

    def test_it(self):
        catalog = model.Catalog([model.Offer('a')])
        request = model.Request(model.ImageProperties())
        for value in (catalog.offers[0], catalog.policy, request,
                      request.image):
            for field in dataclasses.fields(value):
                self.assertRaises(dataclasses.FrozenInstanceError, setattr,
                                  value, field.name, None)
