# SPDX-License-Identifier: Apache-2.0

"""The CRDs of a new management cluster, as an API server stored them before.

To accept forty CRDs one by one costs an API server 4 CPU seconds, to find them
in etcd when it starts a tenth of that. So only the first cluster creates them
with requests. What its API server made of them is kept in the cache, and
written to the etcd of later ones before their API server starts.
"""

import base64
import collections.abc
import datetime
import hashlib
import json
import pathlib
import uuid

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import manifests
from magnum_capi_tempest import paths

#: Version in which API servers store CRDs; 1.36 still does, although it no
#: longer serves that.
STORED = 'apiextensions.k8s.io/v1beta1'

#: Where, each under its own key, as JSON.
PREFIX = '/registry/apiextensions.k8s.io/customresourcedefinitions/'

#: Key after all that begin with the prefix: "0" follows "/".
_END = f'{PREFIX[:-1]}0'


def path(crds: collections.abc.Sequence[json_types.Object],
         apiserver: pathlib.Path) -> pathlib.Path:
    """Where the cache keeps these CRDs, if it does.

    :param crds: as they were created, but for a cluster's address and
        authority: those of :func:`.manifests.load`.
    :param apiserver: path of the program; its version is part of it.
    """
    made_of = json.dumps([str(apiserver), crds], sort_keys=True).encode()
    return (paths.cache() / 'manifests'
            / f'stored-{hashlib.sha256(made_of).hexdigest()[:12]}.json')


def any_in(etcd: kube.Client) -> bool:
    """Whether a cluster has CRDs.

    :param etcd: :class:`.kube.Endpoint` with a client certificate, here and
        below.
    :raises KubeError: no answer, here and below.
    """
    return bool(_range(etcd, count_only=True).get('count'))


def save(etcd: kube.Client, target: pathlib.Path, progress: progress.Progress
         ) -> None:
    """Keep the CRDs of a cluster in the cache.

    Neither its address and authority, nor what tells one CRD from another of
    its name. Without disk space in the cache nothing is kept.

    :param target: see :func:`path`.
    """
    found = [json.loads(base64.b64decode(pair['value']))
             for pair in _range(etcd).get('kvs', ())]
    if any(crd['apiVersion'] != STORED for crd in found):
        progress.info('The CRDs are not kept for later: this API server '
                      'stores them in another version')
        return
    for crd in found:
        for field in ('uid', 'creationTimestamp'):
            crd['metadata'].pop(field)
        crd['spec'].get('conversion', {}).pop('webhookClientConfig', None)
    try:
        manifests.keep(target, found)
    except errors.EnvironmentProblem as e:
        progress.info(f'The CRDs cannot be kept for later: {e}')


def restore(etcd: kube.Client, source: pathlib.Path,
            aimed: collections.abc.Sequence[json_types.Object],
            progress: progress.Progress) -> bool:
    """Write CRDs from the cache to an etcd that has none.

    :param source: see :func:`path`.
    :param aimed: the CRDs with the address and authority of this cluster.
    :returns: whether the cache had them.
    """
    try:
        stored = manifests.kept(source)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as e:
        progress.info(f'Creating CRDs with requests, as {source} is damaged: '
                      f'{e}')
        return False
    wanted = {crd['metadata']['name']: crd for crd in aimed}
    now = f'{datetime.datetime.now(datetime.timezone.utc):%FT%TZ}'
    for crd in stored:
        name = crd['metadata']['name']
        crd['metadata'] |= {'uid': str(uuid.uuid4()),
                            'creationTimestamp': now}
        webhook = wanted[name]['spec'].get('conversion', {}).get('webhook')
        if webhook:
            crd['spec']['conversion']['webhookClientConfig'] = webhook[
                'clientConfig']
        etcd.ask('POST', '/v3/kv/put', {
            'key': _encoded(PREFIX + name),
            'value': _encoded(json.dumps(crd))})
    return True


def _range(etcd: kube.Client, **how: bool) -> json_types.Object:
    return etcd.ask('POST', '/v3/kv/range', {
        'key': _encoded(PREFIX), 'range_end': _encoded(_END), **how})


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
