# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import base64
import functools
import json

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives import serialization
import testtools
import yaml

from magnum_capi_tempest.evidence import redact
from magnum_capi_tempest import kubeconfig

#: (text, the secret in it).
SECRETS = (
    ('{"password": "hunter2"}', 'hunter2'),
    ('{"adminPass": "hunter2"}', 'hunter2'),
    ("{'password': 'hunter2'}", 'hunter2'),
    ('{"password": "hun\\"ter2"}', 'ter2'),
    ('password: hunter2', 'hunter2'),
    ('password = hunter2', 'hunter2'),
    ('admin_password=hunter2', 'hunter2'),
    ('os_password: "hunter 2"', 'hunter 2'),
    ('--password hunter2 --name x', 'hunter2'),
    ('--os-password=hunter2', 'hunter2'),
    ('passphrase: hunter2', 'hunter2'),
    ('application_credential_secret: "abc-DEF_123"', 'abc-DEF_123'),
    ('application_credential_secret=abc-DEF_123', 'abc-DEF_123'),
    ('{"application_credential": {"secret": "abc"}}', 'abc'),
    ('client_secret=abc', 'abc'),
    ('X-Auth-Token: 0123456789abcdef', '0123456789abcdef'),
    ("{'X-Auth-Token': '0123456789abcdef'}", '0123456789abcdef'),
    ('x-subject-token: 0123456789abcdef', '0123456789abcdef'),
    ('Authorization: Bearer abc.def', 'abc.def'),
    ('authorization: "Basic YWxpY2U6eA=="', 'YWxpY2U6eA=='),
    ('token: abcdef', 'abcdef'),
    ('"id_token": "abc"', 'abc'),
    ('refresh-token: abc', 'abc'),
    ('got gAAAAABn' + 'x' * 60 + ' from keystone', 'x' * 20),
    ('eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl', 'c2lnbm'),
    ('kubeadm join --token abcdef.0123456789abcdef', '0123456789abcdef'),
    ('https://alice:hunter2@registry.example/x', 'hunter2'),
    ('client-key-data: TUlJRXBBSUJBQUtD', 'TUlJRXBBSUJBQUtD'),
    ('"client-key-data": "TUlJRXBBSUJBQUtD"', 'TUlJRXBBSUJBQUtD'),
    ('clouds.yaml: Y2xvdWRzOgo=', 'Y2xvdWRzOgo='),
    ('"tls.key": "TUlJRXBBSUJBQUtD"', 'TUlJRXBBSUJBQUtD'),
    ('data:\n  password: |\n    hunter2\n    more\n  user: x', 'more'),
    ('Set-Cookie: session=abc', 'session=abc'),
)

#: Text that looks a little like a secret and helps to understand a failure.
HARMLESS = (
    'Secret magnum-1/c1-ca not found',
    'the password is wrong',
    'secretName: my-secret',
    'token expired',
    'cluster c1 is CREATE_FAILED (no valid host)',
    '{"password": null}',
    'api_address: https://127.0.0.1:6443',
    'client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    '-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n'
    '-----END CERTIFICATE REQUEST-----',
    'keypair: alice-key',
    'uuid 0d3b5cbd-25de-4f0b-a3c1-8f5a4d6b3c1e',
)


def _pem(key, form):
    return key.private_bytes(
        serialization.Encoding.PEM, form,
        serialization.NoEncryption()).decode()


@functools.cache
def keys():
    """Return private keys in all forms of PEM that tools here write."""
    small = ec.generate_private_key(ec.SECP256R1())
    big = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat
    return [_pem(big, form.TraditionalOpenSSL), _pem(big, form.PKCS8),
            _pem(small, form.TraditionalOpenSSL), _pem(small, form.OpenSSH)]


class RedactTest(testtools.TestCase):

    def test_secrets_go(self):
        for text, secret in SECRETS:
            self.assertNotIn(secret, redact.redact(text), text)

    def test_a_mark_stays(self):
        for text, _ in SECRETS:
            self.assertIn('<redacted>', redact.redact(text), text)

    def test_the_rest_stays(self):
        for text in HARMLESS:
            self.assertEqual(text, redact.redact(text))

    def test_twice_is_once(self):
        for text, _ in SECRETS:
            once = redact.redact(text)
            self.assertEqual(once, redact.redact(once))

    def test_what_follows_a_secret_stays(self):
        self.assertEqual(
            'a: 1\ndata:\n  password: <redacted>\n  user: x\nb: 2',
            redact.redact('a: 1\ndata:\n  password: |\n    hunter2\n'
                          '  user: x\nb: 2'))
        self.assertEqual('{"password": "<redacted>", "b": 2}',
                         redact.redact('{"password": "x", "b": 2}'))

    def test_json_stays_json(self):
        text = json.dumps({'password': 'a"b', 'pem': keys()[0], 'ok': 1})

        self.assertEqual(1, json.loads(redact.redact(text))['ok'])

    def test_private_keys_go_in_every_form(self):
        for pem in keys():
            middle = pem.splitlines()[2]
            for text in (pem, json.dumps({'key': pem}),
                         yaml.safe_dump({'key': pem}), pem[:-60]):
                self.assertNotIn(middle, redact.redact(text), text[:40])

    def test_private_keys_in_base64_go(self):
        for pem in keys():
            text = base64.b64encode(pem.encode()).decode()

            self.assertEqual('value: <redacted>',
                             redact.redact(f'value: {text}'))

    def test_a_kubeconfig_keeps_only_what_is_public(self):
        document = kubeconfig.document('https://x', 'CA', 'CERT', keys()[0])
        user = document['users'][0]['user']

        for text in (yaml.safe_dump(document), json.dumps(document)):
            shown = redact.redact(text)
            self.assertNotIn(user['client-key-data'][:40], shown)
            self.assertIn(user['client-certificate-data'], shown)

    def test_a_kubeconfig_in_base64_goes(self):
        document = kubeconfig.document('https://x', 'CA', 'CERT', keys()[0])
        for order in (False, True):
            text = base64.b64encode(yaml.safe_dump(
                document, sort_keys=order).encode()).decode()

            self.assertEqual('value: <redacted>',
                             redact.redact(f'value: {text}'))

    def test_long_lines_end(self):
        # patterns that look back and forth would need hours for these
        for text in ('a' * 100000, 'secret-' * 10000, '  \n' * 30000,
                     'password: |\n' + '  \n' * 30000):
            self.assertLessEqual(len(redact.redact(text)), len(text))
