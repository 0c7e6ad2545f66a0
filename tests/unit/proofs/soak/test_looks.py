# SPDX-License-Identifier: Apache-2.0

"""What is read from Magnum's rows and from Kubernetes' objects."""

import base64
import gzip

import testtools

from magnum_capi.driver.desired import names
from tests.proofs.soak import observer
from tests.proofs.soak import secrets

UUID = '06fbf6dc-3c2d-4899-b017-d2b06c0ccd9f'
GROUP = '16fbf6dc-3c2d-4899-b017-d2b06c0ccd9f'
RELEASE = names.cluster(UUID)


def machine(uid, labels, phase='Running', **metadata):
    return {'metadata': {'uid': uid, 'name': uid, 'labels': labels,
                         **metadata},
            'spec': {'version': 'v1.34.2', 'clusterName': RELEASE},
            'status': {'phase': phase}}


class SeenTest(testtools.TestCase):

    def test_machines_are_those_of_their_groups(self):
        of_group = {'cluster.x-k8s.io/deployment-name':
                    names.machine_deployment(RELEASE,
                                             names.node_group(GROUP))}
        seen = observer._seen(
            {'uuid': UUID, 'status': 'CREATE_COMPLETE', 'coe_version': 'v1',
             'cluster_template_id': 't', 'status_reason': None},
            [{'name': 'm', 'role': 'master', 'uuid': UUID, 'status': 'x',
              'node_count': 1},
             {'name': 'w', 'role': 'worker', 'uuid': GROUP, 'status': 'y',
              'node_count': 2}],
            [machine('1', {'cluster.x-k8s.io/control-plane': ''}),
             machine('2', of_group),
             machine('3', of_group, 'Provisioning'),
             machine('4', of_group, deletionTimestamp='now'),
             machine('5', {'cluster.x-k8s.io/deployment-name': 'other'})], 1)

        self.assertEqual([('1', True)], [
            (m.uid, m.runs) for m in seen.groups['m'].machines])
        self.assertEqual([('2', True), ('3', False), ('4', False)], [
            (m.uid, m.runs) for m in seen.groups['w'].machines])
        self.assertEqual((('Machine 5',), ('t', 'v1'), 1), (
            seen.strangers, seen.release, seen.credentials))

    def test_what_is_gone_has_no_machines(self):
        seen = observer._seen({}, [], [machine('1', {})], 0)

        self.assertEqual((None, ('Machine 1',)),
                         (seen.status, seen.strangers))


class SecretsTest(testtools.TestCase):

    key = ('-----BEGIN PRIVATE KEY-----\nalike\nnearly\nlike\nunlike\nend\n'
           '-----END PRIVATE KEY-----\n')
    clouds = ('clouds: {openstack: {auth: {application_credential_id: x, '
              'application_credential_secret: hidden}}}')

    def found(self, **more):
        return {('Secret', 'n', f'{RELEASE}-ca'): f'certificate\n{self.key}',
                ('Secret', 'n', f'{RELEASE}-cloud-credentials'): self.clouds,
                **more}

    def test_they_are_known_by_what_is_unlike_others(self):
        self.assertEqual(
            {'hidden': 'application credential', 'unlike': 'private key'},
            secrets.needles(self.found(), RELEASE))

    def test_they_are_found_in_objects_and_in_texts(self):
        places = secrets.places(
            {**self.found(), ('ConfigMap', 'n', 'x'): 'has hidden in it'},
            RELEASE, {'hidden': 'what'}, [('log', 'file', '... hidden ...')])

        self.assertEqual(
            [('Secret', f'{RELEASE}-cloud-credentials'), ('ConfigMap', 'x'),
             ('log', 'file')], [(p.kind, p.name) for p in places])

    def test_what_helm_keeps_is_unpacked(self):
        packed = base64.b64encode(base64.b64encode(gzip.compress(b'hidden')))

        self.assertEqual('hidden', secrets._decoded(packed))
        self.assertEqual('plain', secrets._decoded(
            base64.b64encode(b'plain')))
