# SPDX-License-Identifier: Apache-2.0

import dataclasses
import importlib
import operator
import pkgutil

import testtools

from magnum_capi import discovery
from magnum_capi.discovery import model

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
ROCKY = model.ClusterType('vm', 'rocky', 'kubernetes')


class TextsTest(testtools.TestCase):

    def test_shown_is_quoted_short_and_printable(self):
        for value, text in (
                ('k8s_capi-v1.2:ubuntu/x+y', "'k8s_capi-v1.2:ubuntu/x+y'"),
                ('', "''"), (None, "'None'"),
                ('a\x1b[31m\r\n\0', r"'a\x1b[31m\r\n\x00'"),
                ('\xe9\u202e\U0001f600\ud800',
                 r"'\xe9\u202e\U0001f600\ud800'"),
                # The quotation cannot be left.
                ("a' is fine\\", r"'a\x27 is fine\\'"),
                ('x' * 64, f"'{'x' * 64}'"),
                ('x' * 65, f"'{'x' * 64}...'"),
                # Escapes are not cut apart; 64 is no multiple of their 10.
                ('\U0001f600' * 7, "'" + r'\U0001f600' * 6 + "...'")):
            self.assertEqual(text, model.shown(value))

    def test_plain_is_one_line(self):
        for value, text in (
                ("No module named 'x'", "No module named 'x'"),
                (' a\n  b\u2028c\r\n', 'a b c'),
                ('\x1b[2J\0', r'\x1b[2J\x00'),
                ('x' * 200, 'x' * 200), ('x' * 201, 'x' * 200 + '...')):
            self.assertEqual(text, model.plain(value))

    def test_listed_is_cut(self):
        names = [f'd{number}' for number in range(60)]
        few = ', '.join(names[:24])
        for values, text in (
                (['a', UBUNTU, '\n'], r'a, (vm, ubuntu, kubernetes), \n'),
                ((), ''), (names[:24], few),
                (names, f'{few} and 36 more')):
            self.assertEqual(text, model.listed(values))

    def test_a_cluster_type(self):
        # As Magnum looks it up.
        self.assertEqual(1, {('vm', 'ubuntu', 'kubernetes'): 1}[UBUNTU])
        self.assertEqual(r'(vm, a b\n, kubernetes)', str(
            model.ClusterType('vm', 'a b\n', 'kubernetes')))


class CatalogTest(testtools.TestCase):

    def test_disabled_counts_before_broken_and_broken_before_beta(self):
        catalog = model.Catalog(
            [model.Offer(name, beta=True, error='x') for name in 'ab'],
            model.Policy(disabled_drivers=frozenset('b')))

        self.assertEqual(
            {'a': model.State.BROKEN, 'b': model.State.DISABLED},
            dict(catalog.states))

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

    def test_two_offers_of_one_name_are_a_mistake(self):
        self.assertRaises(ValueError, model.Catalog,
                          [model.Offer('a'), model.Offer('a')])

    def test_nothing_can_be_changed(self):
        catalog = model.Catalog([model.Offer('a')])

        for mapping in (catalog.by_name, catalog.states):
            self.assertRaises(TypeError, operator.setitem, mapping, 'b', 1)


class DataclassesTest(testtools.TestCase):

    def test_threads_share_what_nobody_changes(self):
        found = {
            cls for module in pkgutil.walk_packages(
                discovery.__path__, f'{discovery.__name__}.')
            for cls in vars(importlib.import_module(module.name)).values()
            if dataclasses.is_dataclass(cls) and isinstance(cls, type)
            and cls.__module__ == module.name}

        self.assertLess(8, len(found))
        self.assertEqual([], [cls for cls in found if not
                              cls.__dataclass_params__.frozen])


class ImagePropertiesTest(testtools.TestCase):

    def test_of(self):
        for properties, read in (
                ({'magnum_distro': ' ubuntu\n', 'os_distro': 'fedora\t',
                  'magnum_driver': '\u3000k8s_v1', 'other': 'x'},
                 ('ubuntu', 'fedora', 'k8s_v1')),
                ({'magnum_distro': ' ', 'os_distro': None,
                  'magnum_driver': ''}, (None, None, None)),
                ({'os_distro': 7}, (None, '7', None))):
            self.assertEqual(model.ImageProperties(*read),
                             model.ImageProperties.of(properties))


class DecisionTest(testtools.TestCase):

    refusal = model.Refusal(model.Kind.UNKNOWN, 'Not there', 'Look.')

    def test_it_has_either_a_driver_or_a_refusal(self):
        for both in ((None, None), ('a', self.refusal)):
            self.assertRaises(ValueError, model.Decision, UBUNTU, *both, ())

    def test_a_refusal_as_text(self):
        self.assertEqual('Not there. Look.', str(self.refusal))
