# SPDX-License-Identifier: Apache-2.0

"""Tests of quotas on clouds without load balancers."""

import types
import unittest
import unittest.mock

import fixtures
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.tests.scenario import test_cloud_quotas


class BalancersTest(testtools.TestCase):

    def run_tests(self, *, enabled=True, base_url=None):
        """Run the tests of load balancers; return how often each skipped."""
        auth = unittest.mock.Mock()
        auth.base_url.side_effect = base_url
        self.useFixture(fixtures.MonkeyPatch(
            f'{test_cloud_quotas.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=types.SimpleNamespace(
                    master_lb_enabled=enabled))))
        cls = test_cloud_quotas.CloudQuotasTest
        reasons = []
        for name in ('test_load_balancers', 'test_load_balancers_are_named'):
            test = cls(name)
            test.balancers = test_cloud_quotas.Balancers(
                types.SimpleNamespace(
                    auth_provider=auth, ports_client=types.SimpleNamespace(
                        endpoint_type='public')), 'R')
            test.assert_named = test.assert_recovers = (
                lambda *args: reasons.append(None))
            try:
                getattr(test, name)()
            except unittest.SkipTest as e:
                reasons.append(str(e))
        return reasons

    def test_with_octavia(self):
        self.assertEqual([None, None], self.run_tests(
            base_url=lambda filters: 'https://octavia'))

    def test_without_octavia(self):
        for reason in self.run_tests(
                base_url=lib_exc.EndpointNotFound('load-balancer')):
            self.assertIn('load-balancer', reason)

    def test_clusters_without_a_load_balancer(self):
        for reason in self.run_tests(enabled=False):
            self.assertIn('master_lb_enabled', reason)
