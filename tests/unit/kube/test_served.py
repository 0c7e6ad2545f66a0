# SPDX-License-Identifier: Apache-2.0

"""Which version of a kind is used, and when a kind counts as missing."""

import re

import testtools

from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from tests.lib import kube_server

CAPI = 'cluster.x-k8s.io'
CONTROL_PLANES = 'controlplane.cluster.x-k8s.io'
OPENSTACK = ('openstackclusters', 'openstackmachines',
             'openstackmachinetemplates')
DEV = ('devclusters', 'devmachinetemplates')
ADDONS = ('helmreleases', 'manifests')


def answer(*groups):
    """An APIGroupDiscoveryList.

    :param groups: name, and by version what it has: plurals and kinds.
    """
    return {'kind': 'APIGroupDiscoveryList', 'items': [
        {'metadata': {'name': name}, 'versions': [
            {'version': version, 'resources': [
                {'resource': plural, 'responseKind': {'kind': kind}}
                for plural, kind in resources.items()]}
            for version, resources in versions.items()]}
        for name, versions in groups]}


class DiscoveredTest(testtools.TestCase):

    def versions(self, *groups):
        return {name: kind.api_version for name, kind in kinds.discovered(
            answer(*groups)).items()}

    def test_the_first_version_that_has_a_kind(self):
        clusters = {'clusters': 'Cluster'}
        both = {**clusters, 'machines': 'Machine'}
        self.assertEqual(
            {'Cluster': f'{CAPI}/v1beta1', 'Machine': f'{CAPI}/v1beta2'},
            self.versions(
                (CAPI, {'v1beta1': clusters, 'v1beta2': both}),
                # Alike, but of somebody else.
                ('other.example', {'v1': {'machinedeployments': 'X'}})))

    def test_control_planes_of_any_provider(self):
        found = self.versions(
            (CONTROL_PLANES, {'v1beta1': {
                'rke2controlplanes': 'RKE2ControlPlane',
                'rke2controlplanetemplates': 'RKE2ControlPlaneTemplate'}}),
            (CAPI, {'v1': {'x': 'XControlPlane'}}))
        self.assertEqual(
            {'RKE2ControlPlane': f'{CONTROL_PLANES}/v1beta1'}, found)
        # Kubeadm's need not be there then.
        self.assertTrue(kinds.is_optional('KubeadmControlPlane', found))
        self.assertFalse(kinds.is_optional(
            'KubeadmControlPlane', ('Cluster', 'Machine')))


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(kube_server.ApiServer())
        self.kube = self.api.kube()

    def hide(self, *plurals):
        self.api.discovery = kube_server.without(*plurals)

    def asked(self):
        return sum(path == '/apis' for _, path, *_ in self.api.seen)


class ServedTest(_Base):

    def test_server_that_is_too_old_says_nothing_about_objects(self):
        self.api.discovery = {'kind': 'APIGroupList', 'groups': []}
        e = self.assertRaises(rest.NotServed, self.kube.kind, 'HelmRelease')
        self.assertIn('Kubernetes 1.27', e.hint)

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
        self.hide(*ADDONS)
        self.assertIsNone(self.kube.kind('HelmRelease'))
        self.hide()
        self.api.clock.now += 29
        self.assertIsNone(self.kube.kind('HelmRelease'))
        self.api.clock.now += 1
        self.assertIsNotNone(self.kube.kind('HelmRelease'))


class MissingTest(_Base):
    """A kind that is not served: never there, or not there now?"""

    def test_kinds_that_must_be_there(self):
        for name, hidden in (
                ('Cluster', ['clusters']), ('Machine', ['machines']),
                ('MachineSet', ['machinesets']),
                ('MachineDeployment', ['machinedeployments']),
                ('KubeadmControlPlane', ['kubeadmcontrolplanes']),
                ('KubeadmConfigTemplate', ['kubeadmconfigtemplates']),
                # One infrastructure; half of another does not count.
                ('DevCluster', [*DEV, *OPENSTACK]),
                ('OpenStackMachine', [*DEV, *OPENSTACK]),
                ('DevCluster', [*DEV, 'openstackmachines']),
                # Half a provider was installed once.
                ('OpenStackMachine', ['openstackmachines']),
                ('DevMachineTemplate', ['devmachinetemplates']),
                ('HelmRelease', ['helmreleases']),
                ('Manifests', ['manifests'])):
            with self.subTest(name, hidden=hidden):
                self.hide(*hidden)
                e = self.assertRaises(
                    rest.NotServed, self.api.kube().kind, name)
                self.assertIn(name, e.what)

    def test_kinds_that_need_not_be_there(self):
        for name, hidden in (
                ('DevCluster', DEV), ('OpenStackMachine', OPENSTACK),
                ('OpenStackServer', ['openstackservers']),
                ('HelmRelease', ADDONS), ('Manifests', ADDONS),
                ('HelmChartProxy', ADDONS)):
            with self.subTest(name):
                self.hide(*hidden)
                self.assertIsNone(self.api.kube().kind(name))

    def test_provider_that_was_there_is_missed_for_a_while(self):
        self.kube.kind('Manifests')
        self.hide(*ADDONS)
        self.api.clock.now += 601
        for _ in range(19):
            self.assertRaises(rest.NotServed, self.kube.kind, 'Manifests')
            self.api.clock.now += 31
        self.api.clock.now += 31
        self.assertIsNone(self.kube.kind('Manifests'))

    def test_one_answer_with_it_ends_that(self):
        self.kube.kind('Manifests')
        for _ in range(2):
            self.hide(*ADDONS)
            self.api.clock.now += 601
            self.assertRaises(rest.NotServed, self.kube.kind, 'Manifests')
            self.hide()
            self.api.clock.now += 31
            self.assertIsNotNone(self.kube.kind('Manifests'))


class UnknownPathTest(_Base):

    def setUp(self):
        super().setUp()
        self.kube.get('Cluster', 'n', 'c')
        self.api.put(f'/apis/{CAPI}/v1beta2/namespaces/n/clusters/c', {})
        self.api.seen.clear()

    def test_server_is_not_asked_all_the_time(self):
        self.api.faults = [kube_server.UNKNOWN_PATH] * 9
        self.api.fault_path = re.compile('/apis/')
        self.api.clock.now += 3
        for later, asked in ((0, 1), (0, 1), (1, 1), (1, 2)):
            self.api.clock.now += later
            self.assertRaises(rest.NotServed, self.kube.get, 'Cluster', 'n',
                              'c')
            self.assertEqual(asked, self.asked())
