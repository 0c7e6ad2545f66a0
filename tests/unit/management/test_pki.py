# SPDX-License-Identifier: Apache-2.0

import datetime
import pathlib
import stat
from unittest import mock

from cryptography import x509
import fixtures
import testtools

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

    def test_etcd_client_is_no_administrator(self):
        subject = self.certificate('etcd-client').subject.rfc4514_string()
        self.assertNotIn('system:masters', subject)

    def test_only_the_owner_reads(self):
        for path in [self.pki, *self.pki.rglob('*')]:
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(0o700 if path.is_dir() else 0o600, mode, path)

    def test_another_server(self):
        folder = self.pki.with_name('tls')
        pki.make_server(folder, ADDRESS)
        authority, server = (x509.load_pem_x509_certificate(
            (folder / name).read_bytes()) for name in ('ca.crt', 'server.crt'))
        server.verify_directly_issued_by(authority)
        self.assertTrue(pki.usable(folder, ADDRESS))
        # Nobody can sign another one.
        self.assertEqual(
            {'ca.crt': 0o600, 'server.crt': 0o600, 'server.key': 0o600},
            {p.name: stat.S_IMODE(p.stat().st_mode)
             for p in folder.iterdir()})

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
