# SPDX-License-Identifier: Apache-2.0

"""Finds secrets of clusters in every object, log and answer."""

import base64
import binascii
import gzip
import json
import re

from magnum_capi.driver.desired import names
from tests.proofs.soak import model

#: Kinds in addition to those of Cluster API and of addons.
_CORE = (('secrets', 'Secret'), ('configmaps', 'ConfigMap'),
         ('serviceaccounts', 'ServiceAccount'), ('events', 'Event'))

_SECRET = re.compile(r'application_credential_secret: *[\'"]?([^\s\'"}]+)')
_KEYS = ('ca', 'etcd', 'proxy', 'sa')


def contents(api) -> dict[tuple[str, str, str], str]:
    """Text of every object of clusters, with Secrets decoded.

    :param api: kube.Client of the management cluster.
    :returns: by kind, namespace and name.
    """
    found = {}
    for group, version, plural, kind in api.kinds(
            lambda group: group.endswith('cluster.x-k8s.io')
            or group in ('addons.stackhpc.com', 'coordination.k8s.io')):
        found |= _texts(kind, api.custom(group, version, plural))
    for plural, kind in _CORE:
        found |= _texts(kind, api.core(plural))
    return found


def _texts(kind, objects):
    return {(kind, o['metadata'].get('namespace', ''), o['metadata']['name']):
            json.dumps(o) if kind != 'Secret' else '\n'.join(
                _decoded(value) for value in (o.get('data') or {}).values())
            for o in objects}


def _decoded(value):
    data = base64.b64decode(value)
    try:
        # Helm's Secrets are encoded twice.
        data = gzip.decompress(base64.b64decode(data, validate=True))
    except (binascii.Error, OSError, EOFError):
        pass
    return data.decode(errors='replace')


def needles(found, release) -> dict[str, str]:
    """The secrets of a cluster.

    :param found: result of :func:`contents`.
    :returns: unique texts, and what each of them is.
    """
    secret = {}
    for (kind, _namespace, name), text in found.items():
        if kind != 'Secret':
            continue
        if name == names.credentials(release):
            for word in _SECRET.findall(text):
                secret[word] = 'application credential'
        elif name in {names.certificate(release, k) for k in _KEYS}:
            # A line of the key; the first lines are alike for all keys.
            head, _begin, key = text.partition('PRIVATE KEY-----')
            if key:
                secret[key.split()[3]] = 'private key'
    return secret


def places(found, release, secret, texts=()) -> list[model.Place]:
    """Places of the secrets of a cluster.

    :param secret: result of :func:`needles`.
    :param texts: other than objects: triples of a kind, a name and a text.
    """
    everywhere = [*((*key, text) for key, text in found.items()),
                  *((kind, '', name, text) for kind, name, text in texts)]
    return [model.Place(release, what, kind, namespace, name)
            for kind, namespace, name, text in everywhere
            for needle, what in secret.items() if needle in text]
