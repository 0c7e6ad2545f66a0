# SPDX-License-Identifier: Apache-2.0

import base64
import gzip
import json

import testtools

from magnum_capi.driver.helm import releases
from magnum_capi.driver.observed import snapshot
from tests.lib import kube_server

SECRETS = '/api/v1/namespaces/n/secrets'


class ReleasesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(kube_server.ApiServer())
        self.kube = self.api.kube()

    def revision(self, number, status, release='c1', **labels):
        self.api.put(
            f'{SECRETS}/sh.helm.release.v1.{release}.v{number}',
            {'kind': 'Secret', 'metadata': {'labels': {
                'owner': 'helm', 'name': release, 'status': status,
                'version': str(number), **labels}}})

    def content(self, number, status, **content):
        packed = gzip.compress(json.dumps(content).encode())
        self.revision(number, status)
        path = f'{SECRETS}/sh.helm.release.v1.c1.v{number}'
        self.api.objects[path]['data'] = {
            'release': base64.b64encode(base64.b64encode(packed)).decode()}

    def test_what_is_applied_is_of_the_deployed_revision(self):
        self.assertIsNone(releases.applied(self.kube, 'n', 'c1'))
        self.content(1, 'superseded', manifest='kind: Old')
        self.content(2, 'deployed', manifest='kind: A', hooks=[
            {'manifest': 'kind: Hook'}])
        self.content(3, 'failed', manifest='kind: New')
        self.assertEqual('kind: A\n---\nkind: Hook',
                         releases.applied(self.kube, 'n', 'c1'))

    def test_the_last_that_is_deployed_counts(self):
        # A helm that is killed between two Secrets leaves two.
        for number in (1, 2):
            self.content(number, 'deployed', manifest=f'kind: {number}')
        self.assertEqual('kind: 2', releases.applied(self.kube, 'n', 'c1'))

    def test_versions_that_are_not_served_any_more(self):
        def manifest(cluster, versions='v1beta1'):
            return (
                '---\n# Source: c/templates/a.yaml\napiVersion: v1\n'
                'kind: Secret\nmetadata:\n  name: c1\nstringData:\n'
                '  a: |\n    ---\n    apiVersion: cluster.x-k8s.io/v1beta1\n'
                '---\n# Source: c/templates/b.yaml\n'
                f'apiVersion: cluster.x-k8s.io/{cluster}\nkind: Cluster\n'
                'metadata: {name: c1}\nspec:\n  controlPlaneRef:\n'
                '    apiVersion: controlplane.cluster.x-k8s.io/v1beta1\n'
                '---\nkind: OpenStackCluster\nmetadata: {name: c1}\n'
                'apiVersion: "infrastructure.cluster.x-k8s.io/'
                f'{versions}"\n---\n# Nothing\n---\n'
                'apiVersion: cluster.x-k8s.io/v1beta1\nkind: ClusterClass\n'
                'metadata: {name: c1}\n')

        def update():
            return releases.update_versions(self.kube, 'n', 'c1')

        kept = {'hooks': [{'manifest': 'kind: Hook'}], 'config': {'a': 1}}
        self.content(1, 'superseded', manifest='kind: A')
        for number, status in ((2, 'deployed'), (3, 'failed')):
            self.content(number, status, manifest=manifest('v1beta1'), **kept)
        # The server prefers v1beta2, but helm still finds the other.
        self.kube.kind('Cluster')
        self.api.withdraw('v1beta1')

        self.assertTrue(update())

        for revision in releases.revisions(self.kube, 'n', 'c1')[1:]:
            self.assertEqual(
                {'manifest': manifest('v1beta2'), **kept},
                releases._record(self.kube, 'n', revision))
        self.assertFalse(update())

    def left(self):
        return [r.number for r in releases.revisions(self.kube, 'n', 'c1')]

    def repair(self):
        return releases.repair(self.kube, 'n', 'c1', dead_after=130)

    def test_state_is_that_of_the_last_revision(self):
        for number in (2, 9, 10):
            self.revision(number, 'superseded')
        self.revision(11, 'deployed', **{'magnum-digest': 'abc'})
        self.revision(12, 'failed', release='c12')
        self.assertEqual(
            snapshot.Release(status='deployed', digest='abc'),
            releases.state(self.kube, 'n', 'c1'))

    def test_failed_release_says_why(self):
        # It was read from labels alone, so no reason was ever shown.
        for said, why in (
                ('Upgrade "c1" failed: cannot patch "c1" with kind Cluster: '
                 'admission webhook "v" denied the request: no',
                 'cannot patch "c1" with kind Cluster: admission webhook "v" '
                 'denied the request: no'),
                ('Release "c1" failed: timed out', 'timed out'),
                ('Upgrade "c1" failed: Patch "https://10.0.0.1:6443/apis": '
                 'dial tcp 10.0.0.1:6443: connect: connection refused',
                 'helm got no answer of the management cluster')):
            self.content(1, 'failed', info={'description': said})
            found = releases.state(self.kube, 'n', 'c1')
            self.assertEqual(('failed', why),
                             (found.status, found.description))

    def test_failed_release_that_cannot_be_read(self):
        # Another revision replaced it between two requests.
        self.revision(1, 'failed')

        def prune(request):
            request.act(SECRETS, {}, None)
            del self.api.objects[f'{SECRETS}/sh.helm.release.v1.c1.v1']

        self.api.faults = [prune]
        found = releases.state(self.kube, 'n', 'c1')
        self.assertEqual(('failed', ''), (found.status, found.description))

    def test_content_of_the_secrets_is_not_asked_for(self):
        releases.state(self.kube, 'n', 'c1')
        self.assertIn('PartialObjectMetadata',
                      self.api.seen[-1][3]['Accept'])

    def test_healthy_release_is_left_alone(self):
        for status in ('deployed', 'failed', 'uninstalling', 'superseded'):
            with self.subTest(status):
                self.revision(1, status)
                self.assertFalse(self.repair())
                self.assertEqual([1], self.left())

    def test_dead_operation_is_taken_away(self):
        # B.4.7: pending releases were never repaired.
        for status in ('pending-install', 'pending-upgrade',
                       'pending-rollback'):
            with self.subTest(status):
                self.revision(1, 'deployed')
                self.revision(2, status)
                self.api.date += 131
                self.api.seen.clear()
                self.assertTrue(self.repair())
                left, = releases.revisions(self.kube, 'n', 'c1')
                # What it has changed is not forgotten.
                self.assertEqual((1, True), (left.number, left.adopted))
                # First this, so that whoever dies in between is followed.
                self.assertEqual(['PATCH', 'DELETE'], [
                    method for method, *_ in self.api.seen
                    if method != 'GET'])

    def test_operation_that_may_live_is_left_alone(self):
        self.revision(1, 'pending-install')
        for seconds, left in ((-5, 135), (45, 90), (60, 30), (29, 1)):
            self.api.date += seconds
            e = self.assertRaises(releases.ReleasePending, self.repair)
            self.assertEqual(
                ('pending-install', f'It counts as dead in {left} s'),
                (e.last_seen, e.hint))
            self.assertEqual([1], self.left())
        self.api.date += 1
        self.assertTrue(self.repair())
        self.assertEqual([], self.left())
        self.assertIsNone(releases.state(self.kube, 'n', 'c1'))
        self.assertFalse(self.repair())

    def test_operation_that_ends_meanwhile_is_left_alone(self):
        self.revision(1, 'pending-upgrade')
        self.api.date += 131

        def end(request):
            # The list shows it pending, then helm finishes.
            request.act(SECRETS, {}, None)
            self.revision(1, 'deployed')

        self.api.faults = [end]
        self.assertRaises(releases.ReleasePending, self.repair)
        self.assertEqual([1], self.left())
