# SPDX-License-Identifier: Apache-2.0

import os

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.leaks import cloud
from magnum_capi_tempest.leaks import listing
from tests.unit.services import scripted_magnum


class CloudTest(testtools.TestCase):
    """One server is Keystone and the rest."""

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.server.headers['X-Subject-Token'] = 'token'
        self.clouds = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'clouds.yaml')
        with open(self.clouds, 'w') as file:
            file.write(
                'clouds: {here: {region_name: r, container_infra_api_version:'
                ' "1", container_infra_endpoint_override: '
                f'"{self.server.url}", auth: {{auth_url: "'
                f'{self.server.url.replace("/v1", "/v3")}", username: u, '
                'password: hunter2, project_name: p, user_domain_id: d, '
                'project_domain_id: d}}}')
        for name in ('HTTP_PROXY', 'http_proxy', 'ALL_PROXY'):
            self.useFixture(fixtures.EnvironmentVariable(
                name, 'http://127.0.0.1:1'))
        for name in ('NO_PROXY', 'no_proxy'):
            self.useFixture(fixtures.EnvironmentVariable(name, None))
        self.token = (201, {'token': {
            'user': {'id': 'user', 'name': 'u', 'domain': {}},
            'project': {'id': 'project', 'name': 'p', 'domain': {}},
            'roles': [], 'methods': [], 'catalog': [],
            'expires_at': '2099-01-01T00:00:00.000000Z',
            'issued_at': '2026-01-01T00:00:00.000000Z'}})
        self.version = (200, {'version': {
            'id': 'v3.14', 'status': 'stable', 'links': [
                {'rel': 'self', 'href': self.server.url.replace(
                    '/v1', '/v3')}]}})

    def cloud(self, *answers):
        self.server.answers = [self.version, self.token, *answers]
        return cloud.Cloud('here', self.clouds)

    def test_who_asks(self):
        seen = self.cloud()

        self.assertEqual(('user', 'project'), (seen.user, seen.project))

    def test_what_a_service_answers(self):
        seen = self.cloud((200, {'clusters': []}))

        self.assertEqual({'clusters': []}, seen.get(
            'container-infra', 'clusters/detail?limit=5'))
        self.assertEqual('/v1/clusters/detail?limit=5',
                         self.server.requests[-1].path)

    def test_a_refusal_carries_its_status(self):
        seen = self.cloud((403, {}))

        error = self.assertRaises(
            listing.CloudReadFailed, seen.get, 'container-infra', 'clusters')

        self.assertEqual(403, error.status)

    def test_a_service_that_is_not_in_the_catalog(self):
        seen = self.cloud()

        self.assertRaises(listing.CloudReadFailed, seen.get, 'load-balancer',
                          'lbaas/loadbalancers')

    def test_a_password_that_is_wrong_is_not_shown(self):
        self.server.answers = [self.version, (401, {})]

        error = self.assertRaises(
            errors.EnvironmentProblem, cloud.Cloud, 'here', self.clouds)

        self.assertIn('clouds.yaml', str(error))
        self.assertNotIn('hunter2', str(error))

    def test_a_cloud_that_is_not_there(self):
        self.assertRaises(
            errors.EnvironmentProblem, cloud.Cloud, 'nowhere', self.clouds)
