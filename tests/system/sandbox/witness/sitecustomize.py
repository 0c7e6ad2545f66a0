# SPDX-License-Identifier: Apache-2.0
"""Records the secrets that programs make, send and receive over HTTP.

Python imports this module if it finds it, so a test that puts this folder into
PYTHONPATH learns the secrets of Tempest's workers: passwords of temporary
users, private keys, secrets of credentials, tokens. One JSON object per line,
in a file for each process in the folder WITNESS_FOLDER.
"""

import json
import os

#: Fields of bodies, and headers, whose values are secrets.
_FIELDS = frozenset((
    'password', 'original_password', 'adminpass', 'private_key', 'secret',
    'trustor_password'))
_HEADERS = frozenset(('x-auth-token', 'x-subject-token'))


def _write(found):
    path = os.path.join(os.environ['WITNESS_FOLDER'], f'{os.getpid()}.jsonl')
    with open(path, 'a', encoding='utf-8') as file:
        for what, value in found:
            file.write(json.dumps({'what': what, 'value': value}) + '\n')


def _of_body(body):
    if isinstance(body, (bytes, bytearray, memoryview)):
        body = bytes(body).decode(errors='replace')
    if not isinstance(body, str):
        return
    try:
        parsed = json.loads(body)
    except ValueError:
        return
    yield from _walk(parsed)


def _walk(value):
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, str) and name.lower() in _FIELDS:
                yield name, item
            yield from _walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item)


def _of_headers(headers):
    for name, value in (headers or {}).items():
        if name.lower() in _HEADERS:
            yield name.lower(), value


def _watch_http():
    from urllib3 import connectionpool
    pool = connectionpool.HTTPConnectionPool
    urlopen = pool.urlopen

    def watched(self, method, url, body=None, headers=None, *args, **kwargs):
        found = [*_of_body(body), *_of_headers(headers)]
        response = urlopen(self, method, url, body, headers, *args, **kwargs)
        found += _of_headers(response.headers)
        if kwargs.get('preload_content', True):
            found += _of_body(response.data)
        _write(found)
        return response

    pool.urlopen = watched


def _watch_keys(module):
    """Watch private keys: Tempest makes those of keypairs itself."""
    from cryptography.hazmat.primitives import serialization
    generate = module.generate_private_key

    def watched(*args, **kwargs):
        key = generate(*args, **kwargs)
        _write([('private_key', key.private_bytes(
            serialization.Encoding.PEM, form,
            serialization.NoEncryption()).decode())
            for form in (serialization.PrivateFormat.PKCS8,
                         serialization.PrivateFormat.TraditionalOpenSSL)])
        return key

    module.generate_private_key = watched


if os.environ.get('WITNESS_FOLDER'):
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric import rsa
    _watch_http()
    _watch_keys(ec)
    _watch_keys(rsa)
