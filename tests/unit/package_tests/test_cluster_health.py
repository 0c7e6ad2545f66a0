# SPDX-License-Identifier: Apache-2.0

"""Waiting for the health of a cluster."""

import types

import fixtures

from magnum_capi import errors
from magnum_capi_tempest.tests.scenario import test_cluster_health
from tests.unit.package_tests import test_waiters


class HealthTest(test_waiters.WaiterTestCase):

    def wait(self, wanted, *answers):
        self.script(*answers)
        self.useFixture(fixtures.MonkeyPatch(
            f'{test_cluster_health.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=types.SimpleNamespace(build_timeout=0.01))))
        test = test_cluster_health.InvalidCredentialTest(
            'test_it_was_deleted_behind_the_drivers_back')
        test.cluster = {'uuid': 'c'}
        test.admin_magnum = types.SimpleNamespace(
            clusters=self.magnum.client('ClustersClient'))
        test.new_waiter = lambda magnum: self.waiter
        return test.wait_for_health(wanted)

    def health(self, status):
        return test_waiters.cluster(
            'CREATE_COMPLETE', health_status=status,
            health_status_reason={'credential': 'invalid'})

    def test_the_reason(self):
        self.assertEqual({'credential': 'invalid'}, self.wait(
            'UNHEALTHY', self.health('UNHEALTHY')))

    def test_another_health(self):
        error = self.assertRaises(
            errors.WaitTimeout, self.wait, 'HEALTHY',
            self.health('UNHEALTHY'))

        self.assertIn("UNHEALTHY {'credential': 'invalid'}", str(error))

    def test_a_proxy_without_magnum(self):
        error = self.assertRaises(
            errors.WaitTimeout, self.wait, 'HEALTHY', (503, {}))

        self.assertIn('503', str(error))
