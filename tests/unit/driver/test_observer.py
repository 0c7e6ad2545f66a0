# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver import observer
from magnum_capi.kube import rest
from tests.lib import kube_server

CAPI = '/apis/cluster.x-k8s.io/v1beta2/namespaces/n'
KCP = '/apis/controlplane.cluster.x-k8s.io/v1beta2/namespaces/n'
ADDONS = '/apis/addons.stackhpc.com/v1alpha1/namespaces/n'
CAPO = '/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/n'
SERVERS = '/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/n/' \
    'openstackservers'
OF_C1 = {'labels': {'cluster.x-k8s.io/cluster-name': 'c1'}}


def counts(**changed):
    return {'desiredReplicas': 2, 'replicas': 2, 'readyReplicas': 2,
            'availableReplicas': 2, 'upToDateReplicas': 2, **changed}


def cluster(workers=None, **status):
    return {'metadata': {'generation': 1}, 'status': {
        'observedGeneration': 1, 'controlPlane': counts(),
        'workers': workers or counts(), **status}}


class WholeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(kube_server.ApiServer())
        self.kube = self.api.kube()
        self.api.put(f'{CAPI}/clusters/c1', cluster())
        self.api.put(f'{KCP}/kubeadmcontrolplanes/c1-control-plane', {})
        for group in ('g1', 'g2', 'g3'):
            self.api.put(f'{CAPI}/machinedeployments/c1-{group}',
                         {'metadata': OF_C1})
        self.api.put(f'{CAPI}/machinedeployments/c2-g1', {'metadata': {
            'labels': {'cluster.x-k8s.io/cluster-name': 'c2'}}})
        self.api.put(f'{CAPI}/machines/c1-g1-a', {'metadata': OF_C1})
        for name, of in (('c1-cni', 'c1'), ('c2-cni', 'c2')):
            self.api.put(f'{ADDONS}/helmreleases/{name}', {
                'metadata': {'labels': {'capi.stackhpc.com/cluster': of}},
                'spec': {'clusterName': of}})

    def observe(self, deleting=False):
        return observer.whole(self.kube, 'n', 'c1', deleting)

    def gone(self):
        """What is read of a deletion that has left nothing to wait for."""
        for path in [path for path in self.api.objects
                     if path.startswith((CAPI, KCP))]:
            del self.api.objects[path]
        self.api.seen.clear()
        return self.observe(deleting=True)

    def put(self, obj):
        self.api.put(f'{CAPI}/clusters/c1', obj)

    def test_everything(self):
        found = self.observe()
        self.assertEqual('c1', found.cluster['metadata']['name'])
        self.assertEqual('c1-control-plane',
                         found.control_plane['metadata']['name'])
        self.assertEqual({'g1', 'g2', 'g3'}, set(found.machine_deployments))
        self.assertEqual(['c1-g1-a'],
                         [m['metadata']['name'] for m in found.machines])
        self.assertEqual(['c1-cni'],
                         [a['metadata']['name'] for a in found.addons])
        self.assertEqual('HelmRelease', found.addons[0]['kind'])

    def test_templates_that_helm_keeps_are_found_unowned_and_owned(self):
        owners = {'orphan': [], 'owned': ['c1'], 'foreign': ['c2']}
        for name, names in owners.items():
            self.api.put(f'{CAPO}/openstackmachinetemplates/{name}', {
                'metadata': {
                    'labels': {'capi.stackhpc.com/cluster': 'c1'},
                    'ownerReferences': [
                        {'kind': 'Cluster', 'name': owner, 'uid': owner}
                        for owner in names]}})
        self.api.put(f'{CAPO}/openstackmachinetemplates/c2-g1', {
            'metadata': {'labels': {'capi.stackhpc.com/cluster': 'c2'}}})
        found = self.gone().templates
        self.assertEqual(
            [('OpenStackMachineTemplate', 'orphan'),
             ('OpenStackMachineTemplate', 'owned')],
            [(obj['kind'], obj['metadata']['name']) for obj in found])
        # Of these no content.
        self.assertIn('PartialObjectMetadata',
                      self.api.seen[-1][3]['Accept'])

    def test_infrastructure_that_was_not_adopted_is_left_over(self):
        self.api.put(f'{CAPO}/openstackclusters/c1', {})
        self.api.put(f'{CAPO}/openstackclusters/c2', {})
        found = self.gone().leftovers
        self.assertEqual([('OpenStackCluster', 'c1')], [
            (obj['kind'], obj['metadata']['name']) for obj in found])

    def test_number_of_node_groups_does_not_count(self):
        self.observe()
        # Cluster, control plane, machine deployments and sets, machines, their
        # servers, two addon kinds, events, Helm's Secrets.
        self.assertEqual(10, len(self.api.calls()))

    def test_servers_of_machines_that_are_no_nodes(self):
        self.api.put(f'{SERVERS}/c1-g1-a', {'metadata': OF_C1})
        self.api.put(f'{SERVERS}/c2-g1-a', {'metadata': {
            'labels': {'cluster.x-k8s.io/cluster-name': 'c2'}}})
        self.assertEqual({'c1-g1-a'}, set(self.observe().servers))
        # Those of nodes are not asked for.
        self.api.put(f'{CAPI}/machines/c1-g1-a', {
            'metadata': OF_C1, 'status': {'nodeRef': {'name': 'a'}}})
        self.api.seen.clear()
        self.assertEqual({}, self.observe().servers)
        self.assertNotIn('openstackservers', str(self.api.calls()))

    def test_provider_without_servers(self):
        api = self.useFixture(kube_server.ApiServer(
            discovery=kube_server.without('openstackservers')))
        api.put(f'{CAPI}/clusters/c1', cluster())
        api.put(f'{CAPI}/machines/c1-g1-a', {'metadata': OF_C1})
        found = observer.whole(api.kube(), 'n', 'c1', False)
        self.assertEqual((1, {}), (len(found.machines), found.servers))

        # Nor can a user see them who may not list them.
        def denied(kind, namespace, labels):
            if kind == 'OpenStackServer':
                raise rest.Forbidden('denied')
            return listed(kind, namespace, labels)
        listed = self.kube.list
        self.kube.list = denied
        found = self.observe()
        self.assertEqual((1, {}), (len(found.machines), found.servers))

    def test_cluster_that_is_gone(self):
        self.api.put(f'{CAPO}/openstackclusters/c1', {'metadata': OF_C1})
        # Nothing is left over while the cluster is there.
        self.assertEqual((), self.observe(deleting=True).leftovers)
        self.assertNotIn('/openstackclusters/', str(self.api.calls()))
        del self.api.objects[f'{CAPI}/clusters/c1']
        found = self.observe(deleting=True)
        self.assertIsNone(found.cluster)
        self.assertEqual((1, 1, ()), (
            len(found.machines), len(found.leftovers), found.templates))

    def test_control_plane_of_the_kind_that_the_cluster_names(self):
        discovery = kube_server.without('kubeadmcontrolplanes')
        group, = (one for one in discovery['items'] if one['metadata'][
            'name'] == 'controlplane.cluster.x-k8s.io')
        group['versions'] = [{'version': 'v1beta1', 'resources': [{
            'resource': 'rke2controlplanes',
            'responseKind': {'kind': 'RKE2ControlPlane'}}]}]
        api = self.useFixture(kube_server.ApiServer(discovery=discovery))
        path = KCP.replace('v1beta2', 'v1beta1')
        api.put(f'{path}/rke2controlplanes/other', {})
        api.put(f'{CAPI}/clusters/c1', {**cluster(), 'spec': {
            'controlPlaneRef': {'kind': 'RKE2ControlPlane',
                                'name': 'other'}}})
        found = observer.whole(api.kube(), 'n', 'c1', False).control_plane
        self.assertEqual(('RKE2ControlPlane', 'other'), (
            found['kind'], found['metadata']['name']))
        # Its provider is there alone: without a Cluster nobody else is asked.
        del api.objects[f'{CAPI}/clusters/c1']
        self.assertIsNone(observer.whole(
            api.kube(), 'n', 'c1', False).control_plane)

    def test_server_without_addons(self):
        api = self.useFixture(kube_server.ApiServer(discovery={
            'kind': 'APIGroupDiscoveryList',
            'items': kube_server.DISCOVERY['items'][:2]}))
        found = observer.whole(api.kube(), 'n', 'c1', False)
        self.assertEqual((), found.addons)
        self.assertEqual(7, len(api.calls()))


class BusyTest(testtools.TestCase):

    def test_what_is_busy(self):
        unseen, older = cluster(), {
            'metadata': {'generation': 1}, 'status': {
                'observedGeneration': 1, 'controlPlaneReady': True,
                'v1beta2': {'workers': counts(readyReplicas=0)}}}
        del unseen['status']['observedGeneration']
        for busy, obj in (
                (False, cluster()),
                # Too many: old machines are still there.
                *((True, cluster(workers=counts(**{key: number})))
                  for number in (1, 3) for key in (
                      'replicas', 'readyReplicas', 'availableReplicas',
                      'upToDateReplicas')),
                # v1beta1 has the numbers elsewhere.
                (True, older),
                # A change, or a Cluster, that no controller has seen.
                (True, {**cluster(), 'metadata': {'generation': 2}}),
                (True, unseen),
                # Without a count of changes there is nothing to see.
                (False, {**unseen, 'metadata': {}}),
                (True, {**cluster(), 'metadata': {
                    'generation': 1,
                    'deletionTimestamp': '2026-01-01T00:00:00Z'}}),
                # A Cluster API without numbers says nothing.
                (False, {'metadata': {'generation': 1}, 'status': {
                    'observedGeneration': 1, 'phase': 'Provisioning'}}),
                (False, None)):
            with self.subTest(obj):
                self.assertEqual(busy, observer.is_busy(obj))
