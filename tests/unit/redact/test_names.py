# SPDX-License-Identifier: Apache-2.0
import testtools

from magnum_capi_tempest.redact import names

SECRET = {
    'password': names.PASSWORD, 'adminPass': names.PASSWORD,
    'ADMIN_PASS': names.PASSWORD, 'db-pass': names.PASSWORD,
    'rootPwd': names.PASSWORD, 'userpassword': names.PASSWORD,
    'passPhrase': names.PASSWORD, 'password2': names.PASSWORD,
    'passwordBase64': names.PASSWORD, 'new_password_hash': names.PASSWORD,
    'OS_PASSWORD': names.OPENSTACK, 'os-token': names.OPENSTACK,
    'application_credential_secret': names.OPENSTACK,
    'applicationCredentialSecret': names.OPENSTACK,
    'clouds.yaml': names.OPENSTACK, 'cloud-config': names.OPENSTACK,
    'X-Auth-Token': names.BEARER, 'authtoken': names.BEARER,
    'Authorization': names.BEARER, 'Set-Cookie': names.COOKIE,
    'bootstrapToken': names.BOOTSTRAP, 'identitytoken': names.REGISTRY,
    '.dockerconfigjson': names.REGISTRY, 'secretKey': names.SECRET,
    'secret_key': names.SECRET, 'aws_secret_access_key': names.SECRET,
    'certificateKey': names.SECRET, 'fernet_key': names.SECRET,
    'fernetkey': names.SECRET, 'API-KEY': names.SECRET,
    'hmac_keys': names.SECRET, 'client-key-data': names.KUBECONFIG,
    'tls.key': names.PRIVATE_KEY, 'front-proxy-ca.key': names.PRIVATE_KEY,
    'privateKeyPem': names.PRIVATE_KEY,
}

NONE = (
    '', '...', 'name', 'key', 'bypass', 'compass', 'secretName', 'secret_ref',
    'token_url', 'tokenTTL', 'public_key', 'keypair', 'cacheKey',
    'access_key_id', 'existingSecret', 'password_expires_at', 'pass_through',
    'OS_PASSWORD_FILE', 'discovery-token-ca-cert-hash', 'ssh_key', 'secrets',
    'initial-cluster-token', 'authorization_mode', 'tokenizer')


class KindTest(testtools.TestCase):

    def test_secrets(self):
        self.assertEqual(SECRET, {name: names.kind(name) for name in SECRET})

    def test_others(self):
        self.assertEqual({}, {
            name: kind for name in NONE if (kind := names.kind(name))})

    def test_the_word_before_a_key(self):
        self.assertEqual(names.PRIVATE_KEY, names.kind('key', 'private '))
        self.assertIsNone(names.kind('key', 'public '))
