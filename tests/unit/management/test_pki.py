# SPDX-License-Identifier: Apache-2.0

import base64
import datetime
import pathlib
import ssl
import stat
from unittest import mock

from cryptography.hazmat.primitives import serialization
from cryptography import x509
import fixtures
import testtools
import yaml

from magnum_capi_tempest.management import pki

ADDRESS, URL = '127.80.0.1', 'https://127.80.0.1:30443'


class MakeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.pki = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'pki'
        pki.make(self.pki, ADDRESS, URL)

    def certificate(self, name):
        return x509.load_pem_x509_certificate(
            (self.pki / f'{name}.crt').read_bytes())

    def test_chains_verify(self):
        ca = self.certificate('ca')
        for path in self.pki.rglob('*.crt'):
            name = path.relative_to(self.pki).with_suffix('')
            certificate = self.certificate(name)
            certificate.verify_directly_issued_by(ca)
            key = serialization.load_pem_private_key(
                path.with_suffix('.key').read_bytes(), None)
            self.assertEqual(certificate.public_key(), key.public_key())

    def test_go_takes_the_pairs(self):
        """It refuses critical extensions that have no content."""
        for path in self.pki.rglob('*.crt'):
            certificate = x509.load_pem_x509_certificate(path.read_bytes())
            for extension in certificate.extensions:
                if isinstance(extension.value, x509.SubjectAlternativeName):
                    self.assertNotEqual([], [*extension.value], path)

    def test_openssl_takes_the_pairs(self):
        context = ssl.create_default_context(cafile=self.pki / 'ca.crt')
        for name in ('server', 'admin', 'etcd-client', 'webhook/tls'):
            context.load_cert_chain(self.pki / f'{name}.crt',
                                    self.pki / f'{name}.key')

    def test_server_names(self):
        names = self.certificate('server').extensions.\
            get_extension_for_class(x509.SubjectAlternativeName).value
        self.assertEqual(
            [ADDRESS, '127.0.0.1'],
            [str(a) for a in names.get_values_for_type(x509.IPAddress)])
        for name in ('localhost', 'kubernetes.default'):
            self.assertIn(name, names.get_values_for_type(x509.DNSName))

    def test_administrator_is_in_the_masters_group(self):
        subject = self.certificate('admin').subject.rfc4514_string()
        self.assertIn('O=system:masters', subject)

    def test_etcd_client_is_no_administrator(self):
        subject = self.certificate('etcd-client').subject.rfc4514_string()
        self.assertNotIn('system:masters', subject)

    def test_only_the_owner_reads(self):
        for path in [self.pki, *self.pki.rglob('*')]:
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(0o700 if path.is_dir() else 0o600, mode, path)

    def test_kubeconfig(self):
        config = yaml.safe_load((self.pki / 'admin.kubeconfig').read_text())
        cluster = config['clusters'][0]['cluster']
        self.assertEqual(URL, cluster['server'])
        self.assertEqual(
            (self.pki / 'ca.crt').read_bytes(),
            base64.b64decode(cluster['certificate-authority-data']))

    def test_made_again(self):
        before = (self.pki / 'ca.crt').read_bytes()
        pki.make(self.pki, ADDRESS, URL)
        self.assertNotEqual(before, (self.pki / 'ca.crt').read_bytes())
        self.assertEqual([self.pki], list(self.pki.parent.iterdir()))

    def test_usable(self):
        self.assertTrue(pki.usable(self.pki, ADDRESS))

    def test_not_usable_for_another_address(self):
        self.assertFalse(pki.usable(self.pki, '127.81.0.1'))

    def test_not_usable_when_missing_or_broken(self):
        self.assertFalse(pki.usable(self.pki / 'nowhere', ADDRESS))
        (self.pki / 'server.crt').write_text('half a cert')
        self.assertFalse(pki.usable(self.pki, ADDRESS))

    def test_not_usable_when_it_expires(self):
        later = (datetime.datetime.now(datetime.UTC)
                 + datetime.timedelta(days=pki.LIFETIME))
        with mock.patch.object(pki.datetime, 'datetime') as clock:
            clock.now.return_value = later
            self.assertFalse(pki.usable(self.pki, ADDRESS))
