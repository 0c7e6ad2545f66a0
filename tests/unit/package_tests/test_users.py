# SPDX-License-Identifier: Apache-2.0


"""What a user has in Keystone besides what tests have made outlives them.

With accounts of [auth] test_accounts_file the user of a test is a person, with
application credentials of theirs, and roles.
"""

import importlib.util
import types
import unittest

import fixtures
import testtools

from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.discovery import test_driver_clash
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

    def taken(self, made_by_tempest):
        """Run the test of a user without roles; return those it took.

        :param made_by_tempest: whether its users are.
        """
        self.useFixture(fixtures.MonkeyPatch(
            'tempest.config.CONF', types.SimpleNamespace(
                auth=types.SimpleNamespace(
                    use_dynamic_credentials=made_by_tempest))))
        # Decorators look at the configuration when the module is loaded.
        spec = importlib.util.spec_from_file_location(
            'fresh', test_cluster_health.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        test = module.InvalidCredentialTest('test_its_user_lost_all_roles')
        taken = []
        test.os_primary = types.SimpleNamespace(
            credentials=types.SimpleNamespace(user_id='u', project_id='p'))
        test.os_admin = types.SimpleNamespace(
            roles_v3_client=types.SimpleNamespace(
                list_user_roles_on_project=lambda *args: {
                    'roles': [{'id': 'member'}]},
                delete_role_from_user_on_project=(
                    lambda *args: taken.append(args))))
        test.assert_shown_and_cured = lambda: None
        try:
            test.test_its_user_lost_all_roles()
        except unittest.SkipTest as e:
            self.assertIn('use_dynamic_credentials', str(e))
        return taken

    def test_a_person_keeps_them(self):
        self.assertEqual([], self.taken(made_by_tempest=False))

    def test_a_user_of_tempest_loses_them(self):
        self.assertEqual([('p', 'u', 'member')],
                         self.taken(made_by_tempest=True))
