# SPDX-License-Identifier: Apache-2.0

"""Driver discovery when Magnum's configuration changes.

The classes are serial: no other test runs while Magnum restarts. They wait for
the classes that are running. Those of the API, where these tests are, are
short, while some scenarios take minutes.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import discovery
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF


@decorators.serial
class RestartedTest(discovery.BaseDiscoveryTest):
    """Magnum is restarted with other options of [drivers]."""

    attributes = ('slow',)

    # Node groups came with 1.9.
    min_microversion = '1.9'
    needs = ('clashing_drivers', 'configure_command')
    # One cluster, and several restarts.
    TIMEOUT_SCALING_FACTOR = 4

    def setUp(self) -> None:
        super().setUp()
        self.driver, self.other = CONF.magnum_capi.clashing_drivers[:2]
        self.configuration = discovery.Configuration(
            CONF.magnum_capi.configure_command, self.addCleanup)

    def disable_too(self, driver: str) -> None:
        """Disable a driver in addition to the one that always is."""
        names = filter(None, (flags.fixture().disabled_driver, driver))
        self.configuration.set(disabled_drivers=','.join(names))

    @flags.needs('magnum.template.keeps-driver')
    @decorators.idempotent_id('716a0b8f-f656-4d43-a19f-f72599453926')
    def test_clusters_outlive_another_default(self) -> None:
        self.configuration.set(default_driver=self.driver)
        template = self.create_template(driver=None)
        self.assertEqual(self.driver, template['driver'])
        cluster = self.create_cluster(template)

        self.configuration.set(default_driver=self.other)

        self.assert_driver(self.other, self.create_image())
        kept = self.magnum.templates.show_cluster_template(template['uuid'])
        self.assertEqual(self.driver, kept['driver'])
        if flags.can_resize():
            self.resize_cluster(
                cluster, CONF.magnum_capi.node_count + 1, waiters.WORKERS)
        self.delete_cluster(cluster)

    @decorators.attr(type='magnum-d2')
    @flags.needs('discovery.type.sole-provider', 'mismatched_driver',
                 'sole_distro', 'sole_driver')
    @decorators.idempotent_id('a3f80bad-b6c2-405f-9233-369eba8b9dfb')
    def test_a_default_does_not_replace_the_only_driver(self) -> None:
        self.configuration.set(
            default_driver=flags.fixture().mismatched_driver)

        self.assert_driver(
            flags.fixture().sole_driver,
            self.create_image(os_distro=flags.fixture().sole_distro))

    @decorators.attr(type='magnum-d1')
    @flags.needs('discovery.ambiguity.refused', 'mismatched_driver')
    @decorators.idempotent_id('eef31d41-79cf-498a-9e89-48d7461a9b48')
    def test_a_default_that_does_not_provide_the_type_is_none(self) -> None:
        self.configuration.set(
            default_driver=flags.fixture().mismatched_driver)

        self.assert_refused(self.create_image())

    @decorators.attr(type='magnum-d4')
    @flags.needs('discovery.disabled.refused')
    @decorators.idempotent_id('e59b14f0-42cb-4f37-ad96-43066e5dcf0f')
    def test_a_template_is_older_than_the_end_of_its_driver(self) -> None:
        template = self.create_template_of(self.create_image(), self.other)

        self.disable_too(self.other)

        self.assert_cluster_refused(template)

    @flags.needs('beta_driver', 'beta_shadowed_distro')
    @decorators.idempotent_id('9e98240d-6f0c-48f1-9fda-f5aa56c15f29')
    def test_a_beta_driver_that_is_enabled(self) -> None:
        self.configuration.set(
            enabled_beta_drivers=flags.fixture().beta_driver)

        self.assert_driver(
            flags.fixture().beta_driver, self.create_image(
                os_distro=flags.fixture().beta_shadowed_distro),
            flags.fixture().beta_driver)


@decorators.serial
class BrokenDriverTest(discovery.BaseDiscoveryTest):
    """A driver is installed that cannot be loaded."""

    attributes = ('slow',)
    needs = ('broken_driver', 'configure_command')

    @decorators.attr(type=['magnum-d8', 'uncured'])
    @flags.needs('discovery.broken.isolated', 'sole_distro', 'sole_driver')
    @decorators.idempotent_id('69adc6d8-0e24-4ac4-ac34-7aa231711b90')
    def test_a_fresh_magnum_serves_the_other_drivers(self) -> None:
        configuration = discovery.Configuration(
            CONF.magnum_capi.configure_command, self.addCleanup)
        image = self.create_image(os_distro=flags.fixture().sole_distro)
        driver = flags.fixture().sole_driver

        # Magnum loads its drivers at the first request that needs one.
        configuration.set(default_driver=driver)

        self.assert_driver(driver, image, driver)
