# SPDX-License-Identifier: Apache-2.0

import base64
import os
import stat

from cryptography.hazmat.primitives import serialization
from cryptography import x509
from cryptography.x509.oid import NameOID
import fixtures
import testtools
import yaml

from magnum_capi_tempest import kubeconfig


class SigningRequestTest(testtools.TestCase):

    def test_asks_for_an_administrator(self):
        request = kubeconfig.signing_request()

        subject = x509.load_pem_x509_csr(request.csr.encode()).subject
        self.assertEqual(
            [(NameOID.COMMON_NAME, 'admin'),
             (NameOID.ORGANIZATION_NAME, 'system:masters')],
            [(part.oid, part.value) for part in subject])

    def test_is_signed_by_its_own_key(self):
        request = kubeconfig.signing_request()

        csr = x509.load_pem_x509_csr(request.csr.encode())
        key = serialization.load_pem_private_key(request.key.encode(), None)
        self.assertTrue(csr.is_signature_valid)
        self.assertEqual(key.public_key(), csr.public_key())

    def test_two_requests_have_two_keys(self):
        self.assertNotEqual(kubeconfig.signing_request().key,
                            kubeconfig.signing_request().key)

    def test_repr_hides_the_key(self):
        request = kubeconfig.SigningRequest(csr='public', key='private')

        self.assertNotIn('private', repr(request))


class DocumentTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.document = kubeconfig.document(
            'https://127.0.0.9:6443', 'CA', 'CERT', 'KEY', name='c1')

    def test_current_context_leads_to_cluster_and_user(self):
        context = self.document['contexts'][0]

        self.assertEqual('c1', self.document['current-context'])
        self.assertEqual('c1', context['name'])
        self.assertEqual({'cluster': self.document['clusters'][0]['name'],
                          'user': self.document['users'][0]['name']},
                         context['context'])

    def test_material_is_in_base64(self):
        def plain(text):
            return base64.b64decode(text).decode()

        cluster = self.document['clusters'][0]['cluster']
        user = self.document['users'][0]['user']
        self.assertEqual('https://127.0.0.9:6443', cluster['server'])
        self.assertEqual('CA', plain(cluster['certificate-authority-data']))
        self.assertEqual('CERT', plain(user['client-certificate-data']))
        self.assertEqual('KEY', plain(user['client-key-data']))

    def test_without_certificate_the_user_is_nobody(self):
        document = kubeconfig.document('https://x', 'CA', None, None)

        self.assertEqual({}, document['users'][0]['user'])


class WriteTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'kubeconfig')

    def mode(self):
        return stat.S_IMODE(os.stat(self.path).st_mode)

    def test_only_the_owner_can_read_it(self):
        kubeconfig.write(self.path, {'kind': 'Config'})

        self.assertEqual(0o600, self.mode())

    def test_an_older_file_gets_closed(self):
        with open(self.path, 'w') as f:
            f.write('old and longer than what comes')
        os.chmod(self.path, 0o644)

        kubeconfig.write(self.path, {'kind': 'Config'})

        self.assertEqual(0o600, self.mode())
        with open(self.path) as f:
            self.assertEqual({'kind': 'Config'}, yaml.safe_load(f))

    def test_does_not_follow_a_link(self):
        # given a link that another user of the machine placed
        target = f'{self.path}.target'
        os.symlink(target, self.path)

        kubeconfig.write(self.path, {})

        self.assertFalse(os.path.exists(target))
        self.assertFalse(os.path.islink(self.path))
