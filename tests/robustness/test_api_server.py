# SPDX-License-Identifier: Apache-2.0
"""The API server of the management cluster is killed during a resize.

Brought back by ``up``, which starts the controllers again, too: see
_stop_controllers_of_dead_api of magnum_capi_tempest/management/local.py.

Two moments: Cluster API has the resize, or helm is still at work on it.
"""

import time
import unittest

from magnum_capi import errors
from magnum_capi import waiting
from tests.robustness import base
from tests.robustness import figures

TABLE = figures.Table(
    'kill -9 of kube-apiserver during a resize from 1 to 4 workers',
    'profile', 'moment', 'run', 'running then', 'up/s', 'resize',
    'helm release', 'again', 'resized/s', 'gone/s', 'left')

_FAST = waiting.Pace(0.01, 1.1, 0.03)


def setUpModule():
    unittest.addModuleCleanup(TABLE.show)


class _ApiServerTest(base.SandboxTest):

    runs = figures.RUNS

    def test_after_helm(self):
        for run in range(1, self.runs + 1):
            with self.subTest(run=run):
                self.once('helm has ended', run, self.helm_ended,
                          finishes=True)

    def test_while_helm_runs(self):
        """The resize is lost, and Magnum says so; asking again works.

        magnum-capi-helm does not try again when its helm fails with the API
        server (helm.py, _run), and the conductor makes UPDATE_FAILED of it
        (cluster_resize). That this resize finishes is not asserted, then.
        """
        for run in range(1, self.runs + 1):
            with self.subTest(run=run):
                self.once('helm runs', run, self.helm_at_work,
                          finishes=False)

    def helm_ended(self, uuid, stack_id):
        # The conductor saves this status when the driver has returned.
        return self.cloud.look(uuid).status == 'UPDATE_IN_PROGRESS'

    def helm_at_work(self, uuid, stack_id):
        return 'pending-upgrade' in self.releases(stack_id)

    def once(self, moment, run, come, finishes):
        before = self.cloud.credentials()
        # given: a cluster whose resize has come to this moment
        with self.cluster(f'api-server-{run}') as (uuid, stack_id):
            start = time.monotonic()
            wait_resized = self.cloud.resize(uuid, 4)
            waiting.wait_for(lambda: come(uuid, stack_id), done=bool,
                             timeout=30, what=moment, pace=_FAST)
            phases = self.phases(stack_id)
            # when: the API server dies and comes back
            self.kill('kube-apiserver')
            repair = self.up()
            # then: the resize finishes, or fails and the next one finishes
            result = again = _outcome(wait_resized)
            releases = self.releases(stack_id)
            if finishes:
                self.assertEqual('works', result)
            if result != 'works':
                self.assertEqual('UPDATE_FAILED', result)
                again = _outcome(self.cloud.resize(uuid, 4))
            self.assertEqual('works', again)
            self.assert_nodes(stack_id, 5)
            resized = time.monotonic() - start
            # and: a delete leaves nothing
            gone = self.delete(uuid)
            left = self.wait_nothing_left([stack_id], uuid, before)
            TABLE.add(self.profile, moment, run,
                      f'{phases.count("Running")} of {len(phases)}',
                      repair, result, releases,
                      '-' if result == 'works' else again, resized, gone,
                      len(left) or 'nothing')
            self.assertEqual([], left)

    def phases(self, stack_id):
        """Phases of the machines, as Cluster API says."""
        found = self.api.get('/apis/cluster.x-k8s.io/v1beta1/machines')
        return [m.get('status', {}).get('phase') for m in found['items']
                if m['spec']['clusterName'] == stack_id]

    def releases(self, stack_id):
        """Helm's revisions of the release, by its Secrets."""
        found = self.api.get('/api/v1/secrets?labelSelector='
                             f'owner%3Dhelm,name%3D{stack_id}')
        return ','.join(
            s['metadata']['labels']['status']
            for s in sorted(found['items'],
                            key=lambda s: s['metadata']['name']))


def _outcome(wait_resized):
    """What became of a resize: "works", or the status that ended it."""
    try:
        wait_resized()
    except errors.WaitAborted as e:
        return e.state.look.group_status
    return 'works'


class EmbeddedTest(_ApiServerTest):

    profile = 'embedded'


class FullTest(_ApiServerTest):

    profile = 'full'
    runs = 1


def load_tests(loader, tests, pattern):
    """Leave out the base class."""
    return unittest.TestSuite(
        loader.loadTestsFromTestCase(case)
        for case in (EmbeddedTest, FullTest))
