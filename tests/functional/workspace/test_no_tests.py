# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest run`` when there is nothing to run."""

import os
import pathlib
import subprocess
import sys

import fixtures
import testtools

from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs


class NoTestsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.workspace, self.state = base / 'work', base / 'state'
        self.configure('uri_v3 = http://127.0.0.1:9/v3')
        runs.make_repository(self.workspace)

    def configure(self, text):
        folder.lay_out(self.workspace, f'[identity]\n{text}\n')

    def run_tempest(self, regex):
        """Exit code and last line of standard error."""
        ended = subprocess.run(
            [sys.executable, '-m', 'magnum_capi.cli.main', 'tempest', 'run',
             '--regex', regex, str(self.workspace)],
            env={**os.environ, 'MAGNUM_CAPI_STATE': str(self.state)},
            capture_output=True, text=True, timeout=300)
        return ended.returncode, ended.stderr.splitlines()[-1]

    def test_none_matches(self):
        code, said = self.run_tempest('nosuchtest')
        self.assertEqual(3, code)
        self.assertIn('nosuchtest', said)

    def test_tempest_cannot_run(self):
        self.configure('disable_ssl_certificate_validation = perhaps')
        code, said = self.run_tempest('magnum_capi.*smoke')
        self.assertEqual(3, code, said)
