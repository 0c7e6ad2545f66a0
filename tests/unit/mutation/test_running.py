# SPDX-License-Identifier: Apache-2.0

import fixtures
import testtools

from magnum_capi_tempest import proc
from tests.mutation import running
from tests import sessions
from tests.unit.mutation import adding

TESTS = {adding.SUM: 0.1, adding.MORE: 0.1, adding.NOTHING: 0.1}


class RunTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.adding = self.useFixture(adding.Adding())
        self.processes = running.Processes()

    def killers(self, body):
        """Of ``add`` with another body."""
        path = self.adding.top / adding.FILE
        return self.processes.run(
            (adding.MODULE, str(path),
             adding.CODE.replace('return one + other', body)),
            TESTS, True)['killers']

    def limit(self, name, value):
        self.useFixture(fixtures.MockPatchObject(running, name, value))

    def test_one_that_hangs(self):
        self.limit('SECONDS', 0.1)

        self.assertEqual({adding.NOTHING: 'timeout'}, self.killers(
            'while one == other: pass\n    return one + other'))

    def test_nothing_is_left_of_what_it_starts(self):
        path = self.adding.top / 'pid'

        self.killers(
            'import subprocess, sys; open('
            f'{str(path)!r}, "w").write(str(subprocess.Popen([sys.executable,'
            ' "-c", "import time; time.sleep(600)"], start_new_session=True)'
            '.pid)); return one + other')

        self.assertTrue(proc.ended(int(path.read_text())))

    def test_one_that_starts_many(self):
        self.limit('CROWD', 20)
        path = self.adding.top / 'session'

        self.assertEqual({adding.NOTHING: 'died'}, self.killers(
            'import os, time\n'
            f'    open({str(path)!r}, "w").write(str(os.getsid(0)))\n'
            '    while one == other: os.fork() or time.sleep(600)\n'
            '    return one + other'))
        self.assertEqual([], sessions.members(int(path.read_text())))
