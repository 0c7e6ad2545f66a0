# SPDX-License-Identifier: Apache-2.0

"""The objects of one kind in memory: listed once, then watched.

Works like client-go's reflector and store
(https://kubernetes.io/docs/reference/using-api/api-concepts/
#efficient-detection-of-changes), for all namespaces at once. It keeps the JSON
of an object, without unused fields; callers get a copy.

An informer is fresh while its watch is open, and for a moment after.
Otherwise callers must ask the server, so an unreachable server, a kubeconfig
without the right to watch and a kind that is not served have the same effect
as without an informer.
"""

import collections
import collections.abc
import json
import math
import random
import threading
import typing

from oslo_log import log as logging

from magnum_capi import errors
from magnum_capi.kube import kinds
from magnum_capi.kube import pages
from magnum_capi.kube import rest
from magnum_capi import waiting

LOG = logging.getLogger(__name__)

#: Label of objects that belong to a Cluster (Cluster API,
#: api/core/v1beta1/common_types.go: ClusterNameLabel).
CLUSTER = 'cluster.x-k8s.io/cluster-name'

#: Minimum and maximum seconds after which the server ends a watch: a
#: connection that was lost silently is noticed soon after.
_WATCH = 20.0, 30.0

#: Seconds for which the objects count as fresh without a watch.
_GRACE = 5.0

#: Minimum and maximum seconds before the next try after a failure, so that
#: conductors do not return all at once.
_PAUSE = 1.0, 4.0

#: The same when the user of the kubeconfig lacks the right.
_REFUSED = 240.0, 360.0

_Key: typing.TypeAlias = tuple[str, str]


class Informer:
    """The objects of a kind; starts with the first call.

    :param find: returns the Kind as it is served now; see kube.Kube.kind.
    :param labels: selector of the objects.
    :param metadata: whether only names and resourceVersions are read and
        kept: no secrets.
    """

    def __init__(self, connection: rest.Rest, name: str,
                 find: collections.abc.Callable[[], kinds.Kind | None],
                 clock: waiting.Clock, *, labels: str | None = None,
                 metadata: bool = False) -> None:
        self._rest = connection
        self._name = name
        self._find = find
        self._clock = clock
        self._labels = labels
        self._metadata = metadata
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        #: By namespace and name: JSON, and the Cluster that it belongs to.
        self._objects: dict[_Key, tuple[bytes, str | None]] = {}
        #: Names by namespace and Cluster.
        self._of_cluster: dict[_Key, set[str]] = collections.defaultdict(set)
        #: Where to continue watching, None: list again first.
        self._since: tuple[str, str] | None = None
        self._watching = False
        self._seen = -math.inf

    @property
    def fresh(self) -> bool:
        """Whether the objects are up to date."""
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(
                    target=self._run, name=f'informer-{self._name}',
                    daemon=True)
                self._thread.start()
            return self._watching or (
                self._clock.monotonic() < self._seen + _GRACE)

    def get(self, namespace: str, name: str) -> kinds.Object | None:
        """An object, None when it is unknown."""
        with self._lock:
            found = self._objects.get((namespace, name))
        return None if found is None else _loaded(found[0])

    def of_cluster(self, namespace: str, cluster: str) -> kinds.Objects:
        """The objects that Cluster API has labelled with a Cluster."""
        with self._lock:
            found = [self._objects[namespace, name][0] for name in sorted(
                self._of_cluster.get((namespace, cluster), ()))]
        return [_loaded(content) for content in found]

    def stop(self) -> None:
        """End soon; no longer fresh."""
        self._stopped.set()
        with self._lock:
            self._watching, self._seen = False, -math.inf

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._follow()
                continue
            except rest.Forbidden as e:
                LOG.warning('%s are read separately for every cluster: %s',
                            self._name, e)
                pause = _REFUSED
            except errors.MagnumCapiError as e:
                LOG.info('The watch of %s restarts: %s', self._name, e)
                pause = _PAUSE
            except Exception:
                LOG.exception('The watch of %s restarts', self._name)
                pause = _PAUSE
            self._stopped.wait(random.uniform(*pause))

    def _follow(self) -> None:
        """List if necessary, and watch once."""
        kind = self._find()
        if kind is None:
            raise rest.NotServed(f'{self._name} is not served')
        path = kind.path(everywhere=True)
        if (self._since is None or self._since[0] != path
                or self._clock.monotonic() > self._seen + _GRACE):
            # After a gap there is no sign that a watch has caught up.
            self._list(path)
        try:
            self._watch(path)
        except rest.KubeError as e:
            if e.status is not None:
                # It refused to continue from there, mostly with 410.
                self._since = None
            raise
        finally:
            with self._lock:
                if self._watching:
                    self._watching = False
                    self._seen = self._clock.monotonic()

    def _list(self, path: str) -> None:
        found, version = pages.listed(
            self._rest, path, self._kept, self._labels,
            accept=self._accept('List'))
        with self._lock:
            self._objects.clear()
            self._of_cluster.clear()
            for key, content, cluster in found:
                self._put(key, content, cluster)
        self._since = path, version

    def _watch(self, path: str) -> None:
        assert self._since is not None
        events = self._rest.events(path, {
            'labelSelector': self._labels, 'allowWatchBookmarks': 'true',
            'resourceVersion': self._since[1]}, {
                'Accept': self._accept('')}, random.uniform(*_WATCH),
            opened=self._opened)
        for event in events:
            if self._stopped.is_set():
                return
            kind, obj = event.get('type'), event.get('object') or {}
            if kind == 'ERROR':
                raise rest.KubeError(
                    'A watch was ended', status=obj.get('code', 0),
                    reason=obj.get('reason'), last_seen=obj.get('message'))
            if kind != 'BOOKMARK':
                key, content, cluster = self._kept(obj)
                with self._lock:
                    self._drop(key)
                    if kind != 'DELETED':
                        self._put(key, content, cluster)
            self._since = path, obj['metadata']['resourceVersion']

    def _opened(self) -> None:
        with self._lock:
            self._watching = not self._stopped.is_set()

    def _put(self, key: _Key, content: bytes, cluster: str | None) -> None:
        self._objects[key] = content, cluster
        if cluster is not None:
            self._of_cluster[key[0], cluster].add(key[1])

    def _drop(self, key: _Key) -> None:
        _, cluster = self._objects.pop(key, (b'', None))
        if cluster is not None:
            names = self._of_cluster[key[0], cluster]
            names.discard(key[1])
            if not names:
                del self._of_cluster[key[0], cluster]

    def _kept(self, obj: kinds.Object) -> tuple[_Key, bytes, str | None]:
        metadata = obj['metadata']
        key = metadata['namespace'], metadata['name']
        if self._metadata:
            return key, json.dumps({'metadata': {
                'resourceVersion': metadata['resourceVersion']}}).encode(), (
                    None)
        obj = {**obj, 'metadata': {
            k: v for k, v in metadata.items() if k != 'managedFields'}}
        return (key, json.dumps(obj, separators=(',', ':')).encode(),
                (metadata.get('labels') or {}).get(CLUSTER))

    def _accept(self, list_: str) -> str:
        return ('application/json;g=meta.k8s.io;v=v1;'
                f'as=PartialObjectMetadata{list_}' if self._metadata
                else 'application/json')


def _loaded(content: bytes) -> kinds.Object:
    found: kinds.Object = json.loads(content)
    return found
