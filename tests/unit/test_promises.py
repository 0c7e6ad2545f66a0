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
