# SPDX-License-Identifier: Apache-2.0

"""Users of Tempest: those it creates, and those of an accounts.yaml."""

import types
import unittest
import unittest.mock

import fixtures
from tempest.lib.common import dynamic_creds
from tempest.lib import exceptions as lib_exc
from tempest import test as tempest_test
import testtools

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.driver import test_cluster_health


class Provider(dynamic_creds.DynamicCredentialProvider):
    """Tempest's, whose users are created nowhere."""

    def __init__(self):
        self._creds = {}
        self.neutron_available = self.create_networks = False

    def _create_creds(self, admin=False, roles=None, scope='project',
                      project_id=None):
        return {'user': object(), 'project_id': project_id or object()}


def users(case):
    """Return what Tempest creates for a class of tests."""
    provider = Provider()
    return [getattr(provider, f'get_{name}_creds')()
            for name in case.credentials]


class CreatedTest(testtools.TestCase):

    def test_who_cures_a_cluster_is_not_its_owner(self):
        owner, other, _ = users(test_cluster_health.MembersTest)

        self.assertIsNot(owner['user'], other['user'])
        self.assertIs(owner['project_id'], other['project_id'])

    def test_no_two_personas_are_one_user(self):
        found = [id(each['user'])
                 for each in users(test_cluster_health.MembersTest)]

        self.assertEqual(len(found), len(set(found)))


class MissingTest(testtools.TestCase):
    """Tempest fails if accounts.yaml lacks the user of a class."""

    def setup_credentials(self, *names, dynamic=False):
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.base.CONF',
            types.SimpleNamespace(auth=types.SimpleNamespace(
                use_dynamic_credentials=dynamic))))

        class ATest(base.BaseMagnumCapiTest):
            credentials = names

            @classmethod
            def set_network_resources(cls):
                pass

        with unittest.mock.patch.object(
                tempest_test.BaseTestCase, 'setup_credentials',
                side_effect=lib_exc.InvalidCredentials(
                    'No credentials matching role: admin')):
            ATest.setup_credentials()

    def test_tests_of_a_second_member_are_skipped(self):
        error = self.assertRaises(
            unittest.SkipTest, self.setup_credentials, 'primary',
            'project_admin')

        self.assertIn('primary, project_admin', str(error))
        self.assertIn('No credentials matching role: admin', str(error))

    def test_others_fail(self):
        for names in (('primary',), ('primary', 'admin')):
            self.assertRaises(lib_exc.InvalidCredentials,
                              self.setup_credentials, *names)

    def test_users_that_tempest_cannot_create_are_a_failure(self):
        self.assertRaises(
            lib_exc.InvalidCredentials, self.setup_credentials, 'primary',
            'project_admin', dynamic=True)


class ProjectTest(testtools.TestCase):

    def case(self, project, user='another'):
        class ATest(base.BaseMagnumCapiTest):
            os_primary, os_alt = (
                types.SimpleNamespace(credentials=types.SimpleNamespace(
                    project_id=project_id, user_id=user_id))
                for project_id, user_id in (('p', 'u'), (project, user)))

        return ATest

    def test_the_same_is_needed(self):
        self.case('p').require_project('alt', own=True)
        self.assertRaises(unittest.SkipTest, self.case(
            'q').require_project, 'alt', own=True)

    def test_the_same_user_is_nobody_else(self):
        self.assertRaises(unittest.SkipTest, self.case(
            'p', 'u').require_project, 'alt', own=True)

    def test_another_is_needed(self):
        self.case('q').require_project('alt', own=False)
        self.assertRaises(unittest.SkipTest, self.case(
            'p').require_project, 'alt', own=False)
