# SPDX-License-Identifier: Apache-2.0

import os
import stat

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

    def test_repr_hides_the_key(self):
        request = kubeconfig.SigningRequest(csr='public', key='private')

        self.assertNotIn('private', repr(request))


class DocumentTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.document = kubeconfig.document(
            'https://127.0.0.9:6443', 'CA', 'CERT', 'KEY', name='c1')

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
