# SPDX-License-Identifier: Apache-2.0
"""The oldest Magnum that is supported, with the driver of this project."""

import json
import os
import pathlib

import testtools

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.sandbox import environment
from magnum_capi_tempest.sandbox import releases
from magnum_capi_tempest.sandbox import rest
from tests.functional import boxes

OLDEST = releases.RELEASES[0]
#: What the environments' own Python runs.
PROGRAMS = pathlib.Path(environment.__file__).parent / 'cloud'
DRIVER = pathlib.Path(__file__).resolve().parents[2] / 'drivers/k8s_capi_v1'


class ServerTest(testtools.TestCase):

    def test_only_a_magnum_that_asks_for_eventlet_is_served_by_it(self):
        for release in (OLDEST, releases.NEWEST):
            python = environment.ensure(
                progress.Progress(), release) / 'bin' / 'python'
            printed = processes.run(
                [python, '-W', 'ignore', '-c', 'import magnum.cmd, magnum_all;'
                 'print(magnum_all.is_green())'], timeout=120,
                env=os.environ | {'PYTHONPATH': str(PROGRAMS)})
            self.assertEqual(str(release == OLDEST), printed.strip(),
                             release.name)


class OldestTest(boxes.TestCase):

    def setUp(self):
        super().setUp()
        self.box_ = self.box()
        self.assert_done(self.box_.up(
            '--magnum', OLDEST.name, '--install', str(DRIVER), '--clash',
            '--discovery-filter'))
        self.sandbox = self.box_.sandbox
        self.user = rest.User(self.sandbox.layout(),
                              self.sandbox.passwords()['demo'])

    def magnum(self, method, path, body=None):
        answer = self.user.request('container-infra', method, path, body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def wait(self, cluster, status):
        def look():
            answer = self.user.request(
                'container-infra', 'GET', f'clusters/{cluster}')
            return answer.json()['status'] if answer.ok else str(
                answer.status_code)

        waiting.wait_for(
            look, done=lambda seen: seen == status, timeout=300,
            failed=lambda seen: seen if seen.endswith('FAILED') else None,
            what=f'the cluster to be {status}')

    def trustees(self):
        admin = rest.User(self.sandbox.layout(),
                          self.sandbox.passwords()['admin'], 'admin')
        domain, = admin.request(
            'identity', 'GET', 'domains?name=magnum').json()['domains']
        return admin.request(
            'identity', 'GET', f'users?domain_id={domain["id"]}',
        ).json()['users']

    def test_life_of_a_cluster(self):
        answer = self.user.request('container-infra', 'GET', '')
        self.assertEqual('container-infra 1.11', answer.headers[
            'OpenStack-API-Maximum-Version'].replace(
                'container-infrastructure-management', 'container-infra'))
        seeded = json.loads(
            (self.sandbox.directory / 'seeded.json').read_text())
        body = {
            'name': 't', 'coe': 'kubernetes', 'network_driver': 'calico',
            'image_id': seeded['images']['ubuntu-capi'],
            'external_network_id': seeded['networks']['public'],
            'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small'}
        # Without the filter, this Magnum stores no driver.
        for name in ('k8s_capi_alias_v1', DRIVER.name):
            template = self.magnum(
                'POST', 'clustertemplates', body | {'driver': name})
            self.assertEqual([name, name], [template['driver'], self.magnum(
                'GET', f'clustertemplates/{template["uuid"]}')['driver']])
        cluster = self.magnum('POST', 'clusters', {
            'name': 'c', 'cluster_template_id': template['uuid'],
            'node_count': 1, 'keypair': 'demo', 'master_count': 1})['uuid']
        self.wait(cluster, 'CREATE_COMPLETE')
        self.assertEqual(1, len(self.trustees()))

        self.magnum('POST', f'clusters/{cluster}/actions/resize',
                    {'node_count': 2})
        self.wait(cluster, 'UPDATE_COMPLETE')
        self.magnum('DELETE', f'clusters/{cluster}')
        self.wait(cluster, '404')

        self.assertEqual([], self.trustees())
        line = self.assert_one_line(2, self.box_.up('--magnum', '2026.2'))
        self.assertIn(f'Magnum {OLDEST.name}', line)
