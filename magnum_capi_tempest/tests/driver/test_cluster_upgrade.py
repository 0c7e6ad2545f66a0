# SPDX-License-Identifier: Apache-2.0

"""Upgrade of a cluster to an image with a newer Kubernetes."""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

UNUSABLE = 'upgrade.cluster.unusable-image-refused'


@flags.promise('upgrade.cluster.nameless-template')
class NamelessTest(operations.BaseOperationsTest):
    """Templates from before Magnum 23 name no driver."""

    needs = ('upgrade_image_id', 'nameless_os_distro')

    def create_nameless_template(self, option: str) -> json_types.Object:
        """Create a template for which Magnum chooses the driver by type."""
        image = self.create_image_like(
            option, os_distro=CONF.magnum_capi.nameless_os_distro)
        template = self.create_template(image_id=image['id'])
        nameless: json_types.Object = (
            self.magnum.templates.update_cluster_template(
                template['uuid'], [{'op': 'remove', 'path': '/driver'}]))
        self.assertIsNone(nameless['driver'])
        return nameless

    @decorators.idempotent_id('7a190f6d-c08c-4165-b899-0ffeb4124327')
    def test_their_clusters_can_be_upgraded(self) -> None:
        named = self.create_template(
            **factories.upgrade_changes(CONF))
        cluster = self.create_cluster(
            self.create_nameless_template('image_id'))

        cluster = self.upgrade_cluster(cluster, named)

        self.assertEqual((named['uuid'], 'UPDATE_COMPLETE'), (
            cluster['cluster_template_id'], cluster['status']))
        self.assert_usable(self.with_new_version(cluster))


@flags.promise('lifecycle.cluster.remembers-version')
class RememberTest(operations.BaseOperationsTest):
    """Only an upgrade changes the version of a cluster."""

    needs = ('upgrade_image_id', flags.RESIZE)

    @decorators.idempotent_id('0f3d9a61-6e3c-4b3a-8d0a-57b1c2e94f86')
    def test_image_with_another_version_later(self) -> None:
        if CONF.magnum_capi_feature_enabled.real_nodes:
            self.skipTest('[magnum_capi_feature_enabled] real_nodes is true: '
                          'servers cannot boot from the image of this test')
        newer = self._properties('upgrade_image_id').get('kube_version')
        if not newer:
            self.skipTest('The image of upgrade_image_id has no kube_version')
        image = self.create_image_like('image_id')
        cluster = self.create_cluster(
            self.create_template(image_id=image['id']))
        workers = CONF.magnum_capi.node_count + 1
        self.os_primary.image_client_v2.update_image(image['id'], [
            {'replace': '/kube_version', 'value': newer}])

        before = self.waiter.before(cluster['uuid'], operations.WORKERS)
        self.magnum.clusters.resize_cluster(
            cluster['uuid'], node_count=workers,
            nodegroup=operations.WORKERS)
        after = self.waiter.until_updated(cluster['uuid'], before, workers)

        self.assertEqual(
            cluster['coe_version'], after['coe_version'],
            'A resize has changed the version of Kubernetes')
        self.assert_usable(after, workers)


class UpgradeTest(operations.BaseOperationsTest):
    """All tests share a cluster, which the first test upgrades."""

    needs = ('upgrade_image_id',)

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.old = cls.create_class_template()
        cls.new = cls.create_class_template(
            **factories.upgrade_changes(CONF))
        # Before the cluster, too: a driver that accepts one keeps it in use.
        cls.unusable = cls.create_unusable_templates()
        cls.cluster = cls.create_class_cluster(cls.old)
        cls.old_version = cls.cluster['coe_version']

    @classmethod
    def create_unusable_templates(cls) -> list[json_types.Object]:
        """Create templates with images to which nothing can be upgraded.

        :returns: of one without a version, and of one with a version that is
            far ahead; empty if the image of the cluster has no version.
        """
        if (flags.not_promised(UNUSABLE)
                or 'kube_version' not in cls._properties('image_id')):
            return []
        return [
            cls.create_class_template(image_id=cls.create_class_image(
                'image_id', kube_version=version)['id'])
            for version in (None, 'v1.99.0')]

    def upgraded(self) -> json_types.Object:
        """Return the upgraded cluster, whichever test runs first."""
        cluster: json_types.Object = self.magnum.clusters.show_cluster(
            self.cluster['uuid'])
        if cluster['cluster_template_id'] == self.new['uuid']:
            return cluster
        # Some drivers report COMPLETE before there is a control plane.
        self.assert_usable(cluster)
        return self.upgrade_cluster(cluster, self.new)

    @flags.promise('upgrade.cluster.newer-image')
    @decorators.idempotent_id('2a444494-a541-44be-837f-6e881706f92f')
    def test_newer_image(self) -> None:
        cluster = self.upgraded()

        self.assertEqual(
            (self.new['uuid'], 'UPDATE_COMPLETE'),
            (cluster['cluster_template_id'], cluster['status']))
        cluster = self.with_new_version(cluster)
        self.assertNotEqual(self.old_version, cluster['coe_version'])
        # All nodes now have the version that Magnum reports.
        self.assert_usable(cluster)

    @flags.promise('upgrade.cluster.downgrade-refused')
    @decorators.idempotent_id('ea0e7594-8fa9-4b30-8833-4ae5c2ef8203')
    def test_older_image_is_refused(self) -> None:
        cluster = self.upgraded()

        self.assert_upgrade_refused(cluster, self.old)

        self.assert_usable(cluster)

    @decorators.attr(type='negative')
    @flags.promise(UNUSABLE)
    @decorators.idempotent_id('45cc5760-a815-4fb6-ba3c-bc9b085a13de')
    def test_unusable_image_is_refused(self) -> None:
        if not self.unusable:
            self.skipTest('The image of image_id has no kube_version')
        cluster = self.magnum.clusters.show_cluster(self.cluster['uuid'])

        for template in self.unusable:
            self.assert_upgrade_refused(cluster, template)

        self.assert_usable(cluster)
