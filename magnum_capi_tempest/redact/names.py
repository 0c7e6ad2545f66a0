# SPDX-License-Identifier: Apache-2.0
"""Which names have a secret value: one rule for all syntaxes.

``adminPass``, ``ADMIN_PASS``, ``admin-pass`` and ``admin.pass`` are the same
words, and the last words say what a value is. ``secretName`` and ``token_url``
are not secrets, ``secret_key`` is one and ``public_key`` is not.
"""

import functools
import re

BEARER = 'bearer-token'
BOOTSTRAP = 'bootstrap-token'
COOKIE = 'cookie'
KUBECONFIG = 'kubeconfig-key'
OPENSTACK = 'openstack-secret'
PASSWORD = 'password'
PRIVATE_KEY = 'private-key'
REGISTRY = 'registry-auth'
SECRET = 'secret'
URL = 'url-credentials'

#: Ends of names of whole documents with secrets, as in data of Secrets.
_DOCUMENTS = (
    ('clouds.yaml', OPENSTACK), ('clouds.yml', OPENSTACK),
    ('cloud.conf', OPENSTACK), ('cloud-config', OPENSTACK),
    ('cloud_config', OPENSTACK), ('value.kubeconfig', KUBECONFIG),
    ('dockerconfigjson', REGISTRY), ('dockercfg', REGISTRY),
)

#: Last words, also as the end of a longer one (``authtoken``).
_WORDS = {
    'authorization': BEARER, 'cookie': COOKIE, 'cookies': COOKIE,
    'identitytoken': REGISTRY, 'pass': PASSWORD, 'passcode': PASSWORD,
    'passphrase': PASSWORD, 'passwd': PASSWORD, 'password': PASSWORD,
    'passwords': PASSWORD, 'psk': SECRET, 'pwd': PASSWORD,
    'registrytoken': REGISTRY, 'secret': SECRET, 'token': BEARER,
    'accesskey': SECRET, 'apikey': SECRET, 'certificatekey': SECRET,
    'clientkey': PRIVATE_KEY, 'encryptionkey': SECRET, 'fernetkey': SECRET,
    'privatekey': PRIVATE_KEY, 'secretkey': SECRET, 'signingkey': SECRET,
}
#: The longest first: a registry's identitytoken is not a bearer token.
_ENDS = tuple(sorted(_WORDS, key=len, reverse=True))

#: Words with such an end that mean something else.
_OTHERS = frozenset((
    'bypass', 'compass', 'encompass', 'overpass', 'surpass', 'trespass',
    'underpass'))

#: Words before "key" that make the key a secret.
_KEYS = {
    **dict.fromkeys((
        'ca', 'client', 'dsa', 'ec', 'ecdsa', 'ed25519', 'etcd', 'private',
        'proxy', 'rsa', 'sa', 'server', 'ssl', 'tls'), PRIVATE_KEY),
    **dict.fromkeys((
        'access', 'account', 'aes', 'api', 'auth', 'certificate',
        'decryption', 'encrypt', 'encryption', 'fernet', 'hmac', 'jwt',
        'license', 'master', 'preshared', 'recovery', 'secret', 'session',
        'shared', 'sign', 'signing', 'storage', 'symmetric', 'unseal'),
        SECRET)}

#: Harmless names that sound like secrets: etcd's name for a new cluster.
_HARMLESS = frozenset(('initialclustertoken',))

#: Last words that only describe the format of the value.
_FORMS = frozenset((
    'b64', 'base', 'base64', 'bytes', 'content', 'contents', 'data', 'der',
    'digits', 'encoded', 'hash', 'pem', 'plain', 'plaintext', 'raw', 'str',
    'string', 'text', 'value'))

_SPLIT = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+(?:64\b)?|\d+')

#: Characters of a name that are examined, from its end.
_MOST = 100


@functools.lru_cache(1 << 13)
def kind(name: str, before: str = '') -> str | None:
    """Return the kind of secret that a name has.

    :param name: in any case, with ``_``, ``-`` or ``.`` between words.
    :param before: text before it, for ``private key``.
    :returns: kind of secret, None when it is not one.
    """
    name = name[-_MOST:]
    words = split(name)
    if not words:
        return None
    found = _of_document(name) or _of_words(words)
    if not found and words == ['key']:
        found = _of_words(split(before)[-1:] + words)
    if not found or 'existing' in words or ''.join(words) in _HARMLESS:
        # ``existingSecret`` in Helm charts is the name of a Secret.
        return None
    if words[0] == 'os' or words[-3:] == [
            'application', 'credential', 'secret']:
        return OPENSTACK
    return found


def split(name: str) -> list[str]:
    """Split a name into lower-case words, without those about its format."""
    words = [word.lower() for word in _SPLIT.findall(name)]
    while len(words) > 1 and (words[-1] in _FORMS or words[-1].isdigit()):
        del words[-1]
    return words


def _of_document(name: str) -> str | None:
    name = name.lower()
    return next((kind for end, kind in _DOCUMENTS if name.endswith(end)),
                None)


def _of_words(words: list[str]) -> str | None:
    last = words[-1]
    if last in ('key', 'keys'):
        if words[-2:] == ['client', 'key']:
            return KUBECONFIG
        return _KEYS.get(words[-2]) if len(words) > 1 else None
    if last in _OTHERS:
        return None
    if last == 'token' and 'bootstrap' in words:
        return BOOTSTRAP
    # "passPhrase" and "pass_word" are usually one word.
    joined = ''.join(words[-2:])
    return next((_WORDS[end] for end in _ENDS
                 if last.endswith(end) or joined == end), None)
