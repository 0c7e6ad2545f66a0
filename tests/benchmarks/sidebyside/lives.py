# SPDX-License-Identifier: Apache-2.0
"""What users do, by Magnum's REST API, and when its status says it is done."""

import collections
import dataclasses
import time

from magnum_capi import errors
from magnum_capi import waiting
from tests.benchmarks.sidebyside import truth
from tests.functional import cloud

#: Nodes of workers get ready 20 s late: time to say COMPLETE too early.
SLOW = 'slow.node'

#: Seconds for all operations of one phase, and for each of them: a hundred
#: creates keep two processors busy for a quarter of an hour.
PATIENCE = 600
EACH = 15
PACE = 1.0


class Broken(errors.MagnumCapiError):
    """What was measured is not what it should be: no figure is to be had."""


@dataclasses.dataclass
class Life:
    """An operation; times in seconds of time.monotonic.

    :param kind: ``create`` or ``resize``.
    :param name: of the Cluster, once Magnum knows it.
    :param asked: before the request was sent.
    :param shown: when the REST API was first seen to say that it is done;
        it said otherwise ``blind`` seconds before.
    :param true: when the objects were complete, None: they were not yet.
    :param early: what was missing when COMPLETE was shown, empty: nothing.
    :param addons: addons that were not deployed then.
    """

    driver: str
    kind: str
    uuid: str
    asked: float
    name: str | None = None
    shown: float | None = None
    blind: float = 0.0
    status: str | None = None
    true: float | None = None
    early: str = ''
    addons: str = ''


class Magnum:
    """The clusters of this benchmark.

    :param box: sandbox.Box.
    :param management: watching.Management.
    """

    def __init__(self, box, management, drivers):
        self._management = management
        self._user = cloud.Cloud(box, timeout=120)
        self._templates = {
            name: self._user.make_template(
                name=f'bench-{name}', driver=name, flavor_id=SLOW)
            for name in drivers}
        #: Clusters by driver: ids, oldest first.
        self.clusters = {name: [] for name in drivers}
        self.names = {}

    @staticmethod
    def version(box):
        """Version of Kubernetes of the clusters, by their image."""
        user = cloud.Cloud(box)
        image = user.seeded['images']['ubuntu-capi']
        answer = user.user.request('image', 'GET', f'v2/images/{image}')
        answer.raise_for_status()
        return answer.json()['kube_version']

    def create(self, driver):
        """Ask for a cluster with one node of each kind; returns its Life."""
        asked = time.monotonic()
        uuid = self._user.create(
            f'bench-{len(self.clusters[driver])}',
            cluster_template_id=self._templates[driver])
        self.clusters[driver].append(uuid)
        return Life(driver, 'create', uuid, asked)

    def resize(self, driver, uuid):
        """Ask for one more worker; returns the Life."""
        name = self.names[uuid]
        before = self._management.ask('wanted', name)
        asked = time.monotonic()
        self._management.ask('want', name, dataclasses.replace(
            before, workers=before.workers + 1), asked)
        self._user.ask('POST', f'clusters/{uuid}/actions/resize',
                       {'node_count': before.workers + 1})
        return Life(driver, 'resize', uuid, asked, name)

    def carry_out(self, orders, stagger):
        """Send requests one after another and see all of them end.

        :param orders: functions without arguments that return a Life.
        :param stagger: seconds between two requests.
        :returns: the Lives, with all that is known of them.
        :raises Broken: one failed, or did not end.
        """
        orders, lives, running = collections.deque(orders), [], {}
        due = list_at = last = time.monotonic()

        def step():
            nonlocal due, list_at, last
            now = time.monotonic()
            if orders and now >= due:
                life = orders.popleft()()
                lives.append(life)
                running[life.uuid] = life
                due = max(due + stagger, now)
            elif now >= list_at:
                found = self._statuses()
                seen = time.monotonic()
                if found is not None:
                    for life in list(running.values()):
                        if self._over(life, found.get(life.uuid), seen, last):
                            del running[life.uuid]
                    last = now
                # A list of a hundred clusters costs Magnum much.
                list_at = seen + max(PACE, 4 * (seen - now))
            return len(orders) + len(running)

        try:
            waiting.wait_for(
                step, done=lambda left: not left,
                timeout=PATIENCE + len(orders) * max(EACH, stagger),
                what='all operations to end',
                pace=waiting.Pace(PACE / 4, 1, PACE / 4))
        except errors.WaitTimeout as e:
            raise Broken('Operations do not end', elapsed=e.elapsed,
                         last_seen=[(life.driver, life.kind, life.status)
                                    for life in running.values()][:5]
                         ) from None
        self.settle()
        for life in lives:
            if life.early:
                life.true = self._management.ask(
                    'next', life.name, life.shown)
        return lives

    def settle(self):
        """Wait until all clusters are what was asked for, and say so."""
        names = list(self.names.values())
        waiting.wait_for(
            lambda: [n for n in names if self._management.ask('lacks', n)],
            done=lambda found: not found, timeout=PATIENCE,
            what='all clusters to be complete', pace=waiting.Pace(0.2, 1, 1))

    def _over(self, life, found, seen, last):
        """Note what the REST API says; returns whether it has ended."""
        if found is None:
            return False
        life.status, name = found
        if name:
            life.name = self.names[life.uuid] = name
        prefix = {'create': 'CREATE_', 'resize': 'UPDATE_'}[life.kind]
        if life.status.endswith('_FAILED'):
            raise Broken(
                'An operation failed',
                where=f'{life.driver} {life.kind} {life.uuid}',
                last_seen=self._user.ask('GET', f'clusters/{life.uuid}')[
                    'status_reason'])
        if life.status != f'{prefix}COMPLETE':
            return False
        ask = self._management.ask
        life.shown, life.blind = seen, seen - last
        life.addons = ask('lacks_addons', name)
        life.true = ask('since', name, seen)
        if life.true is None:
            # A watch may be late by milliseconds; what is read now cannot
            # be older than what was shown.
            life.early = self._management.lacks_now(name)
            if not life.early:
                life.true = seen
        return True

    def _statuses(self):
        """Status and name of the Cluster by id; None: no answer now.

        Its list is a 400 for the moment in which a cluster has no node
        groups yet.
        """
        answer = self._user.magnum('GET', 'clusters')
        if answer.status_code != 200:
            return None
        return {c['uuid']: (c['status'], c['cluster_id'])
                for c in answer.json()['clusters']}


def wanted(version):
    """What :meth:`Magnum.create` asks for."""
    return truth.Wanted(1, 1, version)
