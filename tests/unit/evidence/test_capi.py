# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi import errors
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import conditions
from tests.unit.evidence import fake_kube
from tests.unit.evidence import test_conditions

CORE = '/apis/cluster.x-k8s.io/v1beta1'


def obj(name, namespace='magnum-1', status=None, **metadata):
    return {'metadata': {'name': name, 'namespace': namespace, **metadata},
            'status': status}


class ManagementClusterTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve_group('cluster.x-k8s.io', 'v1beta1',
                              clusters='Cluster', machines='Machine')
        self.kube.serve_group('infrastructure.cluster.x-k8s.io', 'v1beta1',
                              openstackmachines='OpenStackMachine')
        self.kube.serve_group('addons.stackhpc.com', 'v1alpha1',
                              helmreleases='HelmRelease')
        self.kube.serve_group('apps', 'v1', deployments='Deployment')
        self.kube.serve_group('rbac.authorization.k8s.io', 'v1',
                              roles='Role', rolebindings='RoleBinding')
        for plural in ('secrets', 'serviceaccounts'):
            self.kube.serve(f'/api/v1/{plural}')
        self.cluster = capi.ManagementCluster(self.kube.kubeconfig)

    def test_nothing_is_left(self):
        self.kube.serve(f'{CORE}/clusters', obj('other'))

        self.assertEqual([], self.cluster.objects_of('c1'))

    def test_everything_that_is_left_is_found_in_any_namespace(self):
        self.kube.serve(f'{CORE}/clusters', obj('c1'), obj('other'))
        self.kube.serve(
            '/apis/infrastructure.cluster.x-k8s.io/v1beta1/openstackmachines',
            obj('c1-md-0', 'elsewhere'))
        self.kube.serve('/apis/addons.stackhpc.com/v1alpha1/helmreleases',
                        obj('c1-ccm'))
        self.kube.serve('/apis/apps/v1/deployments', obj('c1-autoscaler'))
        self.kube.serve('/apis/rbac.authorization.k8s.io/v1/roles',
                        obj('c1-autoscaler'))
        self.kube.serve('/api/v1/secrets', obj('sh.helm.release.v1.c1.v1'),
                        obj('app-credential', labels={
                            'magnum.openstack.org/cluster-uuid': 'uuid'}))
        self.kube.serve('/api/v1/serviceaccounts', obj('c1-autoscaler'))

        self.assertEqual(
            ['Cluster magnum-1/c1',
             'Deployment magnum-1/c1-autoscaler',
             'HelmRelease magnum-1/c1-ccm',
             'OpenStackMachine elsewhere/c1-md-0',
             'Role magnum-1/c1-autoscaler',
             'Secret magnum-1/app-credential',
             'Secret magnum-1/sh.helm.release.v1.c1.v1',
             'ServiceAccount magnum-1/c1-autoscaler'],
            [str(o) for o in self.cluster.objects_of('c1', 'uuid')])

    def test_a_server_that_nova_refused(self):
        """OpenStackServers are not in the version that is preferred."""
        path = 'infrastructure.cluster.x-k8s.io'
        self.kube.serve_group(path, 'v1alpha1',
                              openstackservers='OpenStackServer',
                              openstackmachines='OpenStackMachine')
        self.kube.serve(
            f'/apis/{path}/v1alpha1/openstackservers',
            obj('c1-md-0', status={'conditions': [{
                'type': 'InstanceReady', 'status': 'False',
                'reason': 'InstanceCreateFailed', 'message': 'Quota'}]}))
        self.kube.serve(f'/apis/{path}/v1beta1/openstackmachines',
                        obj('c1-md-0'))

        self.assertEqual(
            ['OpenStackServer c1-md-0 InstanceReady=False '
             '(InstanceCreateFailed: Quota)'],
            [str(c) for c in self.cluster.conditions('c1')])
        self.assertEqual(
            ['OpenStackMachine magnum-1/c1-md-0',
             'OpenStackServer magnum-1/c1-md-0'],
            [str(o) for o in self.cluster.objects_of('c1')])

    def test_objects_that_mention_a_word(self):
        self.kube.serve(f'{CORE}/clusters', obj('c1-of-nobody'), obj('other'))
        self.kube.serve('/api/v1/secrets', obj('app-credential', annotations={
            'by': 'somebody of uuid-1'}))

        self.assertEqual(
            ['Cluster magnum-1/c1-of-nobody',
             'Secret magnum-1/app-credential'],
            [str(o) for o in self.cluster.objects_mentioning('c1', 'uuid-1')])

    def test_spec_of_an_object_of_that_name(self):
        self.kube.serve(f'{CORE}/machines', {**obj('c1'), 'spec': {'a': 1}})
        self.kube.serve(f'{CORE}/clusters', {**obj('c1-x'), 'spec': {'a': 2}},
                        {**obj('c1'), 'spec': {'a': 3}})

        self.assertEqual({'a': 3}, self.cluster.spec('Cluster', 'c1'))
        self.assertIsNone(self.cluster.spec('Cluster', 'c2'))

    def test_spec_of_what_a_cluster_class_has_named(self):
        infrastructure = obj('c1-x2b4')
        infrastructure['metadata']['ownerReferences'] = [
            {'kind': 'Other', 'name': 'c2'}, {'kind': 'Cluster', 'name': 'c1'}]
        self.kube.serve(f'{CORE}/machines', {**obj('c1-y'), 'spec': {'a': 1}},
                        {**infrastructure, 'spec': {'a': 2}})

        self.assertEqual({'a': 2}, self.cluster.spec('Machine', 'c1'))
        self.assertIsNone(self.cluster.spec('Machine', 'c2'))

    def test_conditions_are_of_this_cluster_only(self):
        bad = {'conditions': [test_conditions.condition(
            'Ready', 'False', 'Why')]}
        self.kube.serve(f'{CORE}/machines', obj('c1-0', status=bad),
                        obj('other-0', status=bad))

        self.assertEqual(
            [conditions.Condition(
                'Machine', 'c1-0', 'Ready', 'False', 'Why', '')],
            self.cluster.conditions('c1'))

    def test_tells_whether_cluster_api_is_there(self):
        self.assertTrue(self.cluster.serves_clusters())
        self.kube.answers['/apis/'] = 200, {'groups': []}
        self.assertFalse(self.cluster.serves_clusters())

    def test_a_missing_file_is_told_when_it_is_needed(self):
        cluster = capi.ManagementCluster('/nowhere')

        self.assertRaises(
            errors.UsageError, cluster.conditions, 'c1')
