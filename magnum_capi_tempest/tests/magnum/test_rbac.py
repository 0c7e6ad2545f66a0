# SPDX-License-Identifier: Apache-2.0

"""Who may do what with templates, quotas, stats and services.

Every test tries all personas of :mod:`.common.personas`.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common import personas
from magnum_capi_tempest.tests.common import quotas
from magnum_capi_tempest.tests.common import rbac

CONF = config.CONF


def replace(path, value):
    return [{'op': 'replace', 'path': path, 'value': value}]


class TemplatesTest(rbac.BaseRbacTest):

    def setUp(self):
        super().setUp()
        self.template = self.create_template()['uuid']

    def delete(self, magnum):
        """Delete a template and recreate it for the next persona."""
        answer = magnum.templates.delete_cluster_template(self.template)
        self.template = self.create_template()['uuid']
        return answer

    @decorators.idempotent_id('7d537713-3f92-4007-a7b2-7c44b837f38e')
    def test_create(self):
        self.assert_rule('create template', lambda magnum: (
            factories.create_template(
                CONF, magnum, self.addCleanup, factories.template_body(CONF))))

    @decorators.idempotent_id('7b59a84d-d6c5-417b-aff7-4ff7ff429ced')
    def test_show(self):
        self.assert_rule('show template', lambda magnum: (
            magnum.templates.show_cluster_template(self.template)))

    @decorators.idempotent_id('1f646090-11ef-43ef-a2c1-b13057b5d3c7')
    def test_show_by_name(self):
        name = self.create_template()['name']

        self.assert_rule('show template', lambda magnum: (
            magnum.templates.show_cluster_template(name)))

    @decorators.idempotent_id('1fe1321c-b3a1-466f-a03c-9f57337eb1ea')
    def test_list(self):
        self.assert_rule('show template', lambda magnum: self.listed(
            magnum.templates.list_cluster_templates(
                **base_client.NEWEST_FIRST)))

    @decorators.idempotent_id('25148ec3-9db5-4c9a-98e2-eb910c534031')
    def test_list_in_detail(self):
        self.assert_rule('show template', lambda magnum: self.listed(
            magnum.templates.list_cluster_templates_detail(
                **base_client.NEWEST_FIRST)))

    def listed(self, answer):
        """Return whether the template is in a list, as an answer."""
        found = self.template in [
            t['uuid'] for t in answer['clustertemplates']]
        return bad_input.Answer(200 if found else 404)

    @decorators.idempotent_id('70e8c149-40d6-429c-87ed-f02cfb506474')
    def test_update(self):
        self.assert_rule('update template', lambda magnum: (
            magnum.templates.update_cluster_template(
                self.template, replace('/tags', 'one'))))

    @flags.configured('public_templates')
    @decorators.idempotent_id('159f6bc5-841f-4561-a750-573d4f063ebf')
    def test_publish(self):
        self.assert_rule('publish template', lambda magnum: (
            magnum.templates.update_cluster_template(
                self.template, replace('/public', 'true'))))

    @decorators.idempotent_id('317af683-441a-493f-ad47-0b80ae2ea89f')
    def test_hide(self):
        self.assert_rule('publish template', lambda magnum: (
            magnum.templates.update_cluster_template(
                self.template, replace('/hidden', 'true'))))

    @decorators.idempotent_id('7e74b4ed-27a6-4b57-96e7-6fb60746ad6f')
    def test_delete(self):
        self.assert_rule('delete template', self.delete)


class PublicTemplatesTest(rbac.BaseRbacTest):

    required_options = (*rbac.BaseRbacTest.required_options,
                        'public_templates')

    def setUp(self):
        super().setUp()
        self.template = self.create_public()

    def create_public(self):
        return self.create_template(
            self.by[personas.ADMIN], public=True)['uuid']

    def delete(self, magnum):
        answer = magnum.templates.delete_cluster_template(self.template)
        self.template = self.create_public()
        return answer

    @decorators.idempotent_id('7d445a0d-9d2a-481d-9b02-3de1adfb2886')
    def test_show(self):
        self.assert_rule('show public template', lambda magnum: (
            magnum.templates.show_cluster_template(self.template)))

    @decorators.idempotent_id('91ace1c7-31a1-43ab-b907-ceb0ee0b645a')
    def test_update(self):
        self.assert_rule('update public template', lambda magnum: (
            magnum.templates.update_cluster_template(
                self.template, replace('/tags', 'one'))))

    @decorators.idempotent_id('bfcae3f0-c12d-4968-af74-b35a01681863')
    def test_delete(self):
        self.assert_rule('delete public template', self.delete)


class RestTest(rbac.BaseRbacTest):

    # Quotas came with 1.6, stats with 1.4.
    min_microversion = '1.6'
    required_options = ()

    def create_quota(self, magnum):
        quota = magnum.quotas.create_quota(
            project_id=self.project, resource='Cluster',
            hard_limit=quotas.PLENTY)
        # It must not exist for the next persona.
        self.addCleanup(quotas.delete, self.by[personas.ADMIN], quota)
        quotas.delete(self.by[personas.ADMIN], quota)
        return quota

    def with_quota(self):
        quotas.create_own(
            self.by[personas.ADMIN], self.addCleanup, self.project)

    @decorators.idempotent_id('f12669ba-e5ff-4ed4-a8c4-0982b44c5633')
    def test_list_services(self):
        self.assert_rule('list services', lambda magnum: (
            magnum.mservices.list_mservices()))

    @decorators.idempotent_id('6c897470-9a5f-4302-80af-ffa776ac270f')
    def test_show_stats(self):
        self.assert_rule('show stats', lambda magnum: (
            magnum.stats.show_stats(project_id=self.project)))

    @decorators.idempotent_id('e7295bd5-a318-413d-9f3a-0e45e2dc72e3')
    def test_show_quota(self):
        self.assert_rule('show quota', lambda magnum: (
            magnum.quotas.show_quota(self.project)))

    @decorators.idempotent_id('dd5c9725-0979-4975-bd3d-56b4e44da29f')
    def test_list_quotas(self):
        self.assert_rule('list quotas', lambda magnum: (
            magnum.quotas.list_quotas()))

    @decorators.idempotent_id('3a9b4a97-e565-41b3-a863-16b105574a71')
    def test_create_quota(self):
        # Magnum 23 looks up the project as the user before it checks the
        # user's roles, and fails with 500.
        self.assert_rule(
            'create quota', self.create_quota, leave_out=(
                (personas.OTHER,) if flags.not_promised(
                    'magnum.input.refused') else ()))

    @decorators.idempotent_id('2fe0efef-8d07-43b2-b8b9-19bddb219637')
    def test_update_quota(self):
        self.with_quota()

        self.assert_rule('update quota', lambda magnum: (
            magnum.quotas.update_quota(
                self.project, hard_limit=quotas.PLENTY + 1)))

    @decorators.idempotent_id('2a554244-c268-4cb1-9303-1a00191774dc')
    def test_delete_quota(self):
        def delete(magnum):
            answer = magnum.quotas.delete_quota(self.project)
            self.with_quota()
            return answer

        self.with_quota()

        self.assert_rule('delete quota', delete)
