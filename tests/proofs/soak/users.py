# SPDX-License-Identifier: Apache-2.0

"""The users of a sandbox: their requests to Magnum, and its answers."""

import concurrent.futures
import dataclasses
import threading
import time

import requests

from magnum_capi.driver.desired import names
from magnum_capi import errors
from magnum_capi import waiting
from tests.functional import cloud
from tests.proofs import boxes
from tests.proofs.soak import model
from tests.proofs.soak import stories

#: Maximum seconds for a step "wait".
WAIT = 90

#: Seconds after its answer in which a request may be lost with its conductor:
#: Magnum acknowledges it first and writes rows later.
LOSES = 15

#: Seconds between two requests for a cluster. Magnum may swap requests that
#: arrive within milliseconds, and its status is outdated for a while.
APART = 3

_PACE = waiting.Pace(0.5, 1.2, 1.5)


@dataclasses.dataclass(frozen=True)
class _Request:
    """A request that was sent.

    :param doubt: whether Magnum's conductor may drop it.
    :param future: of its model.Answer and the time of that.
    """

    step: stories.Step
    sent: float
    doubt: bool
    release: tuple[str, str] | None
    future: concurrent.futures.Future


class Cluster:
    """A cluster that a user requested.

    :param story: its name in stories.
    """

    def __init__(self, story):
        self.story, self.user, self.uuid = story, stories.OWNERS[story], None
        self.name = f'{story}-{time.monotonic_ns():x}'
        self.expected = model.Expected()
        self.requests = []
        #: Whether a fault affected its machines since the last quiet period.
        self.hit = False
        #: Whether it was seen to have failed since then.
        self.has_failed = False
        self.cures = 0
        #: Times since which it has been well, and since which it has failed.
        self.well = self.ill = None
        #: The previous observation.
        self.last = None

    @property
    def release(self):
        return names.cluster(self.uuid)

    def answers(self):
        """Wait for the answers to all requests."""
        return [request.future.result() for request in self.requests]

    def fold(self, kills, say):
        """Update the desired state from the requests and their answers.

        :param kills: times at which a conductor was killed.
        :param say: function of a text.
        """
        for request, (answer, when) in zip(self.requests, self.answers()):
            say(f'    {request.step}: {answer.value}')
            self.expected = model.asked(
                self.expected, request.step, answer,
                request.doubt or any(
                    request.sent - APART < kill < when + LOSES
                    for kill in kills), request.release)
        self.requests.clear()


class Users:
    """The users of one sandbox, who do not wait for answers to requests.

    :param box: box.Box.
    :param pool: executor that waits for the answers.
    :ivar sent, accepted: numbers of requests.
    """

    def __init__(self, box, pool):
        self._pool = pool
        self.sent = self.accepted = 0
        key = box.connect('demo').compute.find_keypair('demo')
        nova = box.connect().compute
        if not nova.find_keypair('demo'):
            nova.create_keypair(name='demo', public_key=key.public_key)
        self.clouds = {name: cloud.Cloud(box.sandbox, user=name)
                       for name in sorted(set(stories.OWNERS.values()))}
        self._templates = {
            name: boxes.templates(its) for name, its in self.clouds.items()}
        self.namespaces = {
            name: names.namespace(box.connect(name).current_project_id)
            for name in self.clouds}

    def create(self, step) -> Cluster:
        """Request a new cluster, and wait for the answer."""
        name, workers, flavor = step.args
        cluster = Cluster(name)
        self._send(cluster, step, 'POST', 'clusters', {
            'name': cluster.name, 'keypair': 'demo', 'master_count': 1,
            'cluster_template_id': self._templates[cluster.user][boxes.OLD],
            'node_count': int(workers), 'flavor_id': flavor})
        cluster.answers()
        return cluster

    def ask(self, cluster, step):
        """Send another request, after all earlier ones for a cluster.

        Nothing can be requested for a cluster with an unknown uuid.
        """
        cluster.answers()
        if self.find(cluster):
            self._send(cluster, step, *self._request(cluster, step))

    def _request(self, cluster, step):
        """Method, path and body of a step."""
        path, args = f'clusters/{cluster.uuid}', step.args
        new = self._templates[cluster.user][boxes.NEW]
        if step.op == 'resize':
            return 'POST', f'{path}/actions/resize', {
                'nodegroup': args[1], 'node_count': int(args[2])}
        if step.op == 'add-group':
            return 'POST', f'{path}/nodegroups', {
                'name': args[1], 'node_count': int(args[2]),
                'flavor_id': args[3]}
        if step.op == 'upgrade':
            # Without max_batch_size Magnum 23.0.0 answers 500.
            return 'POST', f'{path}/actions/upgrade', {
                'cluster_template': new, 'max_batch_size': 1}
        if step.op == 'change-template':
            # It would lead to other machines.
            return 'PATCH', f'clustertemplates/{new}', [{
                'op': 'replace', 'path': '/flavor_id', 'value': 'm1.medium'}]
        return {
            'remove-group': ('DELETE', f'{path}/nodegroups/{args[-1]}', None),
            'rotate': ('PATCH', f'credentials/{cluster.uuid}', None),
            'rotate-ca': ('PATCH', f'certificates/{cluster.uuid}', None),
            'delete': ('DELETE', path, None)}[step.op]

    def _send(self, cluster, step, method, path, body):
        _apart(cluster)
        status = (self.row(cluster) or {}).get('status')
        version = {'create': boxes.OLD, 'upgrade': boxes.NEW}.get(step.op)
        self.sent += 1
        cluster.requests.append(_Request(
            step, time.monotonic(),
            step.op not in ('create', 'delete') and status not in model.TAKEN,
            version and (self._templates[cluster.user][version], version),
            self._pool.submit(self._answer, cluster, method, path, body)))

    def _answer(self, cluster, method, path, body):
        try:
            answer = self.clouds[cluster.user].magnum(
                method, path, body, timeout=180)
        except requests.RequestException:
            return model.Answer.UNKNOWN, time.monotonic()
        if answer.ok and path == 'clusters':
            cluster.uuid = answer.json()['uuid']
        self.accepted += answer.ok
        return (model.Answer.ACCEPTED if answer.ok
                else model.Answer.REFUSED if answer.status_code < 500
                else model.Answer.UNKNOWN), time.monotonic()

    def get(self, user, path) -> dict | None:
        """Magnum's answer, {} for a 404, None if there is no answer."""
        try:
            answer = self.clouds[user].magnum('GET', path, timeout=20)
            if answer.status_code != 404:
                answer.raise_for_status()
            return {} if answer.status_code == 404 else answer.json()
        except requests.RequestException:
            return None

    def find(self, cluster) -> str | None:
        """The uuid, even of a cluster whose creation was not answered."""
        if not cluster.uuid:
            found = self.get(cluster.user, 'clusters') or {}
            cluster.uuid = next((c['uuid'] for c in found.get('clusters', ())
                                 if c['name'] == cluster.name), None)
        return cluster.uuid

    def row(self, cluster) -> dict | None:
        """Like :meth:`get`, for a cluster; also None if it has no uuid."""
        return cluster.uuid and self.get(
            cluster.user, f'clusters/{cluster.uuid}')

    def wait(self, cluster) -> bool:
        """Wait until a cluster is not in progress; returns False if it is."""
        cluster.answers()
        _apart(cluster)
        try:
            waiting.wait_for(
                lambda: (self.row(cluster) or {}).get('status') or '_IN_',
                done=lambda status: '_IN_' not in status, timeout=WAIT,
                what=cluster.name, pace=_PACE)
        except errors.WaitTimeout:
            return False
        return True

    def empty(self, clusters, timeout):
        """Delete clusters.

        :raises MagnumCapiError: some remain.
        """
        clusters = [c for c in clusters if c.answers() and self.find(c)]
        for cluster in clusters:
            self.clouds[cluster.user].magnum(
                'DELETE', f'clusters/{cluster.uuid}')
        for cluster in clusters:
            self.clouds[cluster.user].wait_gone(cluster.uuid, timeout)


def _apart(cluster):
    if cluster.requests:
        threading.Event().wait(max(
            0, cluster.requests[-1].sent + APART - time.monotonic()))
