# SPDX-License-Identifier: Apache-2.0

import re

import testtools

from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from tests.unit.driver import api_server

N = '/api/v1/namespaces/n'


class KindsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(api_server.ApiServer())
        self.kube = self.api.kube()

    def test_server_prefers_the_version(self):
        self.assertEqual('cluster.x-k8s.io/v1beta2',
                         self.kube.kind('Cluster').api_version)

    def test_preferred_version_of_a_group_may_lack_a_kind(self):
        self.assertEqual('infrastructure.cluster.x-k8s.io/v1beta1',
                         self.kube.kind('OpenStackCluster').api_version)

    def test_only_v1beta1(self):
        api = self.useFixture(api_server.ApiServer(discovery={
            'kind': 'APIGroupDiscoveryList', 'items': [{
                'metadata': {'name': 'cluster.x-k8s.io'},
                'versions': [{'version': 'v1beta1', 'resources': [
                    {'resource': 'clusters'}]}]}]}))
        self.assertEqual('cluster.x-k8s.io/v1beta1',
                         api.kube().kind('Cluster').api_version)

    def test_older_server_is_asked_group_by_group(self):
        self.api.discovery = {
            'kind': 'APIGroupList', 'groups': [
                {'name': 'apps', 'preferredVersion': {'version': 'v1'},
                 'versions': [{'version': 'v1'}]},
                {'name': 'cluster.x-k8s.io',
                 'preferredVersion': {'version': 'v1beta1'},
                 'versions': [{'version': 'v1alpha4'},
                              {'version': 'v1beta1'}]}]}
        for version in ('v1alpha4', 'v1beta1'):
            self.api.put(f'/apis/cluster.x-k8s.io/{version}',
                         {'resources': [{'name': 'clusters'},
                                        {'name': 'clusters/status'}]})
        self.assertEqual('cluster.x-k8s.io/v1beta1',
                         self.kube.kind('Cluster').api_version)
        self.assertNotIn(('GET', '/apis/apps/v1'), self.api.calls())

    def test_asked_once_and_again_after_a_while(self):
        for _ in range(5):
            self.kube.kind('Cluster')
            self.kube.kind('HelmChartProxy')
        self.api.clock.now += 599
        self.kube.kind('Cluster')
        self.assertEqual(1, self.kube.requests)
        self.api.clock.now += 1
        self.kube.kind('Cluster')
        self.assertEqual(2, self.kube.requests)

    def test_missing_kind_is_soon_looked_for_again(self):
        whole = self.api.discovery
        self.api.discovery = api_server.without('helmreleases', 'manifests')
        self.assertIsNone(self.kube.kind('HelmRelease'))
        self.api.discovery = whole
        self.api.clock.now += 29
        self.assertIsNone(self.kube.kind('HelmRelease'))
        self.api.clock.now += 1
        self.assertIsNotNone(self.kube.kind('HelmRelease'))

    def test_older_server_that_lacks_a_version_it_named(self):
        self.api.discovery = {
            'kind': 'APIGroupList', 'groups': [
                {'name': 'addons.stackhpc.com',
                 'preferredVersion': {'version': 'v1alpha1'},
                 'versions': [{'version': 'v1alpha1'}]}]}
        self.assertRaises(rest.NotServed, self.kube.kind, 'HelmRelease')

    def test_builtin_kinds_need_no_discovery(self):
        self.assertEqual(f'{N}/secrets/s',
                         self.kube.kind('Secret').path('n', 's'))
        self.assertEqual('/api/v1/namespaces/n',
                         kinds.BUILT_IN['Namespace'].path(None, 'n'))
        self.assertEqual(0, self.kube.requests)


class MissingTest(testtools.TestCase):
    """A kind that is not served: never there, or not there now?"""

    OPENSTACK = ('openstackclusters', 'openstackmachines',
                 'openstackmachinetemplates')
    DEV = ('devclusters', 'devmachinetemplates')

    def kind(self, name, *plurals):
        """That of a server which never had these."""
        api = self.useFixture(api_server.ApiServer(
            api_server.without(*plurals)))
        return api.kube().kind(name)

    def test_cluster_api_is_needed(self):
        for name, plural in (
                ('Cluster', 'clusters'), ('Machine', 'machines'),
                ('MachineSet', 'machinesets'),
                ('MachineDeployment', 'machinedeployments'),
                ('KubeadmControlPlane', 'kubeadmcontrolplanes'),
                ('KubeadmConfigTemplate', 'kubeadmconfigtemplates')):
            with self.subTest(name):
                e = self.assertRaises(rest.NotServed, self.kind, name, plural)
                self.assertIn(name, e.what)

    def test_one_infrastructure_is_needed(self):
        self.assertIsNone(self.kind('DevCluster', *self.DEV))
        self.assertIsNone(self.kind('OpenStackMachine', *self.OPENSTACK))
        for name in ('DevCluster', 'OpenStackMachine'):
            self.assertRaises(rest.NotServed, self.kind, name, *self.DEV,
                              *self.OPENSTACK)
        # Half of another one does not count.
        self.assertRaises(rest.NotServed, self.kind, 'DevCluster', *self.DEV,
                          'openstackmachines')

    def test_half_a_provider_is_none_that_was_never_installed(self):
        for name, plural in (('OpenStackMachine', 'openstackmachines'),
                             ('DevMachineTemplate', 'devmachinetemplates'),
                             ('HelmRelease', 'helmreleases'),
                             ('Manifests', 'manifests')):
            with self.subTest(name):
                self.assertRaises(rest.NotServed, self.kind, name, plural)

    def test_addons_are_not_needed(self):
        for name in ('HelmRelease', 'Manifests', 'HelmChartProxy'):
            self.assertIsNone(self.kind(name, 'helmreleases', 'manifests'))

    def test_provider_that_was_there_is_missed_for_a_while(self):
        api = self.useFixture(api_server.ApiServer())
        kube = api.kube()
        kube.kind('Manifests')
        api.discovery = api_server.without('helmreleases', 'manifests')
        api.clock.now += 601
        for _ in range(19):
            self.assertRaises(rest.NotServed, kube.kind, 'Manifests')
            api.clock.now += 31
        api.clock.now += 31
        self.assertIsNone(kube.kind('Manifests'))

    def test_one_answer_with_it_ends_that(self):
        api = self.useFixture(api_server.ApiServer())
        kube = api.kube()
        kube.kind('Manifests')
        for _ in range(2):
            api.discovery = api_server.without('helmreleases', 'manifests')
            api.clock.now += 601
            self.assertRaises(rest.NotServed, kube.kind, 'Manifests')
            api.discovery = api_server.DISCOVERY
            api.clock.now += 31
            self.assertIsNotNone(kube.kind('Manifests'))


class UnknownPathTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(api_server.ApiServer())
        self.kube = self.api.kube()
        self.kube.get('Cluster', 'n', 'c')
        self.api.put('/apis/cluster.x-k8s.io/v1beta2/namespaces/n/clusters/c',
                     {})
        self.api.seen.clear()

    def asked(self):
        return sum(path == '/apis' for _, path, *_ in self.api.seen)

    def test_version_that_is_served_now_is_used(self):
        self.api.withdraw('v1beta2')
        self.api.clock.now += 3
        self.assertEqual('c', self.kube.get(
            'Cluster', 'n', 'c')['metadata']['name'])
        self.kube.get('Cluster', 'n', 'c')
        self.assertEqual(1, self.asked())

    def test_server_is_not_asked_all_the_time(self):
        self.api.faults = [api_server.UNKNOWN_PATH] * 9
        self.api.fault_path = re.compile('/apis/')
        self.api.clock.now += 3
        for _ in range(3):
            self.assertRaises(rest.NotServed, self.kube.get, 'Cluster', 'n',
                              'c')
        self.api.clock.now += 1
        self.assertRaises(rest.NotServed, self.kube.get, 'Cluster', 'n', 'c')
        self.assertEqual(1, self.asked())
        self.api.clock.now += 1
        self.assertRaises(rest.NotServed, self.kube.get, 'Cluster', 'n', 'c')
        self.assertEqual(2, self.asked())

    def test_provider_that_was_removed_is_missed(self):
        self.kube.list('Manifests', 'n')
        self.api.discovery = api_server.without('helmreleases', 'manifests')
        self.api.clock.now += 3
        self.assertRaises(rest.NotServed, self.kube.list, 'Manifests', 'n')
