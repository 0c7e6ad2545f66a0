# SPDX-License-Identifier: Apache-2.0

"""Updates of cluster templates, which must still have a driver afterwards."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import discovery
from magnum_capi_tempest.tests.common import flags

CONF = config.CONF


class UpdatedTemplateTest(discovery.BaseDiscoveryTest):
    """A template is updated, and must still be usable."""

    needs = ('clashing_drivers',)

    def setUp(self) -> None:
        super().setUp()
        self.driver, self.other = CONF.magnum_capi.clashing_drivers[:2]
        self.template = self.create_template_of(
            self.create_image(), self.driver)

    def replace(self, field: str, value: str,
                template: json_types.Object | None = None
                ) -> json_types.Object:
        """Replace a field and return the updated template."""
        template = template or self.template
        self.magnum.templates.update_cluster_template(
            template['uuid'],
            [{'op': 'replace', 'path': f'/{field}', 'value': value}])
        return self.show(template)

    def show(self, template: json_types.Object | None = None
             ) -> json_types.Object:
        found: json_types.Object = self.magnum.templates.show_cluster_template(
            (template or self.template)['uuid'])
        return found

    def assert_not_replaced(self, field: str, value: str) -> None:
        before = self.show()
        self.assertRaises(lib_exc.BadRequest, self.replace, field, value)
        self.assertEqual(dict(before), dict(self.show()))

    @decorators.idempotent_id('82df5ef1-a563-4b1c-86ef-47b52328e3ae')
    def test_driver_by_another_one_of_the_type(self) -> None:
        self.assertEqual(
            self.other, self.replace('driver', self.other)['driver'])

    @decorators.idempotent_id('497fd87f-7bcb-41a7-a9aa-f80e5b5b2b3c')
    def test_image_by_another_one_of_the_type(self) -> None:
        image = self.create_image()

        self.assertEqual(
            image['id'], self.replace('image_id', image['id'])['image_id'])

    @decorators.attr(type=['negative', 'magnum-patch'])
    @flags.needs('discovery.template.update-checked')
    @decorators.idempotent_id('878744c2-4f56-41e1-87e0-781b6d055d69')
    def test_driver_by_a_missing_one(self) -> None:
        self.assert_not_replaced('driver', discovery.NOBODY)

    @decorators.attr(type=['negative', 'magnum-patch'])
    @flags.needs('discovery.template.update-checked', 'mismatched_driver')
    @decorators.idempotent_id('8335dbb0-405e-490b-a5bb-e73cd05a7edb')
    def test_driver_by_one_that_does_not_provide_the_type(self) -> None:
        self.assert_not_replaced(
            'driver', flags.fixture().mismatched_driver)

    @decorators.attr(type=['negative', 'magnum-patch'])
    @flags.needs('discovery.template.update-checked', 'disabled_driver')
    @decorators.idempotent_id('33ac078f-d6cf-41a0-9e76-4cb2aa9a4973')
    def test_driver_by_a_disabled_one(self) -> None:
        self.assert_not_replaced('driver', flags.fixture().disabled_driver)

    @decorators.attr(type=['negative', 'magnum-patch'])
    @flags.needs('discovery.template.update-checked')
    @decorators.idempotent_id('c4a2994b-9a65-44ff-a578-fe8b0c54641c')
    def test_image_by_one_that_the_driver_does_not_provide(self) -> None:
        image = self.create_image(os_distro=discovery.NOBODY)

        self.assert_not_replaced('image_id', image['id'])

    @decorators.attr(type=['negative', 'magnum-patch'])
    @flags.needs('discovery.template.update-checked')
    @decorators.idempotent_id('5c3e261c-c5f4-4dc8-a508-68e3388b2888')
    def test_distro_by_one_that_the_driver_does_not_provide(self) -> None:
        self.assert_not_replaced('cluster_distro', discovery.NOBODY)

    @decorators.idempotent_id('208c6574-99d9-43dd-a9b7-eb62121954d2')
    @decorators.attr(type='magnum-patch')
    @flags.needs('discovery.template.update-checked', 'sole_distro',
                 'sole_driver')
    def test_distro_follows_the_image(self) -> None:
        if flags.fixture().sole_driver not in (
                CONF.magnum_capi.clashing_drivers):
            self.skipTest('sole_driver is not one of clashing_drivers')
        template = self.create_template_of(
            self.create_image(), flags.fixture().sole_driver)
        image = self.create_image(os_distro=flags.fixture().sole_distro)

        found = self.replace('image_id', image['id'], template)

        self.assertEqual(
            (flags.fixture().sole_driver, flags.fixture().sole_distro),
            (found['driver'], found['cluster_distro']))

    @decorators.idempotent_id('d2b6d2c9-b27e-4110-a244-43ddda0441c7')
    @decorators.attr(type='magnum-patch')
    @flags.needs('discovery.template.update-checked', 'sole_distro',
                 'sole_driver')
    def test_without_a_driver_it_is_chosen_again(self) -> None:
        template = self.create_template_of(
            self.create_image(os_distro=flags.fixture().sole_distro),
            flags.fixture().sole_driver)

        self.magnum.templates.update_cluster_template(
            template['uuid'], [{'op': 'remove', 'path': '/driver'}])

        self.assertEqual(flags.fixture().sole_driver,
                         self.show(template)['driver'])
