# SPDX-License-Identifier: Apache-2.0

"""Life of cluster templates: what drivers are chosen for, and by."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import images

CONF = config.CONF


class ClusterTemplatesTest(base.BaseMagnumCapiTest):

    @decorators.idempotent_id('ce4ed9a0-82ac-4559-b9ec-8d3bda403d35')
    @decorators.attr(type='smoke')
    def test_template_has_what_was_asked_for(self) -> None:
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
    def test_template_is_found(self) -> None:
        uuid = self.create_template()['uuid']
        own = self.magnum.templates

        found = own.show_cluster_template(uuid)

        self.assertEqual(found, own.show_cluster_template(found['name']))
        self.assertIn(found, own.list_cluster_templates_detail(
            **base_client.NEWEST_FIRST)['clustertemplates'])
        self.assertIn(uuid, [
            t['uuid'] for t in own.list_cluster_templates(
                **base_client.NEWEST_FIRST)['clustertemplates']])
        link, = [link['href'] for link in found['links']
                 if link['rel'] == 'self']
        self.assertTrue(link.endswith(f'/v1/clustertemplates/{uuid}'), link)

    @decorators.idempotent_id('9f1c13f2-91c2-4ae3-955c-a958e58d68c2')
    @decorators.attr(type='smoke')
    def test_deleted_template_is_gone(self) -> None:
        for field in ('uuid', 'name'):
            template = self.create_template()

            self.magnum.templates.delete_cluster_template(template[field])

            self.assertRaises(lib_exc.NotFound,
                              self.magnum.templates.show_cluster_template,
                              template['uuid'])

    @decorators.idempotent_id('dd15f65f-260b-4ff2-97dc-17ed5206e7a8')
    @flags.needs('magnum.template.keeps-driver')
    def test_template_without_driver_gets_one(self) -> None:
        if CONF.magnum_capi.clashing_drivers:
            self.skipTest('test_driver_discovery has a test for each case '
                          'with clashing_drivers')

        template = self.create_template(driver=None)

        self.assertNotIn(template['driver'], (None, ''))
