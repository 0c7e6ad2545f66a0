# SPDX-License-Identifier: Apache-2.0

"""The driver's adapters against a real management cluster."""

import base64
import gzip
import json
import pathlib

import fixtures
import testtools

from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.helm import releases
from magnum_capi.driver.observed import deletion
from magnum_capi.driver import observer
from magnum_capi.kube import access
from magnum_capi.kube import client
from magnum_capi.kube import lease
from magnum_capi.kube import rest
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.management import standalone
from tests.functional.driver import test_helm as real_helm
from tests.functional import real_api

#: Neither the default port base nor that of other tests.
PORT_BASE = 27000

NAME = 'c' + '1' * 32

_CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'


class ManagementTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        temporary = fixtures.TempDir(rootdir='/tmp')
        temporary.setUp()
        cls.addClassCleanup(temporary.cleanUp)
        directory = pathlib.Path(temporary.path) / 'cluster'
        cls.addClassCleanup(standalone.down, directory)
        cls.plane = standalone.up(
            directory, progress.Silent(), port_base=PORT_BASE)

    def setUp(self):
        super().setUp()
        self.rest = rest.Rest(access.load(self.plane.kubeconfig))
        self.kube = client.Kube(self.rest)
        self.helm = real_helm.of(self.plane.kubeconfig)
        self.namespace = f'magnum-{self._testMethodName}'.replace(
            '_', '-')[:63].rstrip('-')
        self.kube.ensure_namespace(self.namespace, {'a': 'b'})
        self.kube.apply({
            'kind': 'Secret', 'metadata': {
                'name': real_helm.VALUES['cloudCredentialsSecretName'],
                'namespace': self.namespace},
            'stringData': {'clouds.yaml': '{clouds: {openstack: {}}}'}})

    def upgrade(self, digest=None, **changes):
        return self.helm.upgrade(
            NAME, real_helm.chart(), {**real_helm.VALUES, **changes},
            self.namespace, digest=digest)

    def remove(self):
        self.helm.uninstall(NAME, self.namespace)
        self.wait_for(lambda: self.kube.get(
            'Cluster', self.namespace, NAME) is None, 'the cluster to go')

    def wait_for(self, poll, what):
        waiting.wait_for(poll, done=bool, timeout=600, what=what)

    def release(self):
        return releases.state(self.kube, self.namespace, NAME)

    def test_namespace_is_made_once(self):
        before = self.kube.requests
        self.kube.ensure_namespace(self.namespace, {})
        self.assertEqual(1, self.kube.requests - before)

    def test_versions_are_those_of_the_server(self):
        before = self.kube.requests
        self.assertEqual('cluster.x-k8s.io/v1beta2',
                         self.kube.kind('Cluster').api_version)
        self.assertEqual('infrastructure.cluster.x-k8s.io/v1beta1',
                         self.kube.kind('OpenStackCluster').api_version)
        self.assertEqual(1, self.kube.requests - before)

    def test_apply_annotate_and_delete(self):
        labels = {'magnum.openstack.org/cluster-uuid': 'u'}
        for value in ('one', 'two'):
            found = self.kube.apply({
                'kind': 'Secret', 'metadata': {
                    'name': 's', 'namespace': self.namespace,
                    'labels': labels},
                'stringData': {'a': value}})
        self.assertEqual(base64.b64encode(b'two').decode(),
                         found['data']['a'])
        self.kube.annotate('Secret', self.namespace, 's', {'x': 'y'})
        listed, = self.kube.list_metadata('Secret', self.namespace, labels)
        self.assertEqual('y', listed['metadata']['annotations']['x'])
        self.assertNotIn('data', listed)
        self.kube.delete_all('Secret', self.namespace, labels)
        self.assertIsNone(self.kube.get('Secret', self.namespace, 's'))

    def test_apply_in_another_version_than_the_preferred_one(self):
        # Charts name v1beta1 for a long time after v1beta2 is preferred.
        self.addCleanup(self.remove)
        self.upgrade()
        self.kube.apply({
            'apiVersion': 'cluster.x-k8s.io/v1beta1', 'kind': 'Cluster',
            'metadata': {'name': NAME, 'namespace': self.namespace},
            'spec': {'paused': False}})
        found = self.kube.get('Cluster', self.namespace, NAME)
        self.assertEqual('cluster.x-k8s.io/v1beta2', found['apiVersion'])

    def test_life_of_a_release(self):
        self.addCleanup(self.remove)
        self.assertEqual(1, self.upgrade(digest='d1'))
        self.assertEqual('d1', self.release().digest)

        self.kube.kind('Cluster')  # The kinds are only requested once.
        seen = []
        self.wait_for(lambda: self._ready(seen), 'the cluster to be ready')
        # During creation, reading the Cluster alone was enough.
        self.assertIn(1, seen)
        # The Cluster, and at most one request for each other part.
        self.assertLessEqual(max(seen), 7)

        found = observer.whole(self.kube, self.namespace, NAME,
                               deleting=False)
        self.assertEqual({'workers'}, set(found.machine_deployments))
        self.assertEqual(3, len(found.machines))
        self.assertNotEqual((), found.addons)
        self.assertEqual('deployed', found.release.status)

        self.assertEqual(2, self.upgrade(digest='d2'))
        self.assertEqual('d2', self.release().digest)
        self.assertEqual(
            [(1, 'superseded'), (2, 'deployed')],
            [(r.number, r.status) for r in releases.revisions(
                self.kube, self.namespace, NAME)])

    def _ready(self, seen):
        before = self.kube.requests
        found = () if observer.is_busy(
            self.kube.get('Cluster', self.namespace, NAME)) else (
                observer.cached(self.kube, self.namespace, NAME).machines)
        seen.append(self.kube.requests - before)
        return len(found) == 3 and all(
            'nodeRef' in (m.get('status') or {}) for m in found)

    def test_templates_that_helm_keeps(self):
        # Owned objects are garbage collected; others have to be deleted.
        def templates():
            return observer.templates(self.kube, self.namespace, NAME)

        self.addCleanup(self.remove)
        self.upgrade()
        self.wait_for(lambda: not any(map(deletion.is_orphan, templates())),
                      'all templates to be adopted')
        made = sorted(obj['kind'] for obj in templates())
        self.assertEqual(['KubeadmConfigTemplate', 'OpenStackMachineTemplate',
                          'OpenStackMachineTemplate'], made)
        self.kube.apply({
            'kind': 'KubeadmConfigTemplate', 'metadata': {
                'name': f'{NAME}-late', 'namespace': self.namespace,
                'labels': {'capi.stackhpc.com/cluster': NAME}},
            'spec': {'template': {'spec': {'joinConfiguration': {
                'nodeRegistration': {'name': 'late'}}}}}})
        self.remove()
        self.wait_for(lambda: len(templates()) == 1, 'owned ones to go')
        late, = templates()
        self.assertTrue(deletion.is_orphan(late))
        self.kube.delete(late['kind'], self.namespace, f'{NAME}-late')
        self.assertEqual((), templates())

    def test_absence_of_objects_and_of_paths(self):
        self.assertIsNone(self.kube.get('Secret', self.namespace, 'no'))
        self.assertIsNone(self.kube.get('Cluster', self.namespace, 'no'))
        self.assertFalse(self.kube.delete('Cluster', self.namespace, 'no'))
        self.assertIsNone(self.kube.mark_for_deletion(self.namespace, 'no'))
        self.assertIsNone(self.kube.get('Cluster', 'no-namespace', 'no'))
        self.assertEqual([], self.kube.list('Machine', 'no-namespace'))
        e = self.assertRaises(rest.NotFound, self.kube.apply, {
            'kind': 'Secret', 'metadata': {
                'name': 's', 'namespace': 'no-namespace'}})
        self.assertEqual(('namespaces', 'no-namespace'), e.object)
        for path in ('/apis/cluster.x-k8s.io/v1beta9/namespaces/n/clusters/c',
                     '/apis/cluster.x-k8s.io/v1beta2/namespaces/n/nothing/c',
                     '/apis/nobody.example/v1/namespaces/n/clusters/c',
                     '/nothing'):
            self.assertRaises(rest.NotServed, self.rest.find, 'GET', path)

    def served(self, crd, *versions):
        """Make a CRD serve only these versions."""
        path = f'{_CRDS}/{crd}'
        found = self.rest.request('GET', path)['spec']['versions']
        self.rest.request('PATCH', path, body={'spec': {'versions': [
            {**version, 'served': version['name'] in versions}
            for version in found]}},
            content_type='application/merge-patch+json', again=(409,))

    def sight(self, kube, kind, name):
        """The version in which an object is found, 'not served', or None."""
        try:
            found = kube.get(kind, self.namespace, name)
        except rest.NotServed:
            return 'not served'
        return found and found['apiVersion'].rpartition('/')[2]

    def wait_for_sight(self, wanted, *args):
        self.wait_for(lambda: self.sight(*args) == wanted,
                      f'{args[1]} to be seen as {wanted}')

    def test_kind_whose_versions_are_withdrawn_and_removed(self):
        # A kind that no other test uses, of an optional provider.
        crd = 'helmchartproxies.addons.cluster.x-k8s.io'
        plural, _, group = crd.partition('.')
        self.rest.request('POST', _CRDS, body=real_api.definition(
            group, plural, 'HelmChartProxy', ['v1alpha1', 'v1beta1']))
        self.addCleanup(self.rest.find, 'DELETE', f'{_CRDS}/{crd}')
        seen = self.kube, 'HelmChartProxy', 'p'
        # Until then it looks like a provider that was never installed.
        self.wait_for(lambda: client.Kube(self.rest).kind('HelmChartProxy'),
                      'the kind to be served')
        self.kube.apply({'kind': 'HelmChartProxy', 'metadata': {
            'name': 'p', 'namespace': self.namespace}})
        self.assertEqual('v1beta1', self.sight(*seen))

        self.served(crd, 'v1alpha1')
        self.wait_for_sight('v1alpha1', *seen)
        self.served(crd)
        self.wait_for_sight('not served', *seen)
        self.served(crd, 'v1beta1')
        self.wait_for_sight('v1beta1', *seen)

        self.rest.request('DELETE', f'{_CRDS}/{crd}')
        self.wait_for_sight('not served', *seen)
        self.wait_for(lambda: client.Kube(self.rest).kind(
            'HelmChartProxy') is None, 'the kind to be gone')

    def test_cluster_is_not_gone_while_its_kind_is_not_served(self):
        self.addCleanup(self.remove)
        self.upgrade()
        crd = 'clusters.cluster.x-k8s.io'
        uid = self.kube.get('Cluster', self.namespace, NAME)[
            'metadata']['uid']
        self.addCleanup(self.served, crd, 'v1beta1', 'v1beta2')

        self.served(crd, 'v1beta1')
        self.wait_for_sight('v1beta1', self.kube, 'Cluster', NAME)
        self.served(crd)
        self.wait_for_sight('not served', self.kube, 'Cluster', NAME)
        for known in (self.kube, client.Kube(self.rest)):
            self.assertRaises(rest.NotServed, observer.cached, known,
                              self.namespace, NAME)
            # Other kinds of the group are always served.
            known.list('Machine', self.namespace)

        self.served(crd, 'v1beta1', 'v1beta2')
        # A client that comes too early keeps to the version that it finds.
        self.wait_for(lambda: self.sight(
            client.Kube(self.rest), 'Cluster', NAME) == 'v1beta2',
            'Cluster to be seen as v1beta2')
        self.wait_for(lambda: self.sight(
            self.kube, 'Cluster', NAME) != 'not served', 'the old client')
        self.assertEqual(uid, self.kube.get(
            'Cluster', self.namespace, NAME)['metadata']['uid'])

    def test_words_of_the_api_server_reach_the_user(self):
        e = self.assertRaises(helm_errors.HelmFailed, self.upgrade,
                              kubernetesVersion='1.34.2-!')
        self.addCleanup(self.remove)
        self.assertIn('v1.34.2-!', e.reason)
        self.assertNotIn('127.0.0.1', e.reason)

    def test_stuck_upgrade_is_repaired(self):
        self.addCleanup(self.remove)
        self.upgrade()
        cluster = self.kube.get('Cluster', self.namespace, NAME)
        self.upgrade()
        self.make_pending(2, 'pending-upgrade')
        self.assertRaises(helm_errors.HelmDisturbed, self.upgrade)
        self.assertRaises(releases.ReleasePending, releases.repair,
                          self.kube, self.namespace, NAME, 600)

        self.assertTrue(releases.repair(
            self.kube, self.namespace, NAME, 0))

        self.assertEqual(2, self.upgrade())
        self.assertEqual('deployed', self.release().status)
        again = self.kube.get('Cluster', self.namespace, NAME)
        self.assertEqual(cluster['metadata']['uid'],
                         again['metadata']['uid'])

    def test_stuck_install_is_repaired(self):
        self.addCleanup(self.remove)
        self.upgrade()
        cluster = self.kube.get('Cluster', self.namespace, NAME)
        self.make_pending(1, 'pending-install')
        self.assertRaises(helm_errors.HelmDisturbed, self.upgrade)

        self.assertTrue(releases.repair(
            self.kube, self.namespace, NAME, 0))

        # The new install takes over the objects of the dead one.
        self.assertEqual(1, self.upgrade())
        again = self.kube.get('Cluster', self.namespace, NAME)
        self.assertEqual(cluster['metadata']['uid'],
                         again['metadata']['uid'])

    def make_pending(self, revision, status):
        """Leave the release as a helm killed halfway would."""
        name = f'sh.helm.release.v1.{NAME}.v{revision}'
        secret = self.kube.get('Secret', self.namespace, name)
        packed = base64.b64decode(base64.b64decode(
            secret['data']['release']))
        content = json.loads(gzip.decompress(packed))
        content['info']['status'] = status
        packed = base64.b64encode(gzip.compress(
            json.dumps(content).encode()))
        secret['data']['release'] = base64.b64encode(packed).decode()
        secret['metadata']['labels']['status'] = status
        self.kube.replace({'kind': 'Secret', **secret})

    def test_lock_excludes_and_leaves_nothing(self):
        def other(**options):
            return lease.Lock(self.kube, self.namespace, NAME, duration=6,
                              **options)

        before = self.kube.requests
        with other(labels={'a': 'b'}).hold(0) as held:
            self.assertRaises(lease.LockBusy, other().acquire, 0.5)
            held.renew()
            held.check()
        self.assertFalse(self.kube.list('Lease', self.namespace))
        with other().hold(0):
            pass
        self.assertLess(self.kube.requests - before, 20)

    def test_lock_of_a_dead_holder_is_taken_over(self):
        dead = lease.Lock(self.kube, self.namespace, NAME, duration=2,
                          background=False)
        dead.acquire(0)
        with lease.Lock(self.kube, self.namespace, NAME,
                        duration=6).hold(10) as held:
            dead.renew()
            self.assertRaises(lease.LockLost, dead.check)
            held.check()
