# SPDX-License-Identifier: Apache-2.0

"""Health of clusters whose credentials the cloud no longer accepts."""

import collections.abc

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import app_credentials
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

WORKERS = operations.WORKERS


def healthy_cluster(test: operations.BaseOperationsTest) -> json_types.Object:
    """Create a cluster with an application credential; return it."""
    test.require_microversions(microversions.CREDENTIALS)
    cluster = test.create_cluster(test.create_template())
    test.assertTrue(test.application_credentials_of(cluster),
                    'The cluster has no application credential of its user')
    wait_for_health(test, cluster, 'HEALTHY')
    return cluster


def wait_for_health(test: operations.BaseOperationsTest,
                    cluster: json_types.Object, wanted: str) -> object:
    """Wait, and return the reason; asks as an admin, who always may.

    Magnum checks the health of clusters every [kubernetes]
    health_polling_interval seconds, 60 by default.
    """
    waiter = test.new_waiter(test.admin_magnum)
    state = waiters.until(
        lambda: waiter.observe(cluster['uuid']),
        lambda state: (
            (state.cluster or {}).get('health_status') == wanted),
        f'cluster {cluster["uuid"]} to be {wanted}',
        describe=lambda state: '{health_status} {health_status_reason}'
        .format_map(state.cluster) if state.cluster else str(state))
    return state.body.get('health_status_reason')


@flags.promise('resilience.credential.invalid-shown')
class InvalidCredentialTest(operations.BaseOperationsTest):
    """The credential of a cluster becomes invalid."""

    credentials = ['primary', 'admin']

    def setUp(self) -> None:
        super().setUp()
        self.cluster = healthy_cluster(self)

    def assert_shown_and_cured(
            self, restore: collections.abc.Callable[[], object] = lambda: None
    ) -> None:
        """Assert that the cluster shows it, and a rotation cures it.

        :param restore: gives back to the user what a test took away.
        """
        reason = wait_for_health(self, self.cluster, 'UNHEALTHY')
        self.assertIn('credential', str(reason).lower())

        restore()
        before = self.waiter.before(self.cluster['uuid'], WORKERS)
        self.magnum.clusters.rotate_credential(
            self.cluster['uuid'], microversion=microversions.CREDENTIALS)

        wait_for_health(self, self.cluster, 'HEALTHY')
        state = self.waiter.until_settled(self.cluster['uuid'], WORKERS)
        self.assertRegex(state.status, '_COMPLETE$')
        self.assert_usable(state.body, before.group['node_count'])

    @decorators.idempotent_id('2cc31349-5074-413b-ba09-a8f678c87ff5')
    def test_it_was_deleted_behind_the_drivers_back(self) -> None:
        app_credentials.delete_of_cluster(
            self.os_primary, self.cluster['uuid'])

        self.assert_shown_and_cured()

    @decorators.idempotent_id('4dd2a644-dbd3-4b1d-b402-dcfd7c73613e')
    @flags.needs('auth.use_dynamic_credentials')
    def test_its_user_lost_all_roles(self) -> None:
        taken = self.take_roles()

        self.assert_shown_and_cured(lambda: self.give_roles(taken))

    @decorators.idempotent_id('c7da4bad-b261-4557-a35e-647db8bc447a')
    @flags.needs('auth.use_dynamic_credentials')
    def test_its_user_was_disabled_for_a_while(self) -> None:
        # Keystone then deletes the user's application credentials.
        self.addCleanup(self.set_enabled, True)
        self.set_enabled(False)

        self.assert_shown_and_cured(lambda: self.set_enabled(True))

    def set_enabled(self, enabled: bool) -> None:
        self.os_admin.users_v3_client.update_user(
            self.os_primary.credentials.user_id, enabled=enabled)
        if enabled:
            # Keystone has revoked the user's tokens.
            self.os_primary.auth_provider.clear_auth()

    def take_roles(self) -> list[str]:
        """Revoke the user's roles in the project; restored at the end."""
        user = self.os_primary.credentials
        client = self.os_admin.roles_v3_client
        roles = [role['id'] for role in client.list_user_roles_on_project(
            user.project_id, user.user_id)['roles']]
        self.addCleanup(self.give_roles, roles)
        for role in roles:
            client.delete_role_from_user_on_project(
                user.project_id, user.user_id, role)
        return roles

    def give_roles(self, roles: list[str]) -> None:
        user = self.os_primary.credentials
        for role in roles:
            self.os_admin.roles_v3_client.create_user_role_on_project(
                user.project_id, user.user_id, role)
        # Keystone has revoked the user's tokens.
        self.os_primary.auth_provider.clear_auth()


@flags.promise('resilience.credential.members-cure')
class MembersTest(operations.BaseOperationsTest):
    """The creator of a cluster is gone."""

    # Tempest's project_member is the primary user.
    credentials = ['primary', 'project_admin', 'admin']
    needs = (flags.RESIZE,)

    @classmethod
    def setup_clients(cls) -> None:
        super().setup_clients()
        cls.require_project('project_admin', own=True)
        cls.member = factories.Magnum(cls.os_project_admin, cls.microversion)

    @decorators.idempotent_id('5d0b1f0c-8a0a-4c43-9f0e-9d6f3b7c2e15')
    def test_a_resize_by_another_member_cures_it(self) -> None:
        cluster = healthy_cluster(self)
        app_credentials.delete_of_cluster(self.os_primary, cluster['uuid'])
        wait_for_health(self, cluster, 'UNHEALTHY')
        before = self.waiter.before(cluster['uuid'], WORKERS)
        count = before.group['node_count'] + 1

        self.member.clusters.resize_cluster(
            cluster['uuid'], node_count=count, nodegroup=WORKERS)

        self.waiter.until_updated(cluster['uuid'], before, count)
        wait_for_health(self, cluster, 'HEALTHY')
        self.assertNotEqual([], app_credentials.of_cluster(
            self.os_project_admin, cluster['uuid']))
