# SPDX-License-Identifier: Apache-2.0

"""Clusters outlive upgrades of Magnum, from the oldest to the newest.

In the steps that OpenStack supports: from the first release of a year to that
of the next (SLURP), and to the release after it. Needs the packages of
bindep's profile "full", because Magnum is upgraded by its migrations.
"""

import pathlib

from magnum_capi import waiting
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import seed
from magnum_capi_sandbox.cloud import services
from magnum_capi_sandbox import releases
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import model
from tests.functional import boxes
from tests.functional import cloud
from tests.system.sandbox import magnum_upgrade

DRIVER = pathlib.Path(__file__).resolve().parents[3] / 'drivers/k8s_capi_v1'
OLDEST = releases.RELEASES[0].name
STEPS = '2026.1', releases.NEWEST.name

#: Images by name: which driver and which version of Kubernetes they name.
#: Before 2026.2, templates of an image without a driver have none.
IMAGES = {
    'named': {'magnum_driver': DRIVER.name} | seed.IMAGES['ubuntu-capi'],
    'unnamed': seed.IMAGES['ubuntu-capi'],
    'next': {'magnum_driver': DRIVER.name} | seed.IMAGES['ubuntu-capi-1.35'],
}

CLUSTERS = '/apis/cluster.x-k8s.io/v1beta1/clusters'

PATIENCE = 600


@boxes.LONG
class UpgradeTest(boxes.TestCase):

    def setUp(self):
        super().setUp()
        self.box_ = self.box()
        self.assert_done(self.box_.up(
            '--profile', 'full', '--magnum', OLDEST, '--install',
            str(DRIVER)))
        self.sandbox = self.box_.sandbox
        layout = self.sandbox.layout()
        self.management = kube.Client(layout.kubeconfig)
        self.user = cloud.Cloud(self.sandbox)

    def wait(self, path, **wanted):
        """Wait until fields have these values; without any, until it is gone.

        A status alone may be the one that the cluster had before.

        :param path: of a cluster, or of one of its node groups.
        """
        def look():
            answer = self.user.magnum('GET', path)
            return {} if answer.status_code == 404 else answer.json()

        waiting.wait_for(
            look, timeout=PATIENCE,
            done=lambda seen: seen.items() >= wanted.items()
            if wanted else not seen,
            failed=lambda seen: seen.get('status_reason') or seen['status']
            if str(seen.get('status')).endswith('_FAILED') else None,
            what=f'{path} to be {wanted or "gone"}')

    def uids(self):
        """UIDs of the clusters in Cluster API, by name."""
        return {one['metadata']['name']: one['metadata']['uid']
                for one in self.management.items(CLUSTERS)}

    def template(self, image, **more):
        return self.user.make_template(
            name=image, image_id=self.images[image], **more)

    def create(self, template):
        """The path of a new cluster, which is complete."""
        uuid = self.user.create('c', cluster_template_id=template)
        self.wait(f'clusters/{uuid}', status='CREATE_COMPLETE')
        return f'clusters/{uuid}'

    def resize(self, cluster):
        count = self.user.ask('GET', cluster)['node_count'] + 1
        self.user.ask('POST', f'{cluster}/actions/resize',
                      {'node_count': count})
        # Its conductor stores the group's size before the cluster's status.
        self.wait(f'{cluster}/nodegroups/default-worker',
                  status='UPDATE_COMPLETE', node_count=count)
        self.wait(cluster, status='UPDATE_COMPLETE')

    def upgrade_kubernetes(self, cluster, template):
        self.user.upgrade(cluster.rpartition('/')[2], template)
        self.wait(cluster, status='UPDATE_COMPLETE',
                  cluster_template_id=template)

    def delete(self, cluster):
        self.user.ask('DELETE', cluster)
        self.wait(cluster)

    def test_from_the_oldest_to_the_newest(self):
        before = self.sandbox.snapshot()
        layout = self.sandbox.layout()
        venv = environment.location(environment.key())
        self.images = seed.add_images(
            layout, venv, services.environment(layout, venv),
            self.sandbox.passwords(), IMAGES)
        named, unnamed = (self.template(name) for name in ('named', 'unnamed'))
        clusters = [self.create(named), self.create(unnamed)]
        uids = self.uids()
        self.assertEqual(len(clusters), len(uids))

        for release in STEPS:
            self.assert_done(magnum_upgrade.upgrade(self.box_, release))
            # Keystone's tokens expire.
            self.user = cloud.Cloud(self.sandbox)
            answer = self.user.magnum('GET', '')
            self.assertIn(releases.get(release).microversion, answer.headers[
                'OpenStack-API-Maximum-Version'])
            for cluster in clusters:
                self.resize(cluster)
            self.assertEqual(uids, self.uids())

        # A cluster cannot change its driver.
        newer = self.template('next', driver=DRIVER.name)
        for cluster in clusters:
            self.upgrade_kubernetes(cluster, newer)
        self.assertEqual(uids, self.uids())
        clusters.append(self.create(unnamed))
        for cluster in clusters:
            self.delete(cluster)
        for template in named, unnamed, newer:
            self.user.ask('DELETE', f'clustertemplates/{template}')

        # Magnum's last migration drops the columns that name the trusts and
        # trustees of earlier clusters, so nothing deletes them: see
        # doc/source/deviations.rst.
        left = leaks.compare(
            before, self.sandbox.snapshot()).leaks
        self.assertEqual(
            2 * [model.TRUST] + 2 * [model.USER],
            sorted(one.thing.kind for one in left), left)
