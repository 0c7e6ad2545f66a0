# SPDX-License-Identifier: Apache-2.0

"""A client that answers from informers, for periodic checks.

Every conductor checks a thousand healthy clusters every minute. This client's
answers lag behind the server's by the delay of an event, so they are only used
to find out that there is nothing to do; before acting, ask the server itself.
"""

import functools
import time

from magnum_capi.kube import informer
from magnum_capi.kube import kinds
from magnum_capi.kube import kube
from magnum_capi.kube import pages
from magnum_capi.kube import rest
from magnum_capi import waiting

#: Kinds that the check of a healthy cluster reads.
KINDS = ('Cluster', 'KubeadmControlPlane', 'MachineDeployment', 'Machine')


class CachedKube(kube.Kube):
    """Like Kube; gets and lists of some kinds are answered from memory.

    :param secrets: label of the Secrets whose versions are tracked.
    """

    def __init__(self, connection: rest.Rest, secrets: str,
                 clock: waiting.Clock = time) -> None:
        super().__init__(connection, clock)
        self._informers = {
            name: informer.Informer(
                connection, name, functools.partial(self.kind, name), clock)
            for name in KINDS}
        self._versions = informer.Informer(
            connection, 'Secret', functools.partial(self.kind, 'Secret'),
            clock, labels=secrets, metadata=True)

    def get(self, kind: str, namespace: str | None,
            name: str) -> kinds.Object | None:
        known = self._informers.get(kind)
        if known is None or namespace is None or not known.fresh:
            return super().get(kind, namespace, name)
        return known.get(namespace, name)

    def list(self, kind: str, namespace: str | None,
             labels: pages.Labels | None = None) -> kinds.Objects:
        known = self._informers.get(kind)
        if (known is None or namespace is None or not isinstance(labels, dict)
                or labels.keys() != {informer.CLUSTER} or not known.fresh):
            return super().list(kind, namespace, labels)
        return known.of_cluster(namespace, labels[informer.CLUSTER])

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
