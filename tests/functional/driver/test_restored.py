# SPDX-License-Identifier: Apache-2.0

"""Helm next to the driver, and a management cluster without Helm's records.

"clusterctl move" leaves these behind.

The API server and helm are real, but there are no controllers of Cluster API:
the objects' uids show that none is replaced.
"""

import dataclasses
import os

import testtools

from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import rotation
from magnum_capi.kube import access
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


class RestoredTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.patch(rotation, 'check', lambda *_: 'VALID')
        self.api = self.useFixture(real_api.RealApi())
        test_rbac.define(rest.Rest(access.load(self.api.kubeconfig)))
        admin = rest.Rest(access.load(self.api.kubeconfig))
        self.life = test_rbac.Life(
            admin, rest.Rest(access.load(self.api.kubeconfig)),
            self.api.kubeconfig,
            os.environ.get('MAGNUM_CAPI_PUBLISHED_CHART')
            or real_helm.chart().name)
        self.addCleanup(self.life.looks.stop)

    def objects(self, kind):
        return {obj['metadata']['name']: obj['metadata']['uid']
                for obj in self.life.kube.list(kind, self.life.namespace)}

    def test_helm_leaves_what_the_autoscaler_is_told(self):
        """Annotations outside of the chart survive a later revision."""
        self.life.runtime = dataclasses.replace(
            self.life.runtime, settings=dataclasses.replace(
                self.life.runtime.settings, scale_from_zero=True))
        self.life.store.node_groups[small_world.WORKERS].update(
            max_node_count=5, labels={'auto_scaling_enabled': 'true'})
        self.life.create()
        self.assertEqual('4096Mi', self.told())
        self.life.runtime = dataclasses.replace(
            self.life.runtime, settings=dataclasses.replace(
                self.life.runtime.settings, scale_from_zero=False))
        self.life.change()
        self.assertEqual(2, len(self.helms()))
        self.assertEqual('4096Mi', self.told())

    def told(self):
        found = self.life.kube.get(
            'MachineDeployment', self.life.namespace,
            names.machine_deployment(
                small_world.RELEASE, names.node_group(small_world.WORKERS)))
        return found['metadata']['annotations'][
            f'{node_groups.CAPACITY}/memory']

    def helms(self):
        return [name for name in self.objects('Secret')
                if name.startswith('sh.helm.')]

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

        row = self.life.store.row(small_world.WORKERS)
        row.node_count = 2
        test_rbac.operations.Operations(
            self.life.runtime, self.life.store, self.life.store.row()).change(
                row, group=row)

        self.assertEqual(before, {
            kind: self.objects(kind) for kind in MOVED})
        self.assertEqual(addons, {
            kind: set(self.objects(kind)) for kind in LEFT})
        record, = self.helms()
        self.assertNotIn(releases.ADOPTED, self.life.admin.get(
            'Secret', self.life.namespace, record)['metadata']['labels'])
        deployment = self.life.kube.get(
            'MachineDeployment', self.life.namespace,
            names.machine_deployment(
                small_world.RELEASE, names.node_group(small_world.WORKERS)))
        self.assertEqual(2, deployment['spec']['replicas'])
