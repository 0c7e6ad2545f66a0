# SPDX-License-Identifier: Apache-2.0

"""The objects of some kinds in memory: listed once, then watched.

Every conductor checks a thousand healthy clusters every minute. Answers from
here lag behind the server's by the delay of an event, so they are only used to
find out that there is nothing to do; before acting, ask the server itself.

This works like client-go's reflector and store
(https://kubernetes.io/docs/reference/using-api/api-concepts/
#efficient-detection-of-changes), for all namespaces at once. An informer is
fresh while its watch is open, and for a moment after. Otherwise the server is
asked, so an unreachable server, a kubeconfig without the right to watch and a
kind that is not served have the same effect as without an informer.
"""

import collections
import json
import math
import random
import threading
import typing

from oslo_log import log as logging

from magnum_capi import errors
from magnum_capi.kube import client
from magnum_capi.kube import kinds
from magnum_capi.kube import rest

LOG = logging.getLogger(__name__)

#: Kinds that the check of a healthy cluster reads.
KINDS = ('Cluster', 'KubeadmControlPlane', 'MachineDeployment', 'Machine')

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

#: The Cluster that an object belongs to, and its JSON.
_Stored: typing.TypeAlias = tuple[str | None, bytes]


class CachedKube(client.Kube):
    """Like Kube; gets and lists of some kinds are answered from memory.

    :param kube: client of the same server.
    :param secrets: label of the Secrets whose versions are tracked.
    """

    def __init__(self, kube: client.Kube, secrets: str) -> None:
        super().__init__(kube.rest, kube.served)
        self._informers = {name: Informer(kube, name) for name in KINDS}
        self._versions = Informer(kube, 'Secret', labels=secrets)

    def get(self, kind: str, namespace: str | None,
            name: str) -> kinds.Object | None:
        known = self._informers.get(kind)
        if known is None or namespace is None or not known.fresh:
            return super().get(kind, namespace, name)
        return known.get(namespace, name)

    def list(self, kind: str, namespace: str | None,
             labels: client.Labels | None = None) -> kinds.Objects:
        known = self._informers.get(kind)
        if (known is None or namespace is None or not isinstance(labels, dict)
                or labels.keys() != {CLUSTER} or not known.fresh):
            return super().list(kind, namespace, labels)
        return known.of_cluster(namespace, labels[CLUSTER])

    def version(self, namespace: str, secret: str) -> str | None:
        """resourceVersion of a Secret, None when unknown."""
        if not self._versions.fresh:
            return None
        found = self._versions.get(namespace, secret)
        return (None if found is None
                else str(found['metadata']['resourceVersion']))

    def stop(self) -> None:
        """End the watches."""
        for known in (*self._informers.values(), self._versions):
            known.stop()


class Informer:
    """The objects of a kind; starts with the first question for freshness.

    Objects are stored as JSON, without ``managedFields``; callers get a copy.

    :param name: of the kind.
    :param labels: selector of the objects. Of these only the metadata are
        read: no secrets.
    """

    def __init__(self, kube: client.Kube, name: str,
                 labels: str | None = None) -> None:
        self._kube = kube
        self._clock = kube.rest.clock
        self._name = name
        self._labels = labels
        form = 'application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata'
        self._accept = form if labels else 'application/json'
        self._accept_list = f'{form}List' if labels else 'application/json'
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        #: By namespace and name.
        self._objects: dict[str, dict[str, _Stored]] = (
            collections.defaultdict(dict))
        #: Path and resourceVersion to watch from, None: list again first.
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
            return self._watching or not self._has_gap()

    def get(self, namespace: str, name: str) -> kinds.Object | None:
        """An object, None when it is unknown."""
        with self._lock:
            _, content = self._objects.get(namespace, {}).get(
                name, (None, b'null'))
        found: kinds.Object | None = json.loads(content)
        return found

    def of_cluster(self, namespace: str, cluster: str) -> kinds.Objects:
        """The objects that Cluster API has labelled with a Cluster."""
        with self._lock:
            found = sorted(
                (name, content) for name, (of, content)
                in self._objects.get(namespace, {}).items() if of == cluster)
        return [json.loads(content) for _, content in found]

    def stop(self) -> None:
        """End soon; no longer fresh."""
        self._stopped.set()
        with self._lock:
            self._watching, self._seen = False, -math.inf

    def _has_gap(self) -> bool:
        return self._clock.monotonic() > self._seen + _GRACE

    def _run(self) -> None:
        while not self._stopped.is_set():
            pause = _PAUSE
            try:
                self._follow()
                continue
            except rest.Forbidden as e:
                LOG.warning('%s are read separately for every cluster: %s',
                            self._name, e)
                pause = _REFUSED
            except errors.MagnumCapiError as e:
                LOG.info('The watch of %s restarts: %s', self._name, e)
            except Exception:
                LOG.exception('The watch of %s restarts', self._name)
            self._stopped.wait(random.uniform(*pause))

    def _follow(self) -> None:
        """List if necessary, and watch once."""
        kind = self._kube.kind(self._name)
        if kind is None:
            raise rest.NotServed(f'{self._name} is not served')
        path = kind.path()
        if self._since is None or self._since[0] != path or self._has_gap():
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
        listed, version = client.read_pages(
            self._kube.rest, path, _stored, self._labels,
            accept=self._accept_list)
        with self._lock:
            self._objects.clear()
            for namespace, name, stored in listed:
                self._objects[namespace][name] = stored
        self._since = path, version

    def _watch(self, path: str) -> None:
        assert self._since is not None
        events = self._kube.rest.events(path, {
            'labelSelector': self._labels, 'allowWatchBookmarks': 'true',
            'resourceVersion': self._since[1]}, {'Accept': self._accept},
            random.uniform(*_WATCH), opened=self._opened)
        for event in events:
            if self._stopped.is_set():
                return
            kind, obj = event['type'], event['object']
            if kind == 'ERROR':
                raise rest.KubeError(
                    'A watch was ended', status=obj.get('code', 0),
                    reason=obj.get('reason'), last_seen=obj.get('message'))
            if kind != 'BOOKMARK':
                namespace, name, stored = _stored(obj)
                with self._lock:
                    if kind == 'DELETED':
                        self._objects[namespace].pop(name, None)
                    else:
                        self._objects[namespace][name] = stored
            self._since = path, obj['metadata']['resourceVersion']

    def _opened(self) -> None:
        with self._lock:
            self._watching = not self._stopped.is_set()


def _stored(obj: kinds.Object) -> tuple[str, str, _Stored]:
    """Namespace, name and what is stored of an object."""
    metadata = {k: v for k, v in obj['metadata'].items()
                if k != 'managedFields'}
    content = json.dumps({**obj, 'metadata': metadata}, separators=(',', ':'))
    cluster = (metadata.get('labels') or {}).get(CLUSTER)
    return metadata['namespace'], metadata['name'], (cluster, content.encode())
