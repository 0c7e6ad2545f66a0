# SPDX-License-Identifier: Apache-2.0
"""The suite's smoke tests through the servers that deployments use.

In the profile "full", where Magnum's API is a separate program: another server
takes its place and port. Needs the packages of bindep's profiles "full" and
"apache".
"""

import json

from magnum_capi import waiting
from magnum_capi_sandbox import rest
from magnum_capi_tempest import listeners
from tests.functional import boxes
from tests.functional.discovery import servers


@boxes.LONG
class SmokeTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box_ = boxes.shared(cls, '--profile', 'full', '--clash',
                                '--discovery-filter')
        cls.use_plain_http()
        cls.box_.kill('magnum')
        layout = cls.box_.sandbox.layout()
        where = layout.address, layout.port('magnum')
        # Its workers notice that after a second.
        waiting.wait_for(
            lambda: where not in {(found.address, found.port)
                                  for found in listeners.listening()},
            done=bool, timeout=60, what='the port of Magnum to be free')

    @classmethod
    def use_plain_http(cls):
        """As the other servers answer."""
        box = cls.box_.sandbox
        admin = rest.User(box.layout(), box.passwords()['admin'], 'admin')

        def ask(method, path, body=None):
            answer = admin.request('identity', method, path, body)
            answer.raise_for_status()
            return answer.json()

        service, = ask('GET', 'services?type=container-infra')['services']
        for one in ask('GET', 'endpoints?service_id='
                              f'{service["id"]}')['endpoints']:
            ask('PATCH', f'endpoints/{one["id"]}', {'endpoint': {
                'url': one['url'].replace('https:', 'http:')}})

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
