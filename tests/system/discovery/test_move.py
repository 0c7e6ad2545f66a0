# SPDX-License-Identifier: Apache-2.0
"""Templates of two real drivers, moved from one to the other."""

import json
import subprocess

from magnum_capi import waiting
from magnum_capi_tempest.sandbox import rest
from tests.functional import boxes
from tests.unit.docs import pages

OLD = 'k8s_capi_helm_v1'
NEW = 'k8s_capi_v1'


@boxes.LONG
class MoveTest(boxes.TestCase):

    def setUp(self):
        super().setUp()
        self.sandbox = self.box()
        self.assert_done(self.sandbox.up(
            '--discovery-filter', '--install',
            str(pages.TOP / 'drivers' / NEW)))
        self.layout = self.sandbox.sandbox.layout()
        passwords = self.sandbox.sandbox.passwords()
        self.demo, self.admin = (
            rest.User(self.layout, passwords[name], name)
            for name in ('demo', 'admin'))
        self.seeded = json.loads(
            (self.sandbox.directory / 'seeded.json').read_text())

    def ask(self, user, method, path, body=None):
        answer = user.request('container-infra', method, path, body, 120)
        self.assertTrue(answer.ok, answer.text)
        return answer.json() if answer.text else None

    def template(self, user, name, image='ubuntu-capi', **fields):
        return self.ask(user, 'POST', 'clustertemplates', {
            'name': name, 'coe': 'kubernetes', 'network_driver': 'calico',
            'image_id': self.seeded['images'][image],
            'external_network_id': self.seeded['networks']['public'],
            'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small',
            **fields})['uuid']

    def cluster(self, name, template):
        uuid = self.ask(self.demo, 'POST', 'clusters', {
            'name': name, 'cluster_template_id': template, 'keypair': None,
            'node_count': 1, 'master_count': 1})['uuid']
        return self.complete(uuid)

    def complete(self, uuid, **fields):
        """Wait until a cluster is complete; returns its uuid."""
        def look():
            answer = self.demo.request(
                'container-infra', 'GET', f'clusters/{uuid}')
            # Magnum answers 404 until its conductor has handled the request.
            found = answer.json() if answer.ok else {'status': ''}
            return found['status'], {n: found.get(n) for n in fields}
        status, seen = waiting.wait_for(
            look, done=lambda s: s[0].endswith('FAILED') or s[0].endswith(
                'COMPLETE') and s[1] == fields, timeout=400,
            what=f'cluster {uuid} with {fields}')
        self.assertTrue(status.endswith('COMPLETE'), status)
        return uuid

    def move(self, *argv):
        """Rows of the command, run like an operator does."""
        ended = subprocess.run(
            [self.layout.magnum_env / 'bin/magnum-capi', 'discovery', 'move',
             '--os-cloud', 'sandbox-admin', '--from', OLD, '--to', NEW,
             '-f', 'json', *argv],
            env={'OS_CLIENT_CONFIG_FILE': str(
                self.layout.directory / 'clouds.yaml'),
                'HOME': str(self.layout.directory / 'home')},
            capture_output=True, text=True, timeout=300)
        self.assertEqual(0, ended.returncode, ended.stderr)
        return json.loads(ended.stdout)

    def shown(self, uuid):
        return self.ask(self.admin, 'GET', f'clustertemplates/{uuid}')

    def test_old_clusters_live_on_until_they_go(self):
        old = self.template(self.admin, 'small', driver=OLD, public=True)
        private = self.template(self.demo, 'mine', driver=OLD)
        cluster = self.cluster('old', old)

        # Nothing is changed without --apply.
        for _ in range(2):
            rows = {r['Uuid']: r['Next'] for r in self.move()}
            self.assertEqual({old, private, cluster}, {*rows})
            self.assertEqual(f'make small-{NEW}, hide it after its 1 clusters',
                             rows[old])

        # Running it again changes nothing.
        for _ in range(2):
            rows = {r['Uuid']: r['Next'] for r in self.move('--apply')}
            self.assertEqual({old, private, cluster}, {*rows})
            self.assertEqual('hide it after its 1 clusters', rows[old])
        [new] = [t for t in self.ask(
            self.demo, 'GET', 'clustertemplates')['clustertemplates']
            if t['name'] == f'small-{NEW}']
        self.assertEqual((NEW, True), (new['driver'], new['public']))

        # The old driver keeps its cluster, and the new one has its own.
        self.ask(self.demo, 'POST', f'clusters/{cluster}/actions/resize',
                 {'node_count': 2})
        # Earlier it may still be CREATE_COMPLETE.
        self.complete(cluster, node_count=2, status='UPDATE_COMPLETE')
        newer = self.template(self.demo, 'newer', 'ubuntu-capi-1.35',
                              driver=OLD)
        self.ask(self.demo, 'POST', f'clusters/{cluster}/actions/upgrade',
                 {'cluster_template': newer, 'max_batch_size': 1})
        self.complete(cluster, cluster_template_id=newer)
        # Nothing uses the old template any more.
        self.assertNotIn(old, {r['Uuid'] for r in self.move('--apply')})
        self.assertIs(True, self.shown(old)['hidden'])
        other = self.cluster('new', new['uuid'])
        refused = self.demo.request(
            'container-infra', 'POST', f'clusters/{cluster}/actions/upgrade',
            {'cluster_template': new['uuid'], 'max_batch_size': 1})
        self.assertEqual(400, refused.status_code, refused.text)

        for uuid in (cluster, other):
            self.ask(self.demo, 'DELETE', f'clusters/{uuid}')
        waiting.wait_for(
            lambda: self.ask(self.demo, 'GET', 'clusters')['clusters'],
            done=lambda left: not left, timeout=400, what='no clusters')
        for uuid in (private, newer):
            self.ask(self.demo, 'DELETE', f'clustertemplates/{uuid}')
        self.assertEqual([], self.move())
        self.ask(self.admin, 'DELETE', f'clustertemplates/{old}')
