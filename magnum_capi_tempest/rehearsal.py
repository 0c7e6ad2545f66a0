# SPDX-License-Identifier: Apache-2.0
"""The rehearsal of an upgrade of Magnum: its clusters must keep working.

A sandbox with the operator's current release gets two clusters: one of an
image that names its driver, one of an image that does not, whose template has
no driver in Magnum before 2026.2. Magnum is then upgraded release by release,
as OpenStack supports it. After each upgrade both clusters are resized. After
the last one they get a newer Kubernetes, a third cluster is created from the
old template without a driver, and all are deleted. Meanwhile, probes keep
querying the Kubernetes APIs of the clusters, and Magnum's.
"""

import contextlib
import dataclasses
import json
import threading
import time

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest import leaks
from magnum_capi_tempest.sandbox.cloud import seed
from magnum_capi_tempest.sandbox.cloud import services
from magnum_capi_tempest.sandbox import releases
from magnum_capi_tempest.sandbox import rest

#: Seconds for one change of a cluster.
PATIENCE = 600

#: Seconds between two requests of a probe, and until a request has failed.
PACE, SILENCE = 0.2, 5

#: Images of a sandbox with the versions of Kubernetes that clusters are
#: created with and upgraded to.
IMAGES = 'ubuntu-capi', 'ubuntu-capi-1.35'

_CLUSTERS = '/apis/cluster.x-k8s.io/v1beta1/clusters'


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to rehearse.

    :param start: release that the running sandbox begins with.
    :param end: the release to upgrade to.
    :param driver: name of the driver that the first image names.
    """

    start: releases.Release
    end: releases.Release
    driver: str


@dataclasses.dataclass(frozen=True)
class Step:
    """An operation; ``seconds`` until it was complete."""

    magnum: str
    what: str
    seconds: float


@dataclasses.dataclass(frozen=True)
class Answers:
    """What a probe saw.

    :param asked: number of requests.
    :param failed: number of requests without an answer.
    :param slowest: longest time until an answer, in seconds.
    :param gap: longest time between two answers, in seconds.
    """

    of: str
    asked: int
    failed: int
    slowest: float
    gap: float

    def __str__(self):
        return (f'{self.of}: {self.failed} of {self.asked} requests without '
                f'an answer, the slowest {self.slowest:.2f} s, none for '
                f'{self.gap:.1f} s at most')


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What was seen.

    :param left: what exists at the end but did not at the beginning.
    :param forgotten: likewise, see :func:`is_forgotten`.
    """

    steps: tuple[Step, ...]
    answers: tuple[Answers, ...]
    left: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()


class Probe:
    """Sends requests over and over, in a thread, until the block ends.

    :param of: the API that is queried, for messages.
    :param ask: returns whether there was an answer, or raises OSError.
    """

    def __init__(self, of, ask):
        self._of = of
        self._ask = ask
        self._over = threading.Event()
        self._seen = []
        self._thread = threading.Thread(target=self._go, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._over.set()
        self._thread.join(2 * SILENCE)

    def _go(self):
        while not self._over.wait(PACE):
            begin = time.monotonic()
            try:
                ok = self._ask()
            except OSError:
                ok = False
            self._seen.append((begin, time.monotonic(), ok))

    def answers(self) -> Answers:
        """What it has seen so far."""
        return summary(self._of, tuple(self._seen))


def summary(of, seen) -> Answers:
    """Sum up requests, each (begin, end, whether answered) in seconds."""
    good = [(begin, end) for begin, end, ok in seen if ok]
    ends = [seen[0][0], *(end for _, end in good), seen[-1][1]] \
        if seen else [0]
    return Answers(
        of, len(seen), len(seen) - len(good),
        max((end - begin for begin, end in good), default=0.0),
        max((b - a for a, b in zip(ends, ends[1:])), default=0.0))


def is_forgotten(plan, thing, clusters) -> bool:
    """Whether Magnum itself no longer knows about something that is left.

    Until 2026.1 it creates a trust and a user for each cluster, named after
    the cluster. The migrations to 2026.2 drop the columns that refer to them
    (d7e6a4d39fe4), and with them everything that could delete them.

    :param thing: :class:`.leaks.model.Thing`.
    :param clusters: UUIDs.
    """
    if not plan.start.trusts or plan.end.trusts:
        return False
    return thing.kind == 'trust' or thing.kind == 'user' and any(
        thing.name.startswith(cluster) for cluster in clusters)


class _Magnum:
    """Magnum's API, as the user of a sandbox."""

    def __init__(self, box):
        self._user = rest.User(box.layout(), box.passwords()['demo'])

    def call(self, method, path, body=None):
        answer = self._user.request('container-infra', method, path, body)
        if not answer.ok:
            raise errors.MagnumCapiError(
                f'Magnum answered {answer.status_code} to {method} {path}',
                last_seen=answer.text[:500])
        return answer.json() if answer.content else None

    def wait(self, cluster, **wanted):
        """Wait until fields have these values; without any, until it is gone.

        A status alone may be the one that the cluster had before.

        :param cluster: its UUID, or the path of one of its node groups.
        """
        def look():
            answer = self._user.request(
                'container-infra', 'GET', f'clusters/{cluster}')
            return {} if answer.status_code == 404 else answer.json()

        waiting.wait_for(
            look, done=lambda seen: seen.items() >= wanted.items()
            if wanted else not seen, timeout=PATIENCE,
            failed=_reason, what=f'cluster {cluster} to be '
            + (str(wanted) if wanted else 'gone'),
            describe=lambda seen: f'{seen.get("status")}: '
            f'{seen.get("status_reason")}', pace=waiting.Pace(0.5, 1.2, 2))


def _reason(cluster):
    """Why a cluster will not reach the desired state, or None."""
    if str(cluster.get('status')).endswith('_FAILED'):
        return cluster.get('status_reason') or cluster['status']
    return None


class Rehearsal:
    """One rehearsal, in a running sandbox.

    :param box: :class:`.sandbox.lifecycle.Sandbox`.
    :param plan: :class:`Plan`.
    :param look: returns what exists in the sandbox, a
        :class:`.leaks.model.Snapshot`.
    """

    def __init__(self, box, plan, look, progress):
        self._box = box
        self._plan = plan
        self._look = look
        self._progress = progress
        self._release = plan.start.name
        self._steps = []
        self._templates = []
        self._magnum = _Magnum(box)
        self._management = kube.Client(box.layout().kubeconfig)

    def run(self) -> Outcome:
        """Run all steps.

        :raises MagnumCapiError: a step did not complete.
        """
        before = self._look()
        ids = self._box.add_images(_images(self._plan.driver))
        named, unnamed = (
            self._step(f'template of the image {name}', self._template,
                       name, ids[name]) for name in ('named', 'unnamed'))
        clusters = [self._step(f'create a cluster of {t["name"]}',
                               self._create, t) for t in (named, unnamed)]
        with contextlib.ExitStack() as stack:
            probes = [stack.enter_context(Probe(*one))
                      for one in self._questions(clusters)]
            uids = self._uids()
            for release in releases.route(self._plan.start, self._plan.end):
                self._upgrade_magnum(release, clusters, uids)
            self._upgrade_kubernetes(clusters, ids)
            self._same(uids)
            clusters.append(self._step(
                f'create a cluster of the old {unnamed["name"]}',
                self._create, unnamed))
            answers = tuple(probe.answers() for probe in probes)
        for cluster in clusters:
            self._step('delete a cluster', self._delete, cluster)
        for template in self._templates:
            self._magnum.call('DELETE', f'clustertemplates/{template}')
        left, forgotten = [], []
        for leak in leaks.compare(before, self._look(), strict=True).leaks:
            (forgotten if is_forgotten(self._plan, leak.thing, clusters)
             else left).append(str(leak.thing))
        return Outcome(tuple(self._steps), answers, tuple(left),
                       tuple(forgotten))

    def _step(self, what, do, *arguments):
        begin = time.monotonic()
        with self._progress.step(f'Magnum {self._release}: {what}'):
            done = do(*arguments)
        self._steps.append(Step(self._release, what,
                                round(time.monotonic() - begin, 1)))
        return done

    def _template(self, name, image, **more):
        layout = self._box.layout()
        seeded = json.loads((layout.directory / 'seeded.json').read_text())
        template = self._magnum.call('POST', 'clustertemplates', {
            'name': name, 'coe': 'kubernetes', 'network_driver': 'calico',
            'image_id': image, 'flavor_id': 'm1.small',
            'master_flavor_id': 'm1.small',
            'external_network_id': seeded['networks']['public'], **more})
        self._templates.append(template['uuid'])
        return template

    def _create(self, template):
        cluster = self._magnum.call('POST', 'clusters', {
            'name': f'of-{template["name"]}', 'keypair': 'demo',
            'cluster_template_id': template['uuid'], 'node_count': 1,
            'master_count': 1})['uuid']
        self._magnum.wait(cluster, status='CREATE_COMPLETE')
        return cluster

    def _upgrade_magnum(self, release, clusters, uids):
        self._step(f'upgrade to {release.name}', self._box.upgrade,
                   release.name, self._progress)
        self._release = release.name
        # Keystone's tokens expire.
        self._magnum = _Magnum(self._box)
        for cluster in clusters:
            self._step('resize a cluster', self._resize, cluster)
        self._same(uids)

    def _resize(self, cluster):
        count = self._magnum.call(
            'GET', f'clusters/{cluster}')['node_count'] + 1
        self._magnum.call('POST', f'clusters/{cluster}/actions/resize',
                          {'node_count': count})
        # Its conductor stores the group's size before the cluster's status.
        self._magnum.wait(f'{cluster}/nodegroups/default-worker',
                          status='UPDATE_COMPLETE', node_count=count)
        self._magnum.wait(cluster, status='UPDATE_COMPLETE')

    def _upgrade_kubernetes(self, clusters, ids):
        for cluster, image in zip(clusters, ('named-next', 'unnamed-next')):
            # An image that names no driver leaves the choice to the last
            # Magnum; a cluster cannot change its driver.
            template = self._template(image, ids[image],
                                      driver=self._plan.driver)
            self._step(f'upgrade a cluster to {image}', self._upgrade,
                       cluster, template['uuid'])

    def _upgrade(self, cluster, template):
        # Without max_batch_size Magnum answers 500 behind a broker.
        self._magnum.call('POST', f'clusters/{cluster}/actions/upgrade', {
            'cluster_template': template, 'max_batch_size': 1})
        self._magnum.wait(cluster, status='UPDATE_COMPLETE',
                          cluster_template_id=template)

    def _delete(self, cluster):
        self._magnum.call('DELETE', f'clusters/{cluster}')
        self._magnum.wait(cluster)

    def _uids(self):
        """UIDs of the clusters in Cluster API, by name."""
        return {o['metadata']['name']: o['metadata']['uid']
                for o in self._management.items(_CLUSTERS)}

    def _same(self, uids):
        """Verify that Cluster API has the same clusters as before.

        :raises MagnumCapiError: a driver recreated or lost one.
        """
        now = self._uids()
        if now != uids:
            raise errors.MagnumCapiError(
                'Cluster API does not have the same clusters as before',
                where=f'Magnum {self._release}',
                last_seen=f'before: {sorted(uids)}, now: {sorted(now)}')

    def _questions(self, clusters):
        """The API to query and how, for each probe."""
        for cluster in clusters:
            about = self._magnum.call('GET', f'clusters/{cluster}')
            client = kube.Client(self._kubeconfig(about), timeout=SILENCE)
            yield (f'Kubernetes API of {about["name"]}',
                   lambda client=client: client.answers('/version'))
        layout = self._box.layout()
        yield 'Magnum', services.answers(
            layout.address, layout.port('magnum'))

    def _kubeconfig(self, cluster):
        path = self._box.directory / 'tmp' / f'{cluster["uuid"]}.kubeconfig'
        call = self._magnum.call
        kubeconfig.write(path, kubeconfig.signed(
            cluster, lambda body: call('POST', 'certificates', body),
            lambda uuid: call('GET', f'certificates/{uuid}')))
        return path


def _images(driver):
    """Properties of the images by name; in each pair the newer one is last."""
    return {name + suffix: more | seed.IMAGES[image]
            for name, more in (('named', {'magnum_driver': driver}),
                               ('unnamed', {}))
            for suffix, image in zip(('', '-next'), IMAGES)}


def write(path, outcome):
    """Write the outcome as JSON.

    :raises: see :func:`magnum_capi.outfile.write_named`.
    """
    outfile.write_named(path, json.dumps(
        dataclasses.asdict(outcome), indent=2) + '\n')
