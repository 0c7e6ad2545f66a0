# SPDX-License-Identifier: Apache-2.0

"""Which driver does a cluster template get?

The rules are those of the specification improve-driver-discovery, as worded in
magnum-capi/magnum_capi/discovery/resolve.py. Magnum's answers differ between
releases, so tests check the status code, unless the text itself is promised.
"""

import itertools

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import discovery
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import images

CONF = config.CONF


class TwoDriversTest(discovery.BaseDiscoveryTest):
    """Two drivers provide the type of the configured image."""

    needs = ('clashing_drivers',)

    @decorators.attr(type='magnum-d1')
    @flags.needs('discovery.ambiguity.refused')
    @decorators.idempotent_id('c9bf816d-af4c-4549-8c22-60bfbff93b96')
    def test_nobody_is_taken_silently(self) -> None:
        self.assert_refused(self.create_image())

    @decorators.attr(type='magnum-d1')
    @flags.needs('discovery.ambiguity.refused')
    @decorators.idempotent_id('c9c7d7c6-0225-4690-b7b5-e210a5e0649e')
    def test_refusal_names_the_candidates(self) -> None:
        error = self.assert_refused(self.create_image())

        for driver in CONF.magnum_capi.clashing_drivers:
            self.assertIn(driver, str(error))

    @flags.needs('discovery.ambiguity.first-taken')
    @decorators.idempotent_id('c7ad1c38-c61b-45ce-a0eb-17b8059692ee')
    def test_the_first_by_name_is_taken(self) -> None:
        self.assert_driver(min(CONF.magnum_capi.clashing_drivers),
                           self.create_image())

    @flags.needs('magnum.template.keeps-driver')
    @decorators.idempotent_id('0a36e6b2-cfd2-4423-88c1-fc791825fd14')
    def test_template_chooses(self) -> None:
        image = self.create_image()

        for driver in CONF.magnum_capi.clashing_drivers:
            self.assert_driver(driver, image, driver)

    @decorators.idempotent_id('4cbc10d8-0ba1-4883-911b-fab0603fc887')
    def test_image_chooses(self) -> None:
        for driver in CONF.magnum_capi.clashing_drivers:
            self.assert_driver(driver, self.create_image(
                magnum_driver=driver))

    @flags.needs('magnum.template.keeps-driver')
    @decorators.idempotent_id('192c84ce-f5fe-4297-bbaf-574ed8ff246d')
    def test_template_beats_image(self) -> None:
        pairs = itertools.permutations(CONF.magnum_capi.clashing_drivers, 2)
        for tagged, wanted in pairs:
            self.assert_driver(
                wanted, self.create_image(magnum_driver=tagged), wanted)

    @flags.needs('magnum.template.keeps-driver')
    @decorators.idempotent_id('e1840906-3ce1-4031-bde6-803c7c2dcbc0')
    def test_template_beats_an_image_that_names_nobody(self) -> None:
        driver = CONF.magnum_capi.clashing_drivers[0]

        self.assert_driver(driver, self.create_image(
            magnum_driver=discovery.NOBODY), driver)


class OneDriverTest(discovery.BaseDiscoveryTest):
    """Only one driver provides a type."""

    needs = ('sole_distro', 'sole_driver')

    def create_sole_image(self, **changes: str) -> json_types.Object:
        return self.create_image(
            os_distro=flags.fixture().sole_distro, **changes)

    @decorators.attr(type='magnum-d2')
    @flags.needs('discovery.type.sole-provider')
    @decorators.idempotent_id('54f4a1a0-8ea4-465e-90bd-476dd57f9bb3')
    def test_it_is_chosen(self) -> None:
        self.assert_driver(
            flags.fixture().sole_driver, self.create_sole_image())

    @decorators.attr(type='magnum-d2')
    @flags.needs('discovery.type.sole-provider')
    @decorators.idempotent_id('a33cfaaa-a711-48e7-8c08-f7ce8b09ab11')
    def test_an_empty_name_is_none(self) -> None:
        self.assert_driver(flags.fixture().sole_driver,
                           self.create_sole_image(magnum_driver=''))

    @decorators.attr(type='magnum-d9')
    @flags.needs('discovery.name.trimmed')
    @decorators.idempotent_id('88c6d70f-96a8-4bd6-ba88-394620bb62cf')
    def test_a_blank_name_is_none(self) -> None:
        self.assert_driver(flags.fixture().sole_driver,
                           self.create_sole_image(magnum_driver='  '))

    @decorators.attr(type='magnum-d9')
    @flags.needs('discovery.name.trimmed')
    @decorators.idempotent_id('997c924f-42af-47ee-905a-93a12a0fbcd0')
    def test_blanks_around_a_name_do_not_count(self) -> None:
        driver = flags.fixture().sole_driver

        self.assert_driver(
            driver, self.create_sole_image(magnum_driver=f' {driver} '))

    @flags.needs('magnum.template.keeps-driver')
    @decorators.idempotent_id('faf5fee3-81a1-4477-89dd-2381d6cc0f79')
    def test_template_and_image_may_name_it(self) -> None:
        driver = flags.fixture().sole_driver

        self.assert_driver(driver, self.create_sole_image(), driver)
        self.assert_driver(
            driver, self.create_sole_image(magnum_driver=driver))


class UnusableDriverTest(discovery.BaseDiscoveryTest):
    """An unusable driver is named."""

    def assert_refused_by_template(self, driver: str, **changes: str) -> None:
        self.assert_refused(self.create_image(**changes), driver)

    def assert_refused_by_image(self, driver: str, **changes: str) -> None:
        self.assert_refused(self.create_image(
            magnum_driver=driver, **changes))

    @decorators.attr(type='negative')
    @flags.needs('magnum.template.keeps-driver')
    @decorators.idempotent_id('96f9abda-0d61-4001-8f57-d26271509706')
    def test_missing_driver_of_template(self) -> None:
        self.assert_refused_by_template(discovery.NOBODY)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('458697a3-9e93-4bc6-9e9e-780ca5289a9c')
    def test_missing_driver_of_image(self) -> None:
        self.assert_refused_by_image(discovery.NOBODY)

    @decorators.attr(type=['negative', 'magnum-d3'])
    @flags.needs('magnum.template.keeps-driver',
                 'discovery.type.must-be-provided', 'mismatched_driver')
    @decorators.idempotent_id('c792df09-d248-48d5-bfb2-11a0674fc0d1')
    def test_mismatched_driver_of_template(self) -> None:
        self.assert_refused_by_template(flags.fixture().mismatched_driver)

    @decorators.attr(type=['negative', 'magnum-d3'])
    @flags.needs('discovery.type.must-be-provided', 'mismatched_driver')
    @decorators.idempotent_id('93ba54b8-f84f-4c46-ae68-a248f110f113')
    def test_mismatched_driver_of_image(self) -> None:
        self.assert_refused_by_image(flags.fixture().mismatched_driver)

    @decorators.attr(type=['negative', 'magnum-d4'])
    @flags.needs('magnum.template.keeps-driver', 'discovery.disabled.refused',
                 'disabled_driver')
    @decorators.idempotent_id('4acc4cca-a261-4abd-8fa6-52271623afa7')
    def test_disabled_driver_of_template(self) -> None:
        self.assert_refused_by_template(flags.fixture().disabled_driver)

    @decorators.attr(type=['negative', 'magnum-d4'])
    @flags.needs('discovery.disabled.refused',
                 'disabled_driver')
    @decorators.idempotent_id('39006ff6-44f4-4c87-8912-20086f240cda')
    def test_disabled_driver_of_image(self) -> None:
        self.assert_refused_by_image(flags.fixture().disabled_driver)

    @decorators.attr(type=['negative', 'magnum-d5'])
    @flags.needs('magnum.template.keeps-driver', 'discovery.beta.refused',
                 'beta_driver', 'beta_shadowed_distro')
    @decorators.idempotent_id('dff73e3b-fc5b-4443-99a4-8b602fe3932f')
    def test_beta_driver_of_template(self) -> None:
        self.assert_refused_by_template(
            flags.fixture().beta_driver,
            os_distro=flags.fixture().beta_shadowed_distro)

    @decorators.attr(type=['negative', 'magnum-d5'])
    @flags.needs('discovery.beta.refused',
                 'beta_driver', 'beta_shadowed_distro')
    @decorators.idempotent_id('d554fae1-af0d-43d8-b86b-8ae119f04218')
    def test_beta_driver_of_image(self) -> None:
        self.assert_refused_by_image(
            flags.fixture().beta_driver,
            os_distro=flags.fixture().beta_shadowed_distro)

    @decorators.attr(type=['negative', 'magnum-d8'])
    @flags.needs('magnum.template.keeps-driver', 'discovery.broken.isolated',
                 'broken_driver')
    @decorators.idempotent_id('f0852e62-f34a-4c35-9037-28e7eaa1d44a')
    def test_broken_driver_of_template(self) -> None:
        self.assert_refused_by_template(flags.fixture().broken_driver)

    @decorators.attr(type=['negative', 'magnum-d8'])
    @flags.needs('discovery.broken.isolated',
                 'broken_driver')
    @decorators.idempotent_id('9bfe9029-0df3-4e29-9785-daca76ca790c')
    def test_broken_driver_of_image(self) -> None:
        self.assert_refused_by_image(flags.fixture().broken_driver)


class UnknownTypeTest(discovery.BaseDiscoveryTest):
    """No driver provides the type, whatever the request says."""

    @decorators.attr(type=['negative', 'magnum-d2'])
    @flags.needs('discovery.type.must-be-provided')
    @decorators.idempotent_id('782e66f8-2fb3-4f8f-95d4-307dd169eba6')
    def test_nobody_provides_it(self) -> None:
        self.assert_refused(self.create_image(os_distro=discovery.NOBODY))

    @decorators.attr(type=['negative', 'magnum-d11'])
    @flags.needs('magnum.template.keeps-driver',
                 'discovery.type.must-be-provided', 'clashing_drivers')
    @decorators.idempotent_id('2ad4bfdc-6c0c-41f6-85b7-bd650e49702b')
    def test_distro_and_driver_of_the_request_do_not_hide_the_image(self
                                                                    ) -> None:
        self.assert_refused(
            self.create_image(os_distro=discovery.NOBODY),
            CONF.magnum_capi.clashing_drivers[0], cluster_distro=self.distro)

    @flags.needs('clashing_drivers')
    @decorators.idempotent_id('04135dc0-7d70-4afe-af63-e7a464a01e58')
    def test_the_image_decides_and_not_the_request(self) -> None:
        template = self.create_template_of(
            self.create_image(), CONF.magnum_capi.clashing_drivers[0],
            cluster_distro=discovery.NOBODY)

        self.assertEqual(self.distro, template['cluster_distro'])


class MagnumDistroTest(discovery.BaseDiscoveryTest):
    """The operating system of an image by Magnum's own name."""

    def assert_distro(self, expected: str, image: json_types.Object,
                      driver: str | None) -> None:
        template = self.create_template_of(image, driver)
        found = self.magnum.templates.show_cluster_template(template['uuid'])
        self.assertEqual(
            (expected, expected),
            (template['cluster_distro'], found['cluster_distro']))

    @decorators.attr(type='magnum-d6')
    @flags.needs('discovery.distro.magnum-distro', 'clashing_drivers')
    @decorators.idempotent_id('79a7039f-35f1-4d35-bb91-f12567df25b2')
    def test_it_counts_before_os_distro(self) -> None:
        image = self.create_image(
            os_distro=discovery.NOBODY, magnum_distro=self.distro)

        self.assert_distro(
            self.distro, image, CONF.magnum_capi.clashing_drivers[0])

    @decorators.attr(type='magnum-d6')
    @flags.needs('discovery.distro.magnum-distro', 'sole_distro',
                 'sole_driver')
    @decorators.idempotent_id('a0d4f091-f2af-4706-a4c2-97182687023c')
    def test_it_chooses_the_driver(self) -> None:
        image = self.create_image(
            magnum_distro=flags.fixture().sole_distro)

        self.assert_distro(flags.fixture().sole_distro, image, None)
        self.assert_driver(flags.fixture().sole_driver, image)

    @decorators.attr(type=['negative', 'magnum-d6'])
    @flags.needs('discovery.distro.magnum-distro', 'clashing_drivers')
    @decorators.idempotent_id('0e460efe-e9f7-4666-9c1d-010753855129')
    def test_an_unknown_one_is_not_passed_over(self) -> None:
        self.assert_refused(
            self.create_image(magnum_distro=discovery.NOBODY),
            CONF.magnum_capi.clashing_drivers[0])

    @flags.needs('clashing_drivers')
    @decorators.idempotent_id('68c1d1d9-8877-4c01-89a9-ae8cfefb3d20')
    def test_with_the_same_os_distro(self) -> None:
        self.assert_distro(
            self.distro, self.create_image(magnum_distro=self.distro),
            CONF.magnum_capi.clashing_drivers[0])

    @flags.needs('clashing_drivers')
    @decorators.idempotent_id('49b1e2b5-1485-4f03-93ea-92ae5e552992')
    def test_a_blank_one_is_none(self) -> None:
        self.assert_distro(
            self.distro, self.create_image(magnum_distro=' '),
            CONF.magnum_capi.clashing_drivers[0])

    @decorators.attr(type=['magnum-d6', 'uncured'])
    @flags.needs('discovery.distro.magnum-distro-alone', 'magnum_distro_image')
    @decorators.idempotent_id('7dc699cd-1597-4071-a23a-8f73e990ab27')
    def test_it_is_enough(self) -> None:
        # No image of this test: the workaround is to fix the images, and then
        # this one passes.
        image = images.find(self.os_primary.image_client_v2,
                            flags.fixture().magnum_distro_image)

        self.assert_distro(image['magnum_distro'], image, None)
