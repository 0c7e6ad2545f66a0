# SPDX-License-Identifier: Apache-2.0

"""The registry of promises: what it must be."""

import testtools

from magnum_capi_tempest import promises

ONE = '''
[[promise]]
id = "lifecycle.a.b"
title = "x"
since = "1.0"
core = true
rationale = "y"
aliases = ["old"]
'''


def entries(*changes):
    return promises.parse(''.join(ONE.replace(*change) if change else ONE
                                  for change in changes))


class RegistryTest(testtools.TestCase):

    def test_an_entry(self):
        one, = entries(()).values()

        self.assertEqual(('lifecycle', ('old',), False),
                         (one.profile, one.aliases, one.provisional))

    def test_what_is_wrong(self):
        for changes in (((), ()), ((), ('.a.b', '.a.c')),
                        (('lifecycle.a.b', 'lifecycle.a'),),
                        (('lifecycle', 'life'),), (('a.b', 'A.b'),),
                        (('aliases', 'needs'),)):
            self.assertRaises(ValueError, entries, *changes)

    def test_an_alias_is_a_name(self):
        self.assertEqual('lifecycle.resize.last-wins',
                         promises.get('last_resize_wins').id)
        self.assertRaises(LookupError, promises.get, 'x')

    def test_what_another_one_needs(self):
        cure = 'resilience.credential.members-cure'
        rotation = 'lifecycle.credential.rotation'

        self.assertEqual(rotation, promises.missing(cure, [rotation]))
        self.assertEqual(cure, promises.missing(cure, ['members_cure']))
        self.assertEqual('', promises.missing(rotation, [cure]))

    def test_the_beginning_of_an_id_stands_for_all_of_them(self):
        for wanted, names in ((True, ['discovery']),
                              (True, ['discovery.disabled']),
                              (False, ['discovery.dis']), (False, []),
                              (True, ['x', 'discovery.disabled.refused'])):
            self.assertEqual(wanted, bool(promises.missing(
                'discovery.disabled.refused', names)), names)
        self.assertEqual(['discovery.dis', 'x'], promises.unknown_names(
            ['discovery', 'x', 'discovery.dis', 'lifecycle.resize']))


class MagnumTest(testtools.TestCase):

    def test_no_id_is_one_of_a_driver(self):
        self.assertEqual(set(), {*promises.known()} & {*promises.of_magnum()})

    def test_what_a_magnum_does_not_promise(self):
        newest, older = ({*promises.not_of_magnum(version)}
                         for version in ('1.14', '1.12'))

        self.assertEqual({'magnum.template.keeps-driver',
                          'magnum.cluster.failed-polled'}, older - newest)
        self.assertEqual(newest, {*promises.not_of_magnum()})

    def test_the_filter_keeps_the_opposite_in_its_other_mode(self):
        for first, kept, other in (
                (False, promises.AMBIGUITY_REFUSED, promises.FIRST_TAKEN),
                (True, promises.FIRST_TAKEN, promises.AMBIGUITY_REFUSED)):
            found = promises.not_of_magnum(filtered=True, takes_first=first)

            self.assertIn(other, found)
            self.assertNotIn(kept, found)
        self.assertNotIn('magnum.template.keeps-driver',
                         promises.not_of_magnum('1.11', filtered=True))
