# SPDX-License-Identifier: Apache-2.0

"""Clusters of drivers that provide the same type, and how Magnum mixes up."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import app_credentials
from magnum_capi_tempest.tests.common import discovery
from magnum_capi_tempest.tests.common import driver_marks
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF


class ClashTest(operations.BaseOperationsTest):
    """Clusters of two drivers, in one cloud at the same time."""

    needs = ('clashing_drivers',)
    # Two clusters are created, resized, upgraded and deleted.
    TIMEOUT_SCALING_FACTOR = 6

    def setUp(self) -> None:
        super().setUp()
        self.driver, self.other = CONF.magnum_capi.clashing_drivers[:2]

    def resize(self, cluster: json_types.Object, workers: int) -> None:
        if flags.can_resize():
            self.resize_cluster(cluster, workers, operations.WORKERS)
            self.assert_usable(cluster, workers)

    def create_newer_template(self, driver: str) -> json_types.Object | None:
        """Create a template for an upgrade, if there is an image for that."""
        return self.create_template(
            driver=driver, **factories.upgrade_changes(CONF)) if (
                CONF.magnum_capi.upgrade_image_id) else None

    def upgrade(self, cluster: json_types.Object,
                newer: json_types.Object | None, workers: int
                ) -> json_types.Object:
        """Upgrade a cluster to a template, if there is one; return it."""
        if not newer:
            return cluster
        cluster = self.with_new_version(self.upgrade_cluster(cluster, newer))
        self.assert_usable(cluster, workers)
        return cluster

    @flags.promise('discovery.clash.side-by-side')
    @decorators.idempotent_id('4061d64e-f288-4b45-8f78-49da851a84bf')
    def test_two_clusters_side_by_side(self) -> None:
        workers = CONF.magnum_capi.node_count
        more = workers + flags.can_resize()
        marks = driver_marks.Marks(
            self, flags.fixture(), (self.driver, self.other))
        # Before the clusters, and so deleted after them.
        newer = {driver: self.create_newer_template(driver)
                 for driver in (self.driver, self.other)}
        clusters = {
            driver: self.waiter.until_created(uuid)
            for driver, uuid in [
                (driver, self.request_cluster(
                    self.create_template(driver=driver),
                    keypair=self.create_keypair()))
                for driver in (self.driver, self.other)]}
        marks.assert_told_apart(clusters)
        # The first driver is the one under test.
        self.is_of_other_driver(clusters[self.other])

        for driver, cluster in clusters.items():
            with marks.served_by(driver, cluster):
                self.resize(cluster, more)
        for driver, cluster in clusters.items():
            with marks.served_by(driver, cluster):
                clusters[driver] = self.upgrade(
                    cluster, newer[driver], more)

        stays, goes = clusters[self.driver], clusters[self.other]
        with marks.deleted_by(self.other, goes):
            self.delete_cluster(goes)
        with marks.served_by(self.driver, stays):
            self.resize(stays, workers)

        with marks.deleted_by(self.driver, stays):
            self.delete_cluster(stays)

    @decorators.attr(type='magnum-rehoming')
    @flags.needs('discovery.upgrade.keeps-driver')
    @decorators.idempotent_id('66d458d0-c204-4903-aa28-536316886f83')
    def test_upgrade_keeps_the_driver(self) -> None:
        workers = CONF.magnum_capi.node_count
        template = self.create_template(driver=self.driver)
        of_other = self.create_template(driver=self.other)
        of_same = self.create_template(driver=self.driver)
        self.addCleanup(self.delete_application_credentials)
        cluster = self.create_cluster(template)

        # If Magnum accepts, the other driver owns the cluster from now on.
        self.assertRaises(
            lib_exc.BadRequest, self.request_upgrade, cluster, of_other)

        after = self.magnum.clusters.show_cluster(cluster['uuid'])
        self.assertEqual(
            (template['uuid'], 'CREATE_COMPLETE'),
            (after['cluster_template_id'], after['status']))
        self.resize(cluster, workers + 1)
        after = self.upgrade_cluster(cluster, of_same)
        self.assertEqual(of_same['uuid'], after['cluster_template_id'])

    def delete_application_credentials(self) -> None:
        """Delete leftovers in case the other driver deletes nothing.

        It may not know the cluster, but a secret with the rights of the user
        must not stay in Keystone.
        """
        for cluster in self._own_watch.clusters():
            app_credentials.delete_of_cluster(self.os_primary, cluster.ident)


class ShadowedDriverTest(discovery.BaseDiscoveryTest):
    """Magnum asks the driver that was registered last for the type.

    The images have no data: these tests only check whether Magnum accepts a
    cluster, which is then deleted at once.
    """

    attributes = ('slow',)

    # Node groups, which show the end of a creation, came with 1.9.
    min_microversion = '1.9'

    @decorators.attr(type=['magnum-d5', 'uncured'])
    @flags.needs('discovery.template.decides', 'beta_shadowed_distro',
                 'beta_shadowed_driver')
    @decorators.idempotent_id('4fae17d1-209c-46b8-9b07-c712d9aa8908')
    def test_a_beta_driver_stops_nobody(self) -> None:
        template = self.create_template_of(
            self.create_image(
                os_distro=flags.fixture().beta_shadowed_distro),
            flags.fixture().beta_shadowed_driver)

        self.request_small_cluster(template)

    @decorators.attr(type=['magnum-d7', 'uncured'])
    @flags.needs('discovery.template.decides', 'lax_distro',
                 'lax_shadowed_driver')
    @decorators.idempotent_id('411f724f-15a4-4b30-97eb-fa9d73a3b91b')
    def test_the_driver_of_the_template_judges_the_masters(self) -> None:
        template = self.create_template_of(
            self.create_image(os_distro=flags.fixture().lax_distro),
            flags.fixture().lax_shadowed_driver, master_lb_enabled=True)

        self.assert_cluster_refused(template, master_count=2)
