# SPDX-License-Identifier: Apache-2.0


"""What a user has in Keystone besides what tests have made outlives them.

With accounts of [auth] test_accounts_file the user of a test is a person, with
application credentials of theirs, and roles.
"""

import types

import fixtures
import testtools

from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.discovery import test_driver_clash
from magnum_capi_tempest.tests.driver import test_cloud_quotas
from magnum_capi_tempest.tests.driver import test_cluster_health

CLUSTER = '0f8fad5b-d9cb-469f-a165-70867728950e'
#: As three drivers name them.
OF_THE_CLUSTER = [f'magnum-{CLUSTER}-one', f'magnum-{CLUSTER}-0a1b2c3d',
                  CLUSTER]
THEIRS = ['terraform', 'magnum-0f8fad5b-d9cb-469f-a165-000000000000-one',
          'magnum']


class Keystone:
    """Application credentials of one user; their ids are their names."""

    def __init__(self, names):
        self.names = list(names)

    def list_application_credentials(self, user_id):
        return {'application_credentials': [
            {'id': name, 'name': name} for name in self.names]}

    def delete_application_credential(self, user_id, ident):
        self.names.remove(ident)


class ApplicationCredentialsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.keystone = Keystone(THEIRS)
        self.user = types.SimpleNamespace(
            application_credentials_client=self.keystone,
            credentials=types.SimpleNamespace(user_id='u', project_id='p'))

    def test_after_an_upgrade_to_another_driver(self):
        test = test_driver_clash.ClashTest('test_upgrade_keeps_the_driver')
        test.os_primary = self.user
        test._own_watch = watch.Watch(
            None, user='u', project='p', test='t')
        test._own_watch.add(model.CLUSTER, CLUSTER, 'n')
        self.keystone.names += OF_THE_CLUSTER

        test.delete_application_credentials()

        self.assertEqual(THEIRS, self.keystone.names)

    def test_of_a_person_who_made_one_meanwhile(self):
        self.useFixture(fixtures.MonkeyPatch(
            f'{operations.__name__}.BaseOperationsTest.setUp',
            lambda test: None))
        self.useFixture(fixtures.MonkeyPatch(
            f'{test_cluster_health.__name__}.wait_for_health',
            lambda *args: None))
        test = test_cluster_health.InvalidCredentialTest(
            'test_it_was_deleted_behind_the_drivers_back')
        test.os_primary = self.user
        test.create_template = lambda *args: None
        test.assert_shown_and_cured = lambda: None

        def create_cluster(template):
            self.keystone.names += [*OF_THE_CLUSTER, 'of this minute']
            return {'uuid': CLUSTER}

        test.create_cluster = create_cluster

        test.setUp()
        test.test_it_was_deleted_behind_the_drivers_back()

        self.assertEqual([*THEIRS, 'of this minute'], self.keystone.names)


class RolesTest(testtools.TestCase):

    def test_a_person_stays_enabled_with_all_roles(self):
        for case, name in (
                (test_cluster_health.InvalidCredentialTest,
                 'test_its_user_lost_all_roles'),
                (test_cluster_health.InvalidCredentialTest,
                 'test_its_user_was_disabled_for_a_while'),
                (test_cloud_quotas.CloudQuotasTest,
                 'test_servers_are_named')):
            self.assertIn('auth.use_dynamic_credentials', (
                *flags.needed(case), *flags.needed(case, name)), name)
