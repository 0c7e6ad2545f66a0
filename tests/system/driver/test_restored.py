# SPDX-License-Identifier: Apache-2.0

"""Helm next to the driver, and a management cluster without Helm's records.

"clusterctl move" leaves these behind.

The API server and helm are real, but there are no controllers of Cluster API:
the objects' uids show that none is replaced.
"""

import dataclasses
import os
import shutil

import testtools

from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver import upgrading
from magnum_capi.kube import access
from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from tests.functional.driver import test_helm as real_helm
from tests.functional.driver import test_rbac
from tests.functional import real_api
from tests.unit.driver import small_world

#: What "clusterctl move" moves.
MOVED = ('Cluster', 'KubeadmControlPlane', 'MachineDeployment',
         'OpenStackCluster', 'KubeadmConfigTemplate',
         'OpenStackMachineTemplate', 'MachineHealthCheck')
#: What it leaves behind.
LEFT = ('HelmRelease', 'Manifests')

#: Groups of Cluster API itself.
GONE = ('cluster.x-k8s.io', 'bootstrap.cluster.x-k8s.io',
        'controlplane.cluster.x-k8s.io')
DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'


class Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.patch(app_credentials, 'check', lambda *_: 'VALID')
        self.api = self.useFixture(real_api.RealApi())
        self.admin = rest.Rest(access.load(self.api.kubeconfig))
        test_rbac.define(self.admin)
        self.life = test_rbac.Life(
            self.admin, rest.Rest(access.load(self.api.kubeconfig)),
            self.api.kubeconfig, self.chart(),
            self.useFixture)
        self.addCleanup(self.life.cached.stop)

    def chart(self):
        return (os.environ.get('MAGNUM_CAPI_PUBLISHED_CHART')
                or real_helm.chart().name)

    def objects(self, kind):
        return {obj['metadata']['name']: obj['metadata']['uid']
                for obj in self.life.kube.list(kind, self.life.namespace)}

    def resize(self, size):
        row = self.life.magnum.row(small_world.WORKERS)
        row.node_count = size
        self.life.operations().change(row, group=row)

    def deployment(self):
        """The MachineDeployment of the workers."""
        return self.life.kube.get(
            'MachineDeployment', self.life.namespace,
            names.machine_deployment(
                small_world.RELEASE, names.node_group(small_world.WORKERS)))

    def replicas(self):
        return self.deployment()['spec']['replicas']


class RestoredTest(Base):

    def test_helm_keeps_the_annotations_of_the_autoscaler(self):
        """Annotations outside of the chart survive a later revision."""
        self.life.runtime = dataclasses.replace(
            self.life.runtime, options=dataclasses.replace(
                self.life.runtime.options, scale_from_zero=True))
        self.life.magnum.rows.groups[small_world.WORKERS].update(
            max_node_count=5, labels={'auto_scaling_enabled': 'true'})
        self.life.create()
        self.assertEqual('4096Mi', self.told())
        self.life.runtime = dataclasses.replace(
            self.life.runtime, options=dataclasses.replace(
                self.life.runtime.options, scale_from_zero=False))
        self.life.change()
        self.assertEqual(2, len(self.helms()))
        self.assertEqual('4096Mi', self.told())

    def told(self):
        return self.deployment()['metadata']['annotations'][
            f'{node_groups.CAPACITY}/memory']

    def helms(self):
        return [name for name in self.objects('Secret')
                if name.startswith('sh.helm.')]

    def test_the_autoscaler_goes_on_from_the_size_that_was_requested(self):
        """The driver sets it once, and no later revision changes it."""
        self.life.magnum.rows.groups[small_world.WORKERS].update(
            node_count=3, min_node_count=1, max_node_count=6,
            labels={'auto_scaling_enabled': 'true'})
        self.life.create()
        self.assertEqual(3, self.replicas())
        self.life.kube.scale(self.life.namespace, names.machine_deployment(
            small_world.RELEASE, names.node_group(small_world.WORKERS)), 5)

        self.life.change()

        self.assertEqual((2, 5), (len(self.helms()), self.replicas()))

    def test_next_change_installs_the_release_over_what_is_there(self):
        self.life.create()
        before = {kind: self.objects(kind) for kind in MOVED}
        addons = {kind: set(self.objects(kind)) for kind in LEFT}
        self.assertTrue(all(before.values()), before)
        self.assertTrue(all(addons.values()), addons)
        for name in self.helms():
            self.life.admin.delete('Secret', self.life.namespace, name)
        for kind in LEFT:
            for name in self.objects(kind):
                self.life.admin.delete(kind, self.life.namespace, name)
        self.assertEqual([], self.helms())

        self.resize(2)

        self.assertEqual(before, {
            kind: self.objects(kind) for kind in MOVED})
        self.assertEqual(addons, {
            kind: set(self.objects(kind)) for kind in LEFT})
        record, = self.helms()
        self.assertNotIn(releases.ADOPTED, self.life.admin.get(
            'Secret', self.life.namespace, record)['metadata']['labels'])
        self.assertEqual(2, self.replicas())


class VersionTest(Base):
    """Cluster API stops serving the version that a cluster was made in."""

    def setUp(self):
        super().setUp()
        self.life.create()
        self.before = {kind: self.objects(kind) for kind in MOVED}
        self.assertTrue(all(self.before.values()), self.before)
        for kind, (group, plural) in kinds.DISCOVERED.items():
            if kind in MOVED and group in GONE:
                self.admin.request(
                    'PATCH', f'{DEFINITIONS}/{plural}.{group}', body=[{
                        'op': 'replace', 'path': '/spec/versions/1/served',
                        'value': False}],
                    content_type='application/json-patch+json')

    def chart(self):
        return str(shutil.copytree(
            real_helm.chart().name, self.api.folder / 'chart'))

    def test_a_newer_chart_changes_the_cluster(self):
        for path in (self.api.folder / 'chart' / 'templates').iterdir():
            text = path.read_text()
            for group in GONE:
                text = text.replace(f'apiVersion: {group}/v1beta1',
                                    f'apiVersion: {group}/v1beta2')
            path.write_text(text)

        upgrading.Upgrade(
            self.life.reconciler(),
            self.life.store.template(small_world.NEWER),
            self.life.magnum.row(small_world.WORKERS)).run()
        # It also applies the upgrade.
        self.resize(2)

        self.assertEqual(2, self.replicas())
        for kind, there in self.before.items():
            if 'Template' not in kind:
                self.assertEqual(there, self.objects(kind))

    def test_the_cluster_can_be_deleted(self):
        self.life.delete()
        self.life.end()
        self.assertEqual({kind: {} for kind in MOVED}, {
            kind: self.objects(kind) for kind in MOVED})
