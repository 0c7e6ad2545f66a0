# SPDX-License-Identifier: Apache-2.0


"""A workload that serves traffic in a cluster, and its observation."""

import collections.abc
import contextlib
import dataclasses
import threading
import time
from urllib import parse

from magnum_capi import waiting
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.tests.common.workloads import downtime
from magnum_capi_tempest.tests.common.workloads import manifests

_CORE = f'/api/v1/namespaces/{manifests.NAMESPACE}'
_APPS = f'/apis/apps/v1/namespaces/{manifests.NAMESPACE}'

#: Seconds between two readings of the clients' logs: this much of a log is
#: lost with a node that disappears.
_PAUSE = 2

#: Seconds after which the aftermath of a change no longer excuses anything:
#: Kubernetes notices a lost node within 40 to 50 s.
SETTLED = 120


@dataclasses.dataclass(frozen=True)
class Watched:
    """What was observed of a workload during an operation.

    :param seconds: duration of the operation.
    :param ways: way -> :class:`.downtime.Summary`.
    :param api: longest time without an answer from the Kubernetes API.
    """

    seconds: float
    ways: dict[str, downtime.Summary]
    api: float

    def __str__(self) -> str:
        return '\n'.join([
            *(f'by {way}: {found}' for way, found in self.ways.items()),
            f'Kubernetes API: no answer for {self.api:.1f} s at most',
            f'watched for {self.seconds:.0f} s'])


class Serving:
    """The workload of one cluster.

    :param kubeconfig: path.
    :param image: see :func:`.manifests.objects`.
    :param timeout: seconds for it to be ready.
    :param clock: see :class:`~..waiting.Clock`.
    """

    def __init__(self, kubeconfig: str, image: str, timeout: float,
                 clock: waiting.Clock = time) -> None:
        self._image = image
        self._timeout = timeout
        self._clock = clock
        self._hands = kube.Client(kubeconfig)

    def start(self) -> None:
        """Create it and wait until it is served on every node.

        :raises KubeError: the API refused.
        :raises WaitTimeout: it does not become ready; the error says why.
        """
        for path, obj in manifests.objects(self._image):
            self._hands.ask('POST', path, obj)
        self.wait()

    def wait(self) -> None:
        """Wait until all replicas, and a client on every node, are ready."""
        waiting.wait_for(
            self._missing, done=lambda missing: not missing,
            timeout=self._timeout, what='the workload', clock=self._clock,
            describe='; '.join)

    def _missing(self) -> list[str]:
        """What is not ready, a line each."""
        try:
            web = self._hands.ask('GET', f'{_APPS}/deployments/web')
            clients = self._hands.ask('GET', f'{_APPS}/daemonsets/client')
            nodes = len(self._hands.nodes())
            pods = self._hands.core('pods')
        except kube.KubeError as e:
            if e.is_final:
                raise
            return [str(e)]
        found = []
        for obj, ready, wanted in (
                (web, 'readyReplicas', manifests.REPLICAS),
                (clients, 'numberReady', nodes)):
            status = obj.get('status') or {}
            if (status.get(ready) or 0) != wanted or status.get(
                    'observedGeneration') != obj['metadata']['generation']:
                found.append(f'{status.get(ready) or 0} of {wanted} of '
                             f'{obj["metadata"]["name"]} are ready')
        if found:
            found += [str(p) for p in map(workload.pod, pods)
                      if p.namespace == manifests.NAMESPACE and p.reason]
        return found

    def reach_each_other(self) -> int:
        """Wait until every node's pods can reach those of all other nodes.

        Right after a change, a pod of a deleted node may still be listed.

        :returns: number of pairs of nodes that were checked.
        :raises KubeError: the API refused.
        :raises WaitTimeout: some cannot; the error names each pair.
        """
        _, asked = waiting.wait_for(
            self._observe, done=lambda found: not found[0],
            timeout=SETTLED, what='traffic between all nodes',
            clock=self._clock, describe=lambda found: '; '.join(found[0]))
        return asked

    def _observe(self) -> tuple[list[str], int]:
        """Like silent_pairs, but tolerates an unavailable API."""
        try:
            return self.silent_pairs()
        except kube.KubeError as e:
            if e.is_final:
                raise
            return [str(e)], 0

    def silent_pairs(self) -> tuple[list[str], int]:
        """Pairs of nodes without traffic between them, and why.

        The client on each node has its server query those of all other nodes,
        from pod to pod.

        :returns: sentences, and the number of pairs that were checked.
        """
        nodes = {n['metadata']['name'] for n in self._hands.nodes()}
        clients = [c for c in self.clients() if c['spec']['nodeName'] in nodes]
        bad, asked = [], 0
        for one in clients:
            for other in clients:
                if one is other:
                    continue
                asked += 1
                said = self._dial(one, other['status']['podIP'])
                if said != other['metadata']['name']:
                    bad.append(f'{one["spec"]["nodeName"]} -> '
                               f'{other["spec"]["nodeName"]}: {said}')
        return bad, asked

    def _dial(self, pod: json_types.Object, address: str) -> str:
        query = parse.urlencode({
            'host': address, 'port': manifests.PORT, 'request': 'hostname',
            'protocol': 'http', 'tries': 3})
        name = f'{pod["metadata"]["name"]}:{manifests.PORT}'
        try:
            answer = self._hands.ask(
                'GET', f'{_CORE}/pods/{name}/proxy/dial?{query}')
        except kube.KubeError as e:
            return str(e)
        heard = set(answer.get('responses') or ())
        return heard.pop() if len(heard) == 1 else str(answer)

    def clients(self) -> list[json_types.Object]:
        """Running client pods, one per node."""
        found = self._hands.ask(
            'GET', f'{_CORE}/pods?labelSelector=app%3D{manifests.CLIENT}')
        return [p for p in found['items']
                if p['status'].get('phase') == 'Running'
                and not p['metadata'].get('deletionTimestamp')]

    @contextlib.contextmanager
    def watched(self) -> collections.abc.Iterator['Watch']:
        """Observe the workload until the block ends.

        Yields a :class:`Watch`; its ``stop`` ends it earlier.
        """
        watch = Watch(self.clients, self._hands)
        watch.start()
        try:
            yield watch
        finally:
            watch.stop()


class Watch:
    """Reads the clients' logs in a thread, until it is stopped.

    The times in the logs are those of the nodes' clocks, which may differ from
    ours. So the beginning and the end are also taken from there.

    :param clients: function without arguments: the pods of the clients.
    :param reader: for logs, :class:`~..kubeclient.kube.Client`.
    """

    def __init__(
            self,
            clients: collections.abc.Callable[[], list[json_types.Object]],
            reader: kube.Client) -> None:
        self._clients = clients
        self._reader = reader
        self._began = self._started = time.time()
        self._rounds: dict[tuple[str, float], downtime.Round] = {}
        self._newest: dict[str, float] = {}
        #: The newest of all times in the logs, and our time when it was read.
        self._last: tuple[float, float] | None = None
        self._answers: list[float] = []
        self._seen: Watched | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._observe()
        self._began, self._started = self._now(), time.time()
        self._thread.start()

    def _now(self) -> float:
        """The time of the nodes' clocks; of ours as long as it is unknown."""
        if self._last is None:
            return time.time()
        newest, read = self._last
        return newest + time.time() - read

    def stop(self) -> Watched:
        """Stop, and return what was observed."""
        if self._seen is not None:
            return self._seen
        ended, stopped = self._now(), time.time()
        self._over.set()
        self._thread.join()
        self._observe()
        moments = [self._started, *(
            a for a in self._answers if self._started < a < stopped), stopped]
        self._seen = Watched(
            stopped - self._started,
            {way: downtime.summarise(self._rounds.values(), way, self._began,
                                     ended) for way in downtime.WAYS},
            max(b - a for a, b in zip(moments, moments[1:])))
        return self._seen

    def _run(self) -> None:
        while not self._over.wait(_PAUSE):
            self._observe()

    def _observe(self) -> None:
        try:
            clients = self._clients()
        except kube.KubeError:
            return
        self._answers.append(time.time())
        for pod in clients:
            name = pod['metadata']['name']
            try:
                log = self._reader.text(
                    kube.log_path(manifests.NAMESPACE, name),
                    container=manifests.CLIENT, timestamps='true',
                    sinceSeconds=self._since(name))
            except kube.KubeError:
                # Its node is leaving or new; others are still read.
                continue
            for one in downtime.parse(log, name):
                self._rounds[one.client, one.at] = one
                self._newest[name] = max(one.at, self._newest.get(name, 0))
                if self._last is None or one.at > self._last[0]:
                    self._last = one.at, time.time()

    def _since(self, name: str) -> int:
        """How much of a client's log to read again, in seconds."""
        newest = self._newest.get(name, self._began)
        return max(0, int(self._now() - newest)) + 5
