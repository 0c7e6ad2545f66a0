# SPDX-License-Identifier: Apache-2.0

"""Visibility of cluster templates: public, hidden, both or neither."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags

CONF = config.CONF


class HiddenClusterTemplatesTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.require_project('admin', own=False)

    def listed(self, magnum):
        return [t['uuid'] for t in magnum.templates.list_cluster_templates(
            **base_client.NEWEST_FIRST)['clustertemplates']]

    def assert_unseen_by_member(self, template):
        self.assertNotIn(template['uuid'], self.listed(self.magnum))
        if template['public'] and flags.not_promised(
                'magnum.template.hidden-unseen'):
            return
        self.assertRaises(
            lib_exc.NotFound, self.magnum.templates.show_cluster_template,
            template['uuid'])

    @flags.configured('public_templates')
    @decorators.idempotent_id('71e02275-84e7-4910-9e1d-d007923e59f4')
    def test_member_sees_a_public_one(self):
        template = self.create_template(self.admin_magnum, public=True)

        found = self.magnum.templates.show_cluster_template(template['uuid'])

        self.assertIs(True, found['public'])

    @decorators.idempotent_id('137ca643-2f8b-4a50-ad9d-fbc977258115')
    @decorators.attr(type='negative')
    def test_member_does_not_see_a_hidden_one(self):
        self.assert_unseen_by_member(
            self.create_template(self.admin_magnum, hidden=True))

    @flags.configured('public_templates')
    @decorators.idempotent_id('7493286b-05e5-41a1-801c-4ddfc94bc01a')
    @decorators.attr(type='negative')
    def test_member_does_not_see_a_public_one_that_is_hidden(self):
        self.assert_unseen_by_member(
            self.create_template(self.admin_magnum, public=True, hidden=True))

    @decorators.idempotent_id('dfd6bc4c-5c3e-4b40-805c-f5f69dc55f54')
    def test_admin_sees_a_hidden_one(self):
        template = self.create_template(self.admin_magnum, hidden=True)

        self.assertIn(template['uuid'], self.listed(self.admin_magnum))

    @flags.configured('public_templates')
    @decorators.idempotent_id('caddcb03-ed80-4903-924a-bac08156c4ab')
    def test_a_public_one_disappears_when_it_is_hidden(self):
        template = self.create_template(self.admin_magnum, public=True)
        self.assertIn(template['uuid'], self.listed(self.magnum))

        self.admin_magnum.templates.update_cluster_template(
            template['uuid'],
            [{'op': 'replace', 'path': '/hidden', 'value': 'true'}])

        self.assert_unseen_by_member(template)

    @flags.configured('public_templates')
    @decorators.idempotent_id('952beb9d-9782-4ccc-b183-9f7a54cd5c7d')
    def test_it_appears_when_it_is_no_longer_hidden(self):
        template = self.create_template(
            self.admin_magnum, public=True, hidden=True)

        self.admin_magnum.templates.update_cluster_template(
            template['uuid'],
            [{'op': 'replace', 'path': '/hidden', 'value': 'false'}])

        self.assertIn(template['uuid'], self.listed(self.magnum))

    @decorators.idempotent_id('4620a410-21ad-4669-8fcf-2b3aacd6ee83')
    @flags.needs('magnum.template.admin-updates')
    def test_admin_hides_a_template_of_a_member(self):
        template = self.create_template()

        self.admin_magnum.templates.update_cluster_template(
            template['uuid'],
            [{'op': 'replace', 'path': '/hidden', 'value': 'true'}])

        # It belongs to the member, and is hidden from others.
        found = self.magnum.templates.show_cluster_template(template['uuid'])
        self.assertIs(True, found['hidden'])

    @decorators.idempotent_id('62d136dc-2e26-4285-b300-50cbd55260b3')
    @decorators.attr(type='negative')
    def test_member_does_not_make_a_hidden_one(self):
        self.assertRaises(
            lib_exc.Forbidden, self.create_template, hidden=True)
