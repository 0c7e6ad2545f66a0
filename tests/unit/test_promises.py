# SPDX-License-Identifier: Apache-2.0

"""The registry of promises: what it must be, and that nothing leaves it."""

import pathlib
import subprocess
import tomllib

import testtools

from magnum_capi_tempest import promises

TOP = pathlib.Path(__file__).resolve().parents[2]
PATH = 'magnum_capi_tempest/promises.toml'

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


class HistoryTest(testtools.TestCase):
    """Reports and descriptions name ids: each that ever was stays."""

    def git(self, *words):
        try:
            return subprocess.run(
                ['git', '-C', str(TOP), *words], check=True, timeout=60,
                capture_output=True, text=True).stdout
        except (OSError, subprocess.SubprocessError) as e:
            self.skipTest(f'No history: {e}')

    def test_nothing_is_renamed_or_removed(self):
        names = {name for one in promises.known().values()
                 for name in (one.id, *one.aliases)}
        for commit in self.git('log', '--format=%H', '--', PATH).split():
            then = tomllib.loads(self.git('show', f'{commit}:{PATH}'))
            for one in then['promise']:
                self.assertEqual(
                    set(), {one['id'], *one.get('aliases', ())} - names,
                    f'{commit} has it')
