# SPDX-License-Identifier: Apache-2.0

"""Quotas that cannot be set, shown or deleted."""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals
from magnum_capi_tempest.tests.common import quotas


class QuotasTest(refusals.BaseRefusalsTest):

    credentials = ['primary', 'admin']
    min_microversion = '1.6'
    required_options = ()

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.project = cls.os_primary.credentials.project_id

    def create(self, **fields):
        """Create a quota; a wrongly accepted one is cleaned up."""
        return quotas.create(
            self.admin_magnum, self.addCleanup, self.project, **fields)

    def create_own(self):
        quotas.create_own(self.admin_magnum, self.addCleanup, self.project)

    def assert_refuses(self, field, kind):
        self.assert_field_refuses(
            kind, lambda value: self.create(**{field: value}))

    @decorators.idempotent_id('514687ee-c306-44da-b683-a2e775688aba')
    @decorators.attr(type='negative')
    def test_project_id(self):
        self.assert_refuses('project_id', 'project')

    @decorators.idempotent_id('17007da1-6038-4b2f-9e43-3c4e5c7392d4')
    @decorators.attr(type='negative')
    def test_no_project(self):
        self.assert_refused_all([
            ('no project', 'null', lambda: self.create(project_id=None))])

    @decorators.idempotent_id('8ad53f72-bce3-4560-80da-666efabe6200')
    @decorators.attr(type='negative')
    def test_resource(self):
        self.assert_refuses('resource', 'reference')

    @decorators.idempotent_id('5687d3f9-9943-487f-b68b-503ea0891597')
    @decorators.attr(type='negative')
    def test_hard_limit(self):
        self.assert_refuses('hard_limit', 'count')

    @decorators.idempotent_id('ce115cb0-5643-44d1-a098-8844ed98428f')
    @decorators.attr(type='negative')
    def test_hard_limit_that_no_database_has_room_for(self):
        self.assert_refused_all([
            ('number', 'more than 64 bits',
             lambda: self.create(hard_limit=2 ** 64))])

    @decorators.idempotent_id('ee03a917-aad3-4418-a457-4c4abda318d2')
    @decorators.attr(type='negative')
    def test_field_that_does_not_exist(self):
        self.assert_refuses('colour', 'unknown')

    @decorators.idempotent_id('47134ad3-6af0-41db-8280-0b7d0efca6b0')
    @decorators.attr(type='negative')
    def test_hard_limit_of_an_update(self):
        self.create_own()

        self.assert_field_refuses(
            'count', lambda value: self.admin_magnum.quotas.update_quota(
                self.project, hard_limit=value))

        found = self.magnum.quotas.show_quota(self.project)
        self.assertEqual(quotas.PLENTY, found['hard_limit'])

    @decorators.idempotent_id('fe681427-eac1-413b-8ab8-77440194d0bd')
    @decorators.attr(type='negative')
    def test_a_second_one(self):
        self.create_own()

        self.assertRaises(lib_exc.Conflict, self.create, hard_limit=8)

    @decorators.idempotent_id('985b647f-abde-4e08-a16f-4a8c52a80444')
    @decorators.attr(type='negative')
    def test_update_of_one_that_is_not_there(self):
        self.assertRaises(
            lib_exc.NotFound, self.admin_magnum.quotas.update_quota,
            data_utils.rand_uuid_hex(), hard_limit=8)

    @decorators.idempotent_id('f4dde26c-5e00-4905-81e7-d0221f313739')
    @decorators.attr(type='negative')
    def test_deletion_of_one_that_is_not_there(self):
        self.assertRaises(
            lib_exc.NotFound, self.admin_magnum.quotas.delete_quota,
            data_utils.rand_uuid_hex())

    @decorators.idempotent_id('cd9e875d-77b1-42ff-9fa5-e2795dbda35c')
    @decorators.attr(type='negative')
    def test_resource_in_the_path(self):
        self.create_own()

        for ask in (self.admin_magnum.quotas.update_quota,
                    self.admin_magnum.quotas.delete_quota):
            self.assertRaises(
                lib_exc.NotFound, ask, self.project, resource='Balloon')

    @decorators.idempotent_id('54911d29-c21a-42d9-80d0-22e6f67f912f')
    @decorators.attr(type='negative')
    def test_project_of_others(self):
        self.assertRaises(
            lib_exc.Forbidden, self.magnum.quotas.show_quota,
            data_utils.rand_uuid_hex())

    @decorators.idempotent_id('ed8a91a7-260a-4497-b5d1-f33bf4c89af7')
    @decorators.attr(type='negative')
    def test_lists(self):
        self.assert_refused_all(
            ('parameter', f'{key}={value}', lambda key=key, value=value:
             self.admin_magnum.quotas.list_quotas(**{key: value}))
            for key, value in (
                ('limit', '0'), ('limit', 'one'), ('marker', 'one'),
                ('marker', 2 ** 31 - 1), ('marker', 2 ** 64),
                ('sort_key', 'colour'), ('sort_dir', 'up'),
                ('all_tenants', 'maybe'), ('colour', 'blue')))

    @decorators.idempotent_id('5c61fba5-819d-40e1-a4a4-12d6d75e7385')
    @decorators.attr(type='negative')
    def test_member_sets_none(self):
        # If members could, they would change and delete this one.
        self.create_own()

        self.assert_refused_all([
            ('role', 'create', lambda: self.magnum.quotas.create_quota(
                project_id=self.project, resource='Cluster', hard_limit=99)),
            ('role', 'update', lambda: self.magnum.quotas.update_quota(
                self.project, hard_limit=99)),
            ('role', 'delete', lambda: self.magnum.quotas.delete_quota(
                self.project)),
        ], expected=bad_input.DENIED)
