# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver adopt`` next to a conductor, with the real helm.

This driver takes over two clusters of a template of magnum-capi-helm; one of
them is then used and deleted with this driver. Takes minutes.
"""

import json
import os

from magnum_capi import waiting
from tests.functional import boxes
from tests.functional.driver import test_values
from tests.system.driver import clusters

#: Neither the default port base nor that of other tests.
PORT_BASE = 30500

_FORMER = 'k8s_capi_helm_v1'


@boxes.LONG
class AdoptionTest(clusters.Base):

    def setUp(self):
        super().setUp()
        self.one = self.box(port_base=PORT_BASE)
        self.up(*self.chart())
        self.old = self.template(driver=_FORMER)
        self.alpha, self.beta = self.clusters(self.old, 'Alpha_1', 'beta')
        self.releases = {one['cluster']: one['release']
                         for one in self.adopt('--all')}

    def chart(self):
        """Arguments of "sandbox up": the sandbox's own chart."""
        return ()

    def rotate(self, machines):
        """Give the first cluster a new credential; it keeps its machines."""
        used = self.credential()
        self.assertEqual(
            machines, self.change('PATCH', f'credentials/{self.alpha}'))
        self.assertNotEqual(used, self.credential())

    def adopt(self, *arguments, code=0):
        """Actual or planned outcome for each cluster."""
        out = self.command('adopt', '-f', 'json', *arguments, code=code)
        return [json.loads(line) for line in out.splitlines()]

    def outcomes(self, *arguments, code=0):
        return [one['outcome'] for one in self.adopt(*arguments, code=code)]

    def request(self, method, path, **body):
        answer = self.user.request('container-infra', method, path,
                                   body or None)
        self.assertIn(answer.status_code, (200, 202, 204), answer.text)

    def driver(self):
        return self.user.request(
            'container-infra', 'GET',
            f'clustertemplates/{self.old}').json()['driver']

    def world(self):
        """Name, uid and generation of all objects that must not change."""
        found = set()
        for kind in ('Cluster', 'KubeadmControlPlane', 'MachineDeployment',
                     'Machine', 'Secret'):
            found |= {
                (kind, one['metadata']['name'], one['metadata']['uid'],
                 one['metadata'].get('generation'))
                for release in self.releases.values()
                for namespace in self.kube.list('Namespace', None)
                for one in self.kube.list_metadata(
                    kind, namespace['metadata']['name'])
                if one['metadata']['name'].startswith(release)}
        return found

    def uids(self):
        return self.machines(self.releases[self.alpha])

    def change(self, method, path, **body):
        """Change the first cluster; returns uids of its machines after it."""
        before = self.updated()
        self.request(method, path, **body)
        # The conductor begins later, and the status before was complete, too.
        waiting.wait_for(self.updated, done=lambda now: now != before,
                         timeout=60, what='the conductor to begin')
        self.wait_for('UPDATE_COMPLETE', self.alpha)
        return self.uids()

    def updated(self):
        return self.user.request(
            'container-infra', 'GET',
            f'clusters/{self.alpha}').json()['updated_at']

    def test_whole_life(self):
        both = [self.alpha, self.beta]
        before = self.world()
        self.assertEqual(
            4, len([one for one in before if one[0] == 'Machine']), before)
        facts = self.adopt('--all')
        self.assertEqual(['would be adopted'] * 2, [
            one['outcome'] for one in facts])
        self.assertEqual(['', ''], [one['difference'] for one in facts])
        self.assertEqual(_FORMER, self.driver())
        self.command('adopt', self.alpha, '--apply', code=2)

        self.assertEqual(['adopted'] * 2, self.outcomes(*both, '--apply'))
        self.assertEqual('k8s_capi_v1', self.driver())
        memory = {one[1] for one in self.world() - before}
        self.assertEqual({f'{release}-magnum'
                          for release in self.releases.values()}, memory)
        self.assertEqual(set(), before - self.world())

        self.assertEqual(['given back'] * 2,
                         self.outcomes(*both, '--undo', '--apply'))
        self.assertEqual((_FORMER, before), (self.driver(), self.world()))
        self.assertEqual(['adopted'] * 2, self.outcomes('--all', '--apply'))

        first = self.uids()
        path = f'clusters/{self.alpha}'
        resized = self.change('POST', f'{path}/actions/resize', node_count=2)
        self.assertEqual((3, set()), (len(resized), first - resized))
        self.assertEqual(['refused', 'refused'],
                         sorted(self.outcomes('--all', '--undo', '--apply',
                                              code=1)))
        self.assertEqual('k8s_capi_v1', self.driver())
        grown = self.change('POST', f'{path}/nodegroups', name='Pool_B',
                            node_count=1, flavor_id='m1.small')
        self.assertEqual((4, set()), (len(grown), resized - grown))
        self.rotate(grown)

        newer = self.template('ubuntu-capi-1.35')
        upgraded = self.change('POST', f'{path}/actions/upgrade',
                               cluster_template=newer, max_batch_size=1)
        self.assertEqual((4, set()), (len(upgraded), upgraded & grown))
        cluster = self.user.request('container-infra', 'GET', path).json()
        self.assertEqual('v1.35.0', cluster['coe_version'])

        self.request('DELETE', path)
        waiting.wait_for(
            lambda: self.user.request(
                'container-infra', 'GET', path).status_code,
            done=lambda code: code == 404, timeout=300,
            what='the cluster to be gone')
        del self.releases[self.beta]
        self.assertEqual(set(), self.world())
        self.assertEqual('CREATE_COMPLETE', self.status(self.beta))
        credentials = self.user.request(
            'identity', 'GET',
            f'users/{self.user.id}/application_credentials').json()
        self.assertEqual([], [
            one['name'] for one in credentials['application_credentials']
            if self.alpha in one['name']])

    def credential(self):
        """Content of the Secret of the first cluster."""
        return [self.kube.get('Secret', namespace['metadata']['name'],
                              f'{self.releases[self.alpha]}-cloud-credentials')
                for namespace in self.kube.list('Namespace', None)
                if namespace['metadata']['name'].startswith('magnum-')
                ][0]['data']['clouds.yaml']


class PublishedChartAdoptionTest(AdoptionTest):

    def chart(self):
        if test_values.PUBLISHED not in os.environ:
            self.skipTest(
                f'{test_values.PUBLISHED} does not say where the chart is')
        return '--chart', os.environ[test_values.PUBLISHED]


class OldestMagnumAdoptionTest(AdoptionTest):
    """A Magnum that neither stores a request's driver nor rotates."""

    def chart(self):
        return '--magnum', '2025.1'

    def template(self, image='ubuntu-capi', driver='k8s_capi_v1'):
        made = super().template(image, driver)
        answer = self.user.request(
            'container-infra', 'PATCH', f'clustertemplates/{made}',
            [{'op': 'replace', 'path': '/driver', 'value': driver}])
        self.assertEqual((200, driver), (answer.status_code,
                                         answer.json().get('driver')))
        return made

    def rotate(self, machines):
        """Do nothing: credentials can only be rotated since Magnum 23."""


class FormerReleaseAdoptionTest(OldestMagnumAdoptionTest):
    """Clusters of magnum-capi-helm 1.3, which does not run on Magnum 23."""

    def chart(self):
        return *super().chart(), '--install', 'magnum-capi-helm==1.3.0'
