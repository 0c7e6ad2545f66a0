# SPDX-License-Identifier: Apache-2.0

"""These need cosmic-ray, which only ``tox -e mutation`` installs."""

import io
import json

import fixtures
import testtools

from tests.mutation import rooms
from tests.unit.mutation import adding

try:
    from tests.mutation import __main__ as command
    from tests.mutation import running
    from tests.mutation import session
except ModuleNotFoundError as e:
    if e.name != 'cosmic_ray':
        raise
    session = None


@testtools.skipIf(session is None, 'cosmic-ray is not installed')
class SessionTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.adding = self.useFixture(adding.Adding())
        self.results = self.adding.top / 'results'
        self.useFixture(fixtures.MockPatchObject(
            rooms, 'ROOMS', {'adding': self.adding.room}))
        self.said = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch('sys.stdout', self.said))

    def mutation(self, *words):
        """Exit code, and the mutants by what they are."""
        code = command.main(['adding', '--jobs', '1',
                             '--results', str(self.results), *words])
        found = json.loads((self.results / 'adding.json').read_text())
        return code, {(one['operator'].rpartition('_')[2], one['after']): one
                      for one in found['mutants']}

    def test_mutants_and_every_test_that_kills_them(self):
        code, found = self.mutation('--all-killers')

        self.assertEqual(0, code)
        self.assertEqual(
            {adding.SUM, adding.MORE},
            set(found['Sub', 'return one - other']['killers']))
        # 1 | 2 is 1 + 2, and 2 | 3 is not 2 + 3.
        self.assertEqual([adding.MORE], list(
            found['BitOr', 'return one | other']['killers']))
        self.assertEqual({'killed'},
                         {one['outcome'] for one in found.values()})

    def test_a_run_that_was_ended_goes_on(self):
        run, times = running.Processes.run, []

        def ends(*args):
            times.append(args)
            if len(times) == 3:
                raise KeyboardInterrupt
            return run(*args)

        with fixtures.MockPatchObject(running.Processes, 'run', ends):
            self.assertRaises(KeyboardInterrupt, self.mutation)
        before = self.said.getvalue().splitlines()
        _code, found = self.mutation()

        lines = [line for line in self.said.getvalue().splitlines()
                 if line.startswith('killed')]
        self.assertIn(lines[0], before)
        self.assertTrue(2 <= len(before) < len(found), before)
        # Each was tried to its end once.
        self.assertEqual(len(found), len(lines))
        self.assertEqual((0, found), self.mutation())
