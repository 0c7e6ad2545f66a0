# SPDX-License-Identifier: Apache-2.0

"""Microversions: which exist, who may list them, how they are named."""

import re

from tempest.lib.common import api_version_request
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import base


class VersionsTest(base.BaseMagnumCapiTest):

    uses_templates = False

    def listed(self):
        """Return what Magnum says about v1, a dict."""
        versions = self.magnum.versions.list_versions()['versions']
        return {v['id']: v for v in versions}['v1']

    def with_header(self, value):
        return self.magnum.templates.send_text(
            'GET', 'clustertemplates', None, params={'limit': 1},
            headers={base_client.MICROVERSION_HEADER: value})

    def answered_version(self, answer):
        return re.search(r'\d+\.\d+$', answer.response[
            base_client.MICROVERSION_HEADER.lower()]).group()

    @decorators.idempotent_id('b7428fd8-5c5e-46d3-92bf-8707fa043fae')
    @decorators.attr(type='smoke')
    def test_the_range_is_told_without_a_token_and_in_headers(self):
        told = self.listed()
        found = self.magnum.versions.show_version()

        low, high = (api_version_request.APIVersionRequest(told[key])
                     for key in ('min_version', 'max_version'))
        self.assertLess(low, high)
        for key in ('minimum', 'maximum'):
            self.assertIn(
                told[f'{key[:3]}_version'],
                found.response[f'openstack-api-{key}-version'].split())
        for resource in ('clusters', 'clustertemplates', 'certificates',
                         'mservices', 'quotas', 'stats', 'nodegroups'):
            self.assertIn(
                'self', [link['rel'] for link in found[resource]], resource)

    @decorators.idempotent_id('9f5a03df-d4f5-4385-b669-0179bfadd324')
    @decorators.attr(type='smoke')
    def test_without_a_header_it_is_the_lowest(self):
        low = self.listed()['min_version']
        client = self.os_primary.magnum_capi_v1.ClusterTemplatesClient(
            microversion=None)

        answer = client.list_cluster_templates(limit=1)

        self.assertEqual(low, self.answered_version(answer))

    @decorators.idempotent_id('b4aa1d55-ab53-438e-85be-f8a7c9660b71')
    def test_every_one_of_the_range_is_answered(self):
        found = self.listed()
        low, high = (int(found[key].split('.')[1])
                     for key in ('min_version', 'max_version'))
        wanted = {f'1.{minor}': f'1.{minor}'
                  for minor in range(low, high + 1)} | {
                      'latest': found['max_version']}

        self.assertEqual(wanted, {
            version: self.answered_version(
                self.with_header(f'container-infra {version}'))
            for version in wanted})

    @decorators.idempotent_id('94d763c9-7e50-48c7-b57c-0882dd8a9fd2')
    @decorators.attr(type='negative')
    def test_all_others_are_refused(self):
        high = int(self.listed()['max_version'].split('.')[1])

        for value in (*(f'container-infra {version}' for version in (
                '1.0', f'1.{high + 1}', '0.0', '0.1', '2.1', '-1.1', '1',
                'one', '1.9.1', '1.9 1.10')),
                '1.9', 'container-infra', 'compute 1.9'):
            self.assertRaises(
                lib_exc.NotAcceptable, self.with_header, value)
