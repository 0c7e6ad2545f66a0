# SPDX-License-Identifier: Apache-2.0
"""magnum-conductor is killed while it creates a cluster.

Its group dies: master and worker. Helm, a grandchild, dies with them or
goes on alone. Every moment is a state of the world, not a number of seconds.
"""

import contextlib
import dataclasses
import os
import signal
import time
import typing
import unittest

import psutil

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube
from tests.robustness import base
from tests.robustness import figures

TABLE = figures.Table(
    'kill -9 of magnum-conductor during a create',
    'moment', 'helm', 'run', 'killed at/s', 'CAPI then', 'GET then',
    'up/s', 'seen afterwards', 'helm release', 'resize', 'gone/s', 'left')

#: Seconds to watch the cluster's status after the repair: three of the
#: conductor's ticks of 10 s (magnum/service/periodic.py).
WATCH = 30

#: A moment may be missed, because nothing stops to be looked at.
TRIES = 5

_FAST = waiting.Pace(0.002, 1.1, 0.01)

# Helm creates KubeadmConfigTemplates before MachineDeployments. Cluster API
# makes a Cluster the owner of those that a MachineDeployment refers to, and
# the chart has helm keep them ("helm.sh/resource-policy", as the published
# one does): one that was made just before helm died has no owner, and neither
# helm nor the garbage collector nor magnum-capi-helm removes it. Measured; it
# is of the chart and driver, and not asserted to be gone.
_MAY_STAY = 'KubeadmConfigTemplate '

# What a killed create may look like. Never: something that nobody asked for
# (DELETE_*), or another user's business (UPDATE_*).
_POSSIBLE = {None, 'CREATE_IN_PROGRESS', 'CREATE_COMPLETE', 'CREATE_FAILED'}


def setUpModule():
    unittest.addModuleCleanup(TABLE.show)


@dataclasses.dataclass(frozen=True)
class Moment:
    """When the conductor is killed.

    :param helm: whether helm must run then; None: it does not matter.
    :param come: function of the test and the cluster's name.
    """

    text: str
    helm: bool | None
    come: typing.Callable[['ConductorTest', str], bool]


# In the order in which magnum-capi-helm comes by (driver.py,
# create_cluster): credential, certificates, helm upgrade --install. Helm
# writes its release Secret, then creates the objects.
ACCEPTED = Moment('right after the 202', None, lambda t, name: True)
SECRETS = Moment('while it makes Secrets', False,
                 lambda t, name: t.has_secret(f'{name}-'))
HELM_STARTED = Moment('helm has started', True,
                      lambda t, name: bool(t.helms()))
RELEASE = Moment('helm has written its release', True,
                 lambda t, name: t.has_secret(f'sh.helm.release.v1.{name}-'))
CLUSTER = Moment('helm has created the Cluster', True,
                 lambda t, name: t.has_capi_cluster(name))
HELM_ENDED = Moment('helm has ended', False,
                    lambda t, name: t.has_capi_cluster(name)
                    and not t.helms())


class MomentMissed(AssertionError):
    """The create was faster than the look at it."""


class ConductorTest(base.SandboxTest):

    profile = 'full'

    def test_right_after_the_answer(self):
        self.repeat([ACCEPTED, SECRETS], spare=False)

    def test_while_helm_runs_and_dies_too(self):
        self.repeat([HELM_STARTED, RELEASE, CLUSTER], spare=False)

    def test_while_helm_runs_and_goes_on(self):
        self.repeat([HELM_STARTED, RELEASE, CLUSTER], spare=True)

    def test_after_helm(self):
        self.repeat([HELM_ENDED], spare=False, healed=True)

    def repeat(self, moments, **kwargs):
        for moment in moments:
            for run in range(1, figures.RUNS + 1):
                with self.subTest(moment=moment.text, run=run):
                    self.once(moment, run, **kwargs)

    def once(self, moment, run, spare, healed=False):
        for attempt in range(TRIES):
            name = f'kill-{time.monotonic_ns():x}'
            before = self.cloud.credentials()
            # given: a create that has come to this moment
            start = time.monotonic()
            uuid = self.cloud.create(name)
            try:
                victims = self.wait_moment(moment, name)
                # when: the conductor dies
                killed = self.kill_conductor(moment, name, victims, spare)
                break
            except MomentMissed:
                self.up()
                self.cloud.wait_created(uuid)
                self.delete(uuid)
        else:
            self.fail(f'{moment.text}: missed {TRIES} times')
        objects = len(self.left([name], uuid, before))
        answer = self.answer_of_dead(uuid)
        repair = self.up()
        statuses, look = self.watch(uuid)
        names = [n for n in (name, look.stack_id) if n]
        releases = self.releases(name)
        # then: nothing but the create is seen, and complete means complete
        self.assertLessEqual({s for s, _ in statuses}, _POSSIBLE)
        if look.status == 'CREATE_COMPLETE':
            self.assert_nodes(look.stack_id, 2)
        if healed:
            self.assertEqual('CREATE_COMPLETE', look.status)
        resize = self.resize(uuid, look)
        if releases == 'deployed' and look.status == 'CREATE_COMPLETE':
            self.assertEqual('works', resize)
        # and: a delete leaves nothing
        gone = self.delete(uuid)
        left = self.wait_nothing_left(names, uuid, before)
        TABLE.add(moment.text, 'spared' if spare else 'killed', run,
                  round(killed - start, 2), objects, answer, repair,
                  ' '.join(f'{s or 404}@{t:.0f}' for s, t in statuses),
                  releases or 'none', resize, gone,
                  '; '.join(o.split()[0] for o in left) or 'nothing')
        if releases == 'pending-install':
            left = [o for o in left if not o.startswith(_MAY_STAY)]
        self.assertEqual([], left)

    def wait_moment(self, moment, name):
        self.conductor = self.processes('magnum-conductor')[:1]
        waiting.wait_for(lambda: moment.come(self, name), done=bool,
                         timeout=30, what=moment.text, pace=_FAST)
        # Not by way of supervisord: that takes time.
        with contextlib.suppress(psutil.NoSuchProcess):
            self.conductor += self.conductor[0].children(recursive=True)
        return self.conductor

    def kill_conductor(self, moment, name, victims, spare):
        """Kill at once; the time of it."""
        helms = [p for p in victims if _is_helm(p)]
        if moment.helm is not None and bool(helms) != moment.helm:
            raise MomentMissed(moment.text)
        if not spare:
            os.killpg(victims[0].pid, signal.SIGKILL)
        # The master first: it starts workers again.
        for process in victims:
            if not (spare and process in helms):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
        killed = time.monotonic()
        self.wait_dead('magnum-conductor', [
            p for p in victims if not (spare and p in helms)])
        if moment.helm and not spare and self.releases(name) == 'deployed':
            raise MomentMissed(moment.text)
        return killed

    def helms(self):
        """Helm processes of the conductor."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return [p for p in self.conductor[0].children(recursive=True)
                    if _is_helm(p)]
        return []

    def has_secret(self, prefix):
        return any(s['metadata']['name'].startswith(prefix)
                   for s in self.api.get('/api/v1/secrets')['items'])

    def has_capi_cluster(self, name):
        found = self.api.get('/apis/cluster.x-k8s.io/v1beta1/clusters')
        return any(c['metadata']['name'].startswith(f'{name}-')
                   for c in found['items'])

    def releases(self, name):
        """What helm says of the releases of a cluster, by their Secrets."""
        return ','.join(sorted(
            s['metadata']['labels']['status']
            for s in kube.Client(self.kubeconfig).core('secrets')
            if s['metadata']['name'].startswith(
                f'sh.helm.release.v1.{name}-')))

    def resize(self, uuid, look):
        """What becomes of a resize of a cluster that says it is complete.

        Helm refuses to upgrade a release that is pending-install.
        """
        if look.status != 'CREATE_COMPLETE':
            return 'not tried'
        try:
            self.cloud.resize(uuid, 2)()
        except errors.WaitAborted as e:
            return e.state.look.status
        return 'works'

    def answer_of_dead(self, uuid):
        """What Magnum's API answers without a conductor."""
        look = self.cloud.look(uuid, timeout=5)
        return look.trouble or look.status or '404'

    def watch(self, uuid):
        """Look at the status until it is complete, or for WATCH seconds.

        :returns: list of (status, seconds) of each change; the last Look.
        """
        start = time.monotonic()
        statuses = []

        def poll():
            look = self.cloud.look(uuid)
            # A 400 or no answer passes; the answers are counted.
            if not look.trouble and (
                    not statuses or statuses[-1][0] != look.status):
                statuses.append((look.status, time.monotonic() - start))
            return look

        look = waiting.wait_for(
            poll, timeout=WATCH + 30, what=f'news of cluster {uuid}',
            done=lambda look: not look.trouble and (
                look.status == 'CREATE_COMPLETE'
                or time.monotonic() - start > WATCH),
            describe=str, pace=waiting.Pace(0.2, 1.2, 0.5))
        return statuses, look


def _is_helm(process):
    try:
        return process.name() == 'helm'
    except psutil.NoSuchProcess:
        return False
