# SPDX-License-Identifier: Apache-2.0

"""What a load balancer that outlives its cluster does to its class."""

import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import cloud
from magnum_capi_tempest.tests.common import waiters
from magnum_capi_tempest.tests.driver import test_openstack_nodes


class RemoveBalancersTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.deleted = []
        for name, value in (
                (f'{waiters.__name__}.CONF', types.SimpleNamespace(
                    magnum_capi=types.SimpleNamespace(
                        build_timeout=60, build_interval=0.001))),
                (f'{watch.__name__}.COLLECTED', 0),
                (f'{cloud.__name__}.octavia',
                 lambda *args: types.SimpleNamespace(
                     delete=self.deleted.append))):
            self.useFixture(fixtures.MonkeyPatch(name, value))

    def remove(self, *names):
        """Clean a class up that leaves load balancers with these names."""
        class Balancers(test_openstack_nodes.BalancersTest):
            left = 'service-x'
            os_primary = None
            magnum = types.SimpleNamespace(
                clusters=types.SimpleNamespace(region='r'))

        self.useFixture(fixtures.MonkeyPatch(
            f'{test_openstack_nodes.__name__}.things',
            lambda case, kind: frozenset(
                model.Thing(kind, f'id-{name}', name) for name in names)))
        Balancers.remove_balancers()

    def test_it_is_deleted_and_reported(self):
        e = self.assertRaises(
            errors.WaitTimeout, self.remove, 'a-service-x', 'of-others')

        self.assertIn('a-service-x', str(e))
        self.assertEqual(
            ['v2.0/lbaas/loadbalancers/id-a-service-x?cascade=true'],
            self.deleted)

    def test_none_is_left(self):
        self.remove('of-others')

        self.assertEqual([], self.deleted)
