# SPDX-License-Identifier: Apache-2.0

import base64
import functools
import json
import re
import textwrap

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives import serialization
import hypothesis
from hypothesis import strategies
import testtools
import yaml

from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest import redact
from magnum_capi_tempest.redact import patterns
from tests.unit.redact import work

#: The same examples in every run; a slow machine fails no test.
few = hypothesis.settings(
    max_examples=30, derandomize=True, database=None, deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck))

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
    ('password:\n    hunter2\nuser: x', 'hunter2'),
    ('password: "hunter2, cut off here', 'hunter2'),
    ("password: 'it''s hunter2'", 'hunter2'),
    ('{\\"password\\": \\"hunter2 x\\"}', 'hunter2'),
    ('the password password=hunter2', 'hunter2'),
    ('Secret:&Source{Name:x} Password:hunter2', 'hunter2'),
    ('Bearer abcdefghijklmnopqrstuvwxyz', 'abcdefghij'),
    ('https://ghp_0123456789abcdefghij@github.example/x', '0123456789'),
    ('cloud.conf: W0dsb2JhbF0KdXNlcm5hbWU9eA==', 'W0dsb2Jh'),
    ('value: W0dsb2JhbF0KdXNlcm5hbWU9eHh4eHh4eHg=', 'dXNlcm5h'),
    ('value: eyJhdXRocyI6eyJyIjp7ImF1dGgiOiJhIn19fQ==', 'eyJyIjp7'),
    ("CREATE USER magnum IDENTIFIED BY 'hunter2'", 'hunter2'),
)

#: (text, kind of the one secret in it).
KINDS = (
    ('Authorization: Bearer abc.def', redact.BEARER),
    ('X-Auth-Token: 0123456789abcdef', redact.BEARER),
    ('token abcdef.0123456789abcdef', redact.BOOTSTRAP),
    ('Set-Cookie: session=abc', redact.COOKIE),
    ('client-key-data: TUlJRXBBSUJBQUtD', redact.KUBECONFIG),
    ('OS_PASSWORD=hunter2', redact.OPENSTACK),
    ('application_credential_secret: abc', redact.OPENSTACK),
    ('clouds.yaml: Y2xvdWRzOgo=', redact.OPENSTACK),
    ('admin_password=hunter2', redact.PASSWORD),
    ('data:\n  password: |\n    hunter2\n', redact.PASSWORD),
    ('-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----',
     redact.PRIVATE_KEY),
    ('"tls.key": "TUlJRXBBSUJBQUtD"', redact.PRIVATE_KEY),
    ('{"auths": {"r": {"auth": "dXNlcjpwYXNz"}}}', redact.REGISTRY),
    ('.dockerconfigjson: e30=', redact.REGISTRY),
    ('client_secret=abc', redact.SECRET),
    ('https://alice:hunter2@registry.example/x', redact.URL),
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
    'Secret:&SecretVolumeSource{SecretName:ca,}',
    'password: ***',
    'event coredns-7d9f21.17f3a2b1c9d8e7f6',
    'password:\n  user: x',
)

#: What a text may be made of that is hard to read: quadratic patterns would
#: read each of these many times.
HOSTILE = (
    'a', '-', 'secret-', '  \n', 'authorization: ', ' ',
    '-----BEGIN PRIVATE KEY-----!', '-----BEGIN AAAA', '-eyJaaaaaaaaa',
    'eyJaaaaaaaaa.', '://a:b', '://a@b:', 'password="\\', 'password="',
    'password=\\"', '\\"password\\', 'LS0tLS1CRUdJTiAAAA',
    'password: |\n x\n', ' - password: |\n', 'password:\n', '--password ',
    'password=,', 'YXBpVmVyc2lvbjog', '-gAAAAA', 'a:\n ', '"', "'",
    "password=''", '\\', 'authorization:' + ' ' * 100,
    'token: [', 'token: {', 'token:{A:', "password='", "'--token', '",
    '("token", \'', "('token', \"", 'name: token\n value: ',
    '- --token\n- ', '| token | ', '<token>', '\\ntoken: ', 'H4sI',
    'token: b"', 'key: ', 'private key: ', '"token": "\\\\"', 'token: \\"',
    '"token=', '"x=token: ', 'x: {token: ', 'token: "\n ', "token: '\n ",
    'token: a\n  b\n', '  token: >\n   b\n', 'token: "x"\'\'',
    'token="a"b', 'eyJwYXNzd29yZCI6', 'QUJD', 'A' * 60 + '\n  ',
    "identified by '", 'auth":"AAAA', 'token: a] ', 'token=}',
    'token: a b=', '&quot;token&quot;: &quot;', 'token: &quot;',
    '  File "a", line 1, in x\n    token=', '] token: ', '\\n', '\\n  ',
    'token: \\n  a', 'token: |\\n  a', 'token: \'\'\'\'', '\x0b',
)


def texts():
    """Return a strategy: secrets, harmless and hostile text in any mix."""
    pieces = strategies.sampled_from(
        [text for text, _ in SECRETS] + list(HARMLESS) + list(HOSTILE))
    between = strategies.sampled_from(['\n', ' ', ', ', '', '\n  ', '"'])
    return strategies.lists(
        strategies.tuples(pieces | strategies.text(max_size=10), between),
        max_size=12).map(lambda found: ''.join(map(''.join, found)))


def repeats(parsed):
    """Yield the (operator, most) of each repetition in a parsed pattern."""
    for operator, argument in parsed:
        name = str(operator)
        if name.endswith('_REPEAT'):
            yield name, argument[1]
            yield from repeats(argument[2])
        elif name == 'BRANCH':
            for branch in argument[1]:
                yield from repeats(branch)
        elif name in ('SUBPATTERN', 'ASSERT', 'ASSERT_NOT'):
            yield from repeats(argument[-1])
        elif name == 'ATOMIC_GROUP':
            yield from repeats(argument)


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

    def test_the_rest_stays(self):
        for text in HARMLESS:
            self.assertEqual(text, redact.redact(text))

    def test_json_stays_json(self):
        text = json.dumps({'password': 'a"b', 'pem': keys()[0], 'ok': 1})

        self.assertEqual(1, json.loads(redact.redact(text))['ok'])

    def test_private_keys_go_in_every_form(self):
        for pem in keys():
            middle = pem.splitlines()[2]
            for text in (pem, json.dumps({'key': pem}),
                         yaml.safe_dump({'key': pem}), pem[:-60]):
                self.assertNotIn(middle, redact.redact(text), text[:40])

    def test_a_kubeconfig_keeps_only_what_is_public(self):
        document = kubeconfig.document('https://x', 'CA', 'CERT', keys()[0])
        user = document['users'][0]['user']

        for text in (yaml.safe_dump(document), json.dumps(document)):
            shown = redact.redact(text)
            self.assertNotIn(user['client-key-data'][:40], shown)
            self.assertIn(user['client-certificate-data'], shown)

    def test_blocks_cut_through_no_secret(self):
        pem = keys()[0]
        wrapped = textwrap.fill(base64.b64encode(pem.encode()).decode(), 76)
        yaml_block = 'password: |\n  hunter2\n  hunter3\n'
        text = f'a: b\n{pem}c: d\n{wrapped}\ne: f\n{yaml_block}g: h\n'

        for size in range(700, 4000, 333):
            blocks = list(redact.blocks(text.splitlines(True), size))
            self.assertEqual(text, ''.join(blocks))
            shown = ''.join(map(redact.redact, blocks))
            self.assertEqual(redact.redact(text), shown)
            self.assertNotIn('hunter3', shown)

    def test_blocks_are_not_endless(self):
        lines = ['-----BEGIN PRIVATE KEY-----\n', *['x\n'] * 1000]

        self.assertLess(max(map(len, redact.blocks(lines, 100))), 500)

    def test_places_are_those_of_the_text(self):
        lines = ['a\n', 'password: x\n', 'b\n', keys()[0], 'c\n',
                 'https://u:p@h token: y\n']
        text = ''.join(lines).splitlines(True)

        found = list(redact.places(text))

        self.assertEqual(
            [(2, (redact.PASSWORD,)), (4, (redact.PRIVATE_KEY,)),
             (len(text), (redact.BEARER, redact.URL))],
            [(number, tuple(sorted(kinds))) for number, kinds in found])

    def test_each_finder_finds_its_own_kind(self):
        """Also when all finders are made before the first one is called."""
        finders = list(redact.finders())
        text = '\n'.join(text for text, _ in (*KINDS, *SECRETS))

        found = [{kind for kind, *_ in find(text)} for find in finders]

        for kinds, (kind, _) in zip(found, patterns.RULES):
            self.assertEqual({kind}, kinds)

    @few
    @hypothesis.given(texts())
    def test_twice_finds_nothing_more(self, text):
        once = redact.examine(text)

        self.assertEqual(redact.Redacted(once.text),
                         redact.examine(once.text))

    @few
    @hypothesis.given(texts())
    def test_lines_stay_where_they_are(self, text):
        self.assertEqual(text.count('\n'), redact.redact(text).count('\n'))

    @few
    @hypothesis.given(strategies.sampled_from(SECRETS),
                      strategies.lists(strategies.sampled_from(HARMLESS)))
    def test_neighbours_hide_no_secret(self, secret, lines):
        text, hidden = secret
        whole = '\n'.join([*lines, text, '', *lines])

        self.assertNotIn(hidden, redact.redact(whole))

    def test_work_grows_as_text_does(self):
        """Patterns read four times as much of four times as long a text."""
        counted = self.useFixture(work.Work(redact))
        self.assertGreater(counted.patterns, 50)
        for piece in HOSTILE:
            less, more = (
                counted.of(redact.redact, piece * (length // len(piece) + 1))
                for length in (3000, 12000))

            self.assertLess(more, 5 * less, piece)

    def test_patterns_read_a_run_once(self):
        """Work grows as the text does: no repetition is tried again."""
        for _, pattern in patterns.RULES:
            parsed = re._parser.parse(pattern.pattern, pattern.flags)
            found = list(repeats(parsed))
            self.assertTrue(found, pattern.pattern)
            for name, most in found:
                if name != 'POSSESSIVE_REPEAT':
                    self.assertLessEqual(int(most), 64, pattern.pattern)
            first = str(parsed[0][0])
            self.assertNotIn('REPEAT', first, pattern.pattern)
