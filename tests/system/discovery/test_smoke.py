# SPDX-License-Identifier: Apache-2.0
"""The suite's smoke tests through the servers that deployments use.

In the profile "full", where Magnum's API is a separate program: another server
takes its place and port. Needs the packages of bindep's profiles "full" and
"apache".
"""

import json

from tests.functional import boxes
from tests.functional.discovery import servers


@boxes.LONG
class SmokeTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box_ = boxes.shared(cls, '--profile', 'full', '--clash',
                                '--discovery-filter')
        cls.box_.kill('magnum')

    def smoke(self, name):
        """Statuses of the smoke tests, by their names."""
        results = self.box_.base / 'state' / name
        self.assert_done(self.box_.call(
            'tempest', '--output', str(results), '--regex',
            r'magnum_capi.*\bsmoke\b'))
        run = json.loads((results / 'report.json').read_text())
        return {test['name']: test['status'] for test in run['tests']}

    def check(self, server):
        layout = self.box_.sandbox.layout()
        with server(layout, layout.port('magnum'), sqlite=False):
            seen = self.smoke(server.__name__)
        own, = (s.state for s in self.box_.sandbox.status()
                if s.name == 'magnum')
        self.assertNotEqual('RUNNING', own, 'who has answered?')
        self.assertGreater(list(seen.values()).count('passed'), 50, seen)

    def test_behind_uwsgi(self):
        self.check(servers.Uwsgi)

    def test_behind_mod_wsgi(self):
        missing = servers.mod_wsgi_missing()
        if missing:
            self.skipTest(missing)
        self.check(servers.ModWsgi)
