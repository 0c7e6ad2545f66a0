# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.leaks import cloud
from magnum_capi_tempest.leaks import listing
from tests.unit.workspace import cloud_over_http


class CloudTest(testtools.TestCase):
    """One server is Keystone and the rest."""

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(cloud_over_http.Cloud())
        # A proxy is for other machines.
        for name in ('HTTP_PROXY', 'http_proxy', 'ALL_PROXY'):
            self.useFixture(fixtures.EnvironmentVariable(
                name, 'http://127.0.0.1:1'))
        for name in ('NO_PROXY', 'no_proxy'):
            self.useFixture(fixtures.EnvironmentVariable(name, None))

    def test_who_asks_and_what_a_service_answers(self):
        self.server.users('alice', 'bob')
        clouds = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'mine.yaml')
        clouds.write_text(json.dumps({'clouds': {
            'carol': {'auth': self.server.auth('carol')}}}))
        for seen, user in (
                (cloud.Cloud('bob'), 'id-bob'),
                (cloud.Cloud('carol', clouds), 'id-carol'),
                (cloud.Cloud(settings={'auth': self.server.auth('alice')}),
                 'id-alice')):
            self.assertEqual((user, 'p'), (seen.user, seen.project))
            self.assertEqual([], seen.get(
                'container-infra', 'clustertemplates?limit=5')[
                    'clustertemplates'])
            self.assertIn(('/infra/v1/clustertemplates', {'limit': '5'}),
                          self.server.asked)

    def test_a_refusal_carries_its_status(self):
        self.server.refuse['/infra/v1/clusters/detail'] = 403
        seen = cloud.Cloud('fake')
        for service, path, status in (
                ('container-infra', 'clusters/detail', 403),
                # not in the catalog
                ('load-balancer', 'lbaas/loadbalancers', None)):
            error = self.assertRaises(
                listing.CloudReadFailed, seen.get, service, path)

            self.assertEqual(status, error.status)

    def test_a_cloud_that_cannot_be_reached(self):
        """Its password is not shown."""
        self.server.refuse['/v3/auth/tokens'] = 401
        for name in ('fake', 'nowhere'):
            error = self.assertRaises(
                errors.EnvironmentProblem, cloud.Cloud, name)

            self.assertIn('clouds.yaml', str(error))
            self.assertNotIn('secret', str(error))
