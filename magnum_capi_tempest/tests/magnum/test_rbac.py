# SPDX-License-Identifier: Apache-2.0

"""Who may do what with templates, quotas, stats and services.

Every test tries all personas of :mod:`.common.personas`.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import personas
from magnum_capi_tempest.tests.common import quotas
from magnum_capi_tempest.tests.common import rbac

CONF = config.CONF


class TemplatesTest(rbac.BaseRbacTest):

    def update(self, path, value):
        """Return what updates a template that this test creates for it."""
        uuid = self.create_template()['uuid']
        return lambda magnum: magnum.templates.update_cluster_template(
            uuid, [{'op': 'replace', 'path': path, 'value': value}])

    def delete(self, create):
        """Return what deletes a template, and creates one for the next."""
        uuid = create()['uuid']

        def ask(magnum):
            nonlocal uuid
            answer = magnum.templates.delete_cluster_template(uuid)
            uuid = create()['uuid']
            return answer

        return ask

    def create_public(self):
        return self.create_template(self.by[personas.ADMIN], public=True)

    @decorators.idempotent_id('7b59a84d-d6c5-417b-aff7-4ff7ff429ced')
    def test_look(self):
        template = self.create_template()

        def lists(name):
            return lambda magnum: rbac.listed(
                template['uuid'], getattr(magnum.templates, name)(
                    **base_client.NEWEST_FIRST)['clustertemplates'])

        self.assert_rules(
            *(('show template', lambda magnum, ident=ident: (
                magnum.templates.show_cluster_template(ident)))
              for ident in (template['uuid'], template['name'])),
            ('show template', lists('list_cluster_templates')),
            ('show template', lists('list_cluster_templates_detail')))

    @decorators.idempotent_id('7d537713-3f92-4007-a7b2-7c44b837f38e')
    def test_change(self):
        self.assert_rules(
            ('create template', lambda magnum: factories.create_template(
                CONF, magnum, self.addCleanup, factories.template_body(CONF))),
            ('update template', self.update('/tags', 'one')),
            ('publish template', self.update('/hidden', 'true')),
            ('delete template', self.delete(self.create_template)))

    @flags.needs('public_templates')
    @decorators.idempotent_id('159f6bc5-841f-4561-a750-573d4f063ebf')
    def test_public(self):
        public = self.create_public()['uuid']
        self.assert_rules(
            ('publish template', self.update('/public', 'true')),
            ('show public template', lambda magnum: (
                magnum.templates.show_cluster_template(public))),
            ('update public template', lambda magnum: (
                magnum.templates.update_cluster_template(public, [
                    {'op': 'replace', 'path': '/tags', 'value': 'one'}]))),
            ('delete public template', self.delete(self.create_public)))


class RestTest(rbac.BaseRbacTest):

    # Quotas came with 1.6, stats with 1.4.
    min_microversion = '1.6'
    uses_templates = False

    @decorators.idempotent_id('f12669ba-e5ff-4ed4-a8c4-0982b44c5633')
    def test_services_and_stats(self):
        self.assert_rules(
            ('list services', lambda magnum: (
                magnum.mservices.list_mservices())),
            ('show stats', lambda magnum: magnum.stats.show_stats(
                project_id=self.project)))

    @decorators.idempotent_id('e7295bd5-a318-413d-9f3a-0e45e2dc72e3')
    def test_quotas(self):
        self.assert_rules(
            ('show quota', lambda magnum: magnum.quotas.show_quota(
                self.project)),
            ('list quotas', lambda magnum: magnum.quotas.list_quotas()))
        # Magnum 23 looks up the project as the user before it checks the
        # user's roles, and fails with 500.
        self.assert_rules(
            ('create quota', self.create_quota), leave_out=(
                (personas.OTHER,) if flags.not_promised(
                    'magnum.input.refused') else ()))

    def create_quota(self, magnum):
        quota = magnum.quotas.create_quota(
            project_id=self.project, resource='Cluster',
            hard_limit=quotas.PLENTY)
        # It must not exist for the next persona.
        self.addCleanup(quotas.delete, self.by[personas.ADMIN], quota)
        quotas.delete(self.by[personas.ADMIN], quota)
        return quota

    @decorators.idempotent_id('2fe0efef-8d07-43b2-b8b9-19bddb219637')
    def test_own_quota(self):
        def with_quota():
            quotas.create_own(
                self.by[personas.ADMIN], self.addCleanup, self.project)

        def delete(magnum):
            answer = magnum.quotas.delete_quota(self.project)
            with_quota()
            return answer

        with_quota()

        self.assert_rules(
            ('update quota', lambda magnum: magnum.quotas.update_quota(
                self.project, hard_limit=quotas.PLENTY + 1)),
            ('delete quota', delete))
