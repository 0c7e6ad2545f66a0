# SPDX-License-Identifier: Apache-2.0


"""Which version of a kind is used, of what a server says."""

import testtools

from magnum_capi.kube import kinds

CAPI, ADDONS = 'cluster.x-k8s.io', 'addons.stackhpc.com'


def group(name, preferred, *versions):
    return {'name': name, 'preferredVersion': {'version': preferred},
            'versions': [{'version': version} for version in versions]}


class PreferencesTest(testtools.TestCase):

    def preferences(self, *groups):
        return kinds.preferences({'groups': list(groups)})

    def test_the_preferred_version_is_the_first(self):
        # The others are older, and newer, than it.
        self.assertEqual(
            [(CAPI, 'v1beta1'), (CAPI, 'v1alpha4'), (CAPI, 'v1beta2')],
            self.preferences(group(
                CAPI, 'v1beta1', 'v1alpha4', 'v1beta1', 'v1beta2')))

    def test_groups_that_do_not_matter(self):
        self.assertEqual([(ADDONS, 'v1')], self.preferences(
            group('apps', 'v1', 'v1'), group(ADDONS, 'v1', 'v1')))
        self.assertEqual([], kinds.preferences({}))


class ListedTest(testtools.TestCase):

    def test_the_first_version_that_has_a_kind(self):
        def has(*plurals):
            return {'resources': [{'name': plural} for plural in plurals]}

        found = kinds.listed([
            (CAPI, 'v1beta1', has('clusters')),
            (CAPI, 'v1beta2', has('clusters', 'machines')),
            # Alike, but of somebody else.
            ('other.example', 'v1', has('machinedeployments'))])

        self.assertEqual(
            {'Cluster': f'{CAPI}/v1beta1', 'Machine': f'{CAPI}/v1beta2'},
            {name: kind.api_version for name, kind in found.items()})

    def test_control_planes_of_any_provider(self):
        group = 'controlplane.cluster.x-k8s.io'
        found = kinds.listed([(group, 'v1beta1', {'resources': [
            {'name': 'rke2controlplanes', 'kind': 'RKE2ControlPlane'},
            {'name': 'rke2controlplanes/status', 'kind': 'RKE2ControlPlane'},
            {'name': 'rke2controlplanes/scale', 'kind': 'Scale'},
            {'name': 'rke2controlplanetemplates',
             'kind': 'RKE2ControlPlaneTemplate'}]}), (CAPI, 'v1', {
                 'resources': [{'name': 'x', 'kind': 'XControlPlane'}]})])

        self.assertEqual(
            {'RKE2ControlPlane': kinds.Kind(
                'RKE2ControlPlane', f'{group}/v1beta1',
                'rke2controlplanes')}, found)
        # Kubeadm's need not be there then.
        self.assertTrue(kinds.is_dispensable('KubeadmControlPlane', found))
        self.assertFalse(kinds.is_dispensable(
            'KubeadmControlPlane', ('Cluster', 'Machine')))

    def test_paths(self):
        kind = kinds.listed([(CAPI, 'v1', {'resources': [
            {'name': 'clusters'}]})])['Cluster']

        self.assertEqual(f'/apis/{CAPI}/v1/namespaces/n/clusters/c',
                         kind.path('n', 'c'))
        self.assertEqual('/api/v1/namespaces/n/secrets',
                         kinds.BUILT_IN['Secret'].path('n'))
        self.assertEqual('/api/v1/namespaces',
                         kinds.BUILT_IN['Namespace'].path())
