# SPDX-License-Identifier: Apache-2.0

"""Operations of members and admins on cluster templates."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import images

CONF = config.CONF


class ClusterTemplatesTest(base.BaseMagnumCapiTest):

    @decorators.idempotent_id('ce4ed9a0-82ac-4559-b9ec-8d3bda403d35')
    @decorators.attr(type='smoke')
    def test_template_has_what_was_asked_for(self):
        body = factories.template_body(CONF)

        template = factories.create_template(
            CONF, self.magnum, self.addCleanup, body)

        # The filter of driver discovery replaces the name of an image in a
        # request by its id; Magnum alone stores the name.
        image = body.pop('image_id')
        self.assertEqual(body, {key: template[key] for key in body})
        self.assertIn(template['image_id'], (image, images.find(
            self.os_primary.image_client_v2, image)['id']))

    @decorators.idempotent_id('ffa0dbc7-0fba-476c-95ef-ab1e9148db0f')
    @decorators.attr(type='smoke')
    def test_template_is_found_by_uuid(self):
        template = self.create_template()

        found = self.magnum.templates.show_cluster_template(template['uuid'])

        self.assertEqual(template['name'], found['name'])

    @decorators.idempotent_id('d061f417-18d1-4aac-b429-43334abe59a8')
    @decorators.attr(type='smoke')
    def test_template_is_found_by_name(self):
        template = self.create_template()

        found = self.magnum.templates.show_cluster_template(template['name'])

        self.assertEqual(template['uuid'], found['uuid'])

    @decorators.idempotent_id('afe99c90-0c07-4b19-940d-8c9f43d1f124')
    @decorators.attr(type='smoke')
    def test_template_is_listed(self):
        template = self.create_template()

        listed = self.magnum.templates.list_cluster_templates(
            **base_client.NEWEST_FIRST)

        self.assertIn(template['uuid'],
                      [t['uuid'] for t in listed['clustertemplates']])

    @decorators.idempotent_id('8baa4ea1-64d3-4ddd-98ee-4846c341d170')
    def test_template_is_renamed(self):
        template = self.create_template()
        name = self.rand_name('renamed')

        self.magnum.templates.update_cluster_template(template['uuid'], [
            {'op': 'replace', 'path': '/name', 'value': name}])

        found = self.magnum.templates.show_cluster_template(template['uuid'])
        self.assertEqual(name, found['name'])

    @decorators.idempotent_id('7c1a9da0-a4f0-4df9-bc97-06b1edd041ed')
    def test_labels_are_replaced(self):
        template = self.create_template(labels={'one': '2'})

        self.magnum.templates.update_cluster_template(template['uuid'], [
            {'op': 'replace', 'path': '/labels/one', 'value': '3'}])

        found = self.magnum.templates.show_cluster_template(template['uuid'])
        self.assertEqual({**template['labels'], 'one': '3'}, found['labels'])

    @decorators.idempotent_id('9f1c13f2-91c2-4ae3-955c-a958e58d68c2')
    @decorators.attr(type='smoke')
    def test_deleted_template_is_gone(self):
        template = self.create_template()

        self.magnum.templates.delete_cluster_template(template['uuid'])

        self.assertRaises(lib_exc.NotFound,
                          self.magnum.templates.show_cluster_template,
                          template['uuid'])

    @decorators.idempotent_id('0a22d112-e70e-440c-bd0d-6a886ab8063a')
    def test_template_is_deleted_by_name(self):
        template = self.create_template()

        self.magnum.templates.delete_cluster_template(template['name'])

        self.assertRaises(lib_exc.NotFound,
                          self.magnum.templates.show_cluster_template,
                          template['uuid'])

    @decorators.idempotent_id('dd15f65f-260b-4ff2-97dc-17ed5206e7a8')
    @flags.needs('magnum.template.keeps-driver')
    @testtools.skipIf(
        CONF.magnum_capi.clashing_drivers,
        'test_driver_discovery has a test for each case with clashing_drivers')
    def test_template_without_driver_gets_one(self):
        template = self.create_template(driver=None)

        self.assertNotIn(template['driver'], (None, ''))


class PublicClusterTemplatesTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.require_project('admin', own=False)

    @flags.configured('public_templates')
    @decorators.idempotent_id('23e23be0-9ed4-489d-bb03-da5e2f6d9d09')
    def test_public_template_of_admin_is_seen_by_member(self):
        template = self.create_template(self.admin_magnum, public=True)

        listed = self.magnum.templates.list_cluster_templates(
            **base_client.NEWEST_FIRST)

        self.assertIn(template['uuid'],
                      [t['uuid'] for t in listed['clustertemplates']])

    @flags.configured('public_templates')
    @decorators.idempotent_id('5494c1bb-2aac-4656-a507-032a7f7dcefc')
    def test_admin_publishes_a_template(self):
        template = self.create_template(self.admin_magnum)

        self.admin_magnum.templates.update_cluster_template(
            template['uuid'],
            [{'op': 'replace', 'path': '/public', 'value': 'true'}])

        found = self.magnum.templates.show_cluster_template(template['uuid'])
        self.assertIs(True, found['public'])

    @decorators.idempotent_id('4cd9163b-bb4d-4cff-8d2d-492b4d0c45c4')
    @decorators.attr(type='negative')
    def test_template_of_admin_is_not_seen_by_member(self):
        template = self.create_template(self.admin_magnum)

        self.assertRaises(lib_exc.NotFound,
                          self.magnum.templates.show_cluster_template,
                          template['uuid'])
