# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import graph

CORE = 'cluster.x-k8s.io/v1beta2'
INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io/v1beta1'


def ref(kind, name='c1', controller=None, version=CORE):
    found = {'apiVersion': version, 'kind': kind, 'name': name}
    return {**found, 'controller': True} if controller else found


def obj(kind, name='c1', refs=(), finalizers=(), version='1', api=CORE,
        **body):
    return capi_objects.Found(kind, f'/{kind}/{name}', {
        'apiVersion': api, 'kind': kind, **body,
        'metadata': {'name': name, 'ownerReferences': list(refs),
                     'finalizers': list(finalizers),
                     'resourceVersion': version}})


class OwnersTest(testtools.TestCase):

    def test_all_are_owned_as_they_should(self):
        self.assertEqual([], graph.misowned([
            obj('Cluster'),
            obj('MachineDeployment', refs=[ref('Cluster')]),
            obj('MachineSet', refs=[ref('MachineDeployment',
                                        controller=True)]),
            obj('Machine', refs=[ref('KubeadmControlPlane',
                                     controller=True)]),
            obj('KubeadmConfig', refs=[ref('Machine', controller=True)]),
            obj('OpenStackCluster', refs=[ref('Cluster')],
                api=INFRASTRUCTURE),
            obj('OpenStackMachine', refs=[ref('Machine', controller=True)],
                api=INFRASTRUCTURE),
            obj('OpenStackMachineTemplate', refs=[ref('Cluster')],
                api=INFRASTRUCTURE),
            obj('HelmRelease', api='addons.stackhpc.com/v1alpha1')]))

    def test_nobody_and_no_controller_and_the_wrong_one(self):
        self.assertEqual([
            'MachineDeployment c1 is not owned by a Cluster, but by nobody',
            'MachineSet c1 is not controlled by a MachineDeployment, but by '
            'MachineDeployment c1',
            'DevMachine c1 is not controlled by a Machine, but by Cluster c1',
        ], graph.misowned([
            obj('MachineDeployment'),
            obj('MachineSet', refs=[ref('MachineDeployment')]),
            obj('DevMachine', refs=[ref('Cluster', controller=True)],
                api=INFRASTRUCTURE)]))

    def test_an_owner_of_another_version_is_another_one(self):
        # One that is gone has lost nothing.
        before = [obj('HelmRelease', refs=[ref('Cluster')]),
                  obj('Machine', 'a', refs=[ref('MachineSet')])]
        after = [obj('HelmRelease', refs=[
            ref('Cluster', version='cluster.x-k8s.io/v1alpha1')])]

        self.assertEqual(['HelmRelease c1 has lost Cluster c1'],
                         graph.lost(before, after, graph.owners))


class FinalizersTest(testtools.TestCase):

    def test_those_of_cluster_api(self):
        self.assertEqual(
            ['Machine c1 lacks the finalizer machine.cluster.x-k8s.io'],
            graph.unfinalized([
                obj('Cluster', finalizers=['cluster.cluster.x-k8s.io']),
                obj('Machine', finalizers=['example.com/other']),
                obj('MachineHealthCheck')]))

    def test_those_of_others_come_back(self):
        before = [obj('OpenStackMachine', finalizers=['one', 'two'])]
        after = [obj('OpenStackMachine', finalizers=['two'])]

        self.assertEqual(['OpenStackMachine c1 has lost one'],
                         graph.lost(before, after, graph.finalizers))


class ChangesTest(testtools.TestCase):

    def test_new_gone_and_written(self):
        self.assertEqual(
            ['Machine b is new', 'Machine a is gone',
             'Cluster c1 was written: .status.phase'],
            graph.changes(
                [obj('Cluster', status={'phase': 'x', 'secret': 'same'}),
                 obj('Machine', 'a'), obj('Machine', 'c')],
                [obj('Cluster', status={'phase': 'y', 'secret': 'same'},
                     version='2'),
                 obj('Machine', 'b'), obj('Machine', 'c')]))

    def test_a_write_that_changes_nothing(self):
        self.assertEqual(
            ['Cluster c1 was written: nothing else changed'],
            graph.changes([obj('Cluster')], [obj('Cluster', version='2')]))

    def test_values_are_not_shown(self):
        self.assertEqual(
            ['.data.password', '.list'], graph.differences(
                {'data': {'password': 'one'}, 'list': [1]},
                {'data': {'password': 'two'}, 'list': [1, 2]}))


class MoveTest(testtools.TestCase):

    def test_what_stays(self):
        marked = obj('Secret', 'c1-cloud')
        marked.body['metadata']['labels'] = {
            'clusterctl.cluster.x-k8s.io/move': ''}

        self.assertEqual([
            'Secret c1-state has no owner, and lacks the label '
            'clusterctl.cluster.x-k8s.io/move',
            # It is named like an authority of another cluster.
            'Secret c1-a-ca has no owner, and lacks the label '
            'clusterctl.cluster.x-k8s.io/move',
        ], graph.left_by_move([
            marked, obj('Secret', 'c1-ca'), obj('Secret', 'c1-kubeconfig'),
            obj('Secret', 'c1-etcd-client', refs=[
                ref('KubeadmControlPlane')]),
            obj('Secret', 'sh.helm.release.v1.c1.v1'),
            obj('Secret', 'c1-state'), obj('Secret', 'c1-a-ca')], 'c1'))
