# SPDX-License-Identifier: Apache-2.0

"""Quotas of clusters per project, and who may set them."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import quotas

CONF = config.CONF


class BaseQuotasTest(base.BaseMagnumCapiTest):
    """A test of the quota of the primary user's project."""

    credentials = ['primary', 'admin']
    min_microversion = '1.6'

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.project = cls.os_primary.credentials.project_id

    def create_quota(self, hard_limit):
        return quotas.create_own(self.admin_magnum, self.addCleanup,
                                 self.project, hard_limit=hard_limit)


class QuotasTest(BaseQuotasTest):

    uses_templates = False

    @decorators.idempotent_id('6547bd42-5a39-43e6-9fa1-56c10dedadfd')
    @decorators.attr(type='smoke')
    def test_member_sees_the_default_of_the_project(self):
        quota = self.magnum.quotas.show_quota(self.project)

        self.assertEqual((self.project, 'Cluster'),
                         (quota['project_id'], quota['resource']))
        self.assertGreaterEqual(quota['hard_limit'], 0)

    @decorators.idempotent_id('ba0884b7-9117-45ba-a614-51b64f9b53c9')
    def test_admin_sets_changes_and_deletes_one(self):
        own = self.admin_magnum.quotas

        def limit():
            return self.magnum.quotas.show_quota(self.project)['hard_limit']

        default = limit()
        self.create_quota(quotas.PLENTY)
        self.assertEqual(quotas.PLENTY, limit())
        self.assertEqual(
            [quotas.PLENTY],
            [q['hard_limit'] for q in own.list_quotas(
                all_tenants=True)['quotas']
             if q['project_id'] == self.project])

        own.update_quota(self.project, hard_limit=quotas.PLENTY + 1)
        self.assertEqual(quotas.PLENTY + 1, limit())

        own.delete_quota(self.project)
        self.assertEqual(default, limit())

    @decorators.idempotent_id('6bcea642-b63f-43da-8510-54f92200b112')
    def test_admin_lists_only_the_own_project_by_default(self):
        self.require_project('admin', own=False)
        self.create_quota(quotas.PLENTY)

        listed = self.admin_magnum.quotas.list_quotas()

        self.assertNotIn(
            self.project, [q['project_id'] for q in listed['quotas']])


class QuotaCountsTest(BaseQuotasTest):

    @decorators.idempotent_id('c3c68ec2-2583-43ff-ba65-562b98fa12e2')
    @decorators.attr(type=['smoke', 'negative'])
    @testtools.skipUnless(
        CONF.auth.use_dynamic_credentials,
        '[auth] use_dynamic_credentials is false: a project that Tempest did '
        'not create may be in use by others, whose clusters would be refused')
    def test_a_project_without_room_gets_no_cluster(self):
        template = self.create_template()
        self.create_quota(hard_limit=0)

        self.assertRaises(
            lib_exc.Forbidden, self.request_cluster, template)
