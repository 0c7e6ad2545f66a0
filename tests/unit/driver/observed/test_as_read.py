# SPDX-License-Identifier: Apache-2.0

"""Objects as they are read: no number and no text is one object twice."""

import json

import testtools

from magnum_capi.driver.observed import snapshot
from magnum_capi.driver.observed import status
from tests.unit.driver import objects


def read(made):
    return json.loads(json.dumps(made))


class AsReadTestCase(testtools.TestCase):

    def assertRegex(self, text, pattern):
        self.assertThat(text, testtools.matchers.MatchesRegex(
            f'.*{pattern}'))


class ManyMachinesTest(AsReadTestCase):

    def judge(self, **counts):
        made = objects.deployment(count=300)
        made['status'].update(counts)
        # Kubernetes counts from 1, Python has one object for each of those.
        return status.judge(
            objects.complete(
                machine_deployments={'default-worker': read(made)},
                machine_sets=(read(objects.machine_set(count=300)),)),
            objects.wanted(objects.master(), objects.group(count=300)),
            objects.NOW)

    def test_all_of_them(self):
        self.assertEqual('CREATE_COMPLETE', self.judge().status)

    def test_only_the_count_that_lacks_is_told(self):
        for counts, told in (
                ({'readyReplicas': 299, 'availableReplicas': 299},
                 '299 of 300 machines ready'),
                ({'readyReplicas': 299, 'upToDateReplicas': 298},
                 '299 of 300 machines ready, 298 up to date'),
                ({'readyReplicas': 299, 'replicas': 301},
                 '299 of 300 machines ready, 301 there')):
            reason = self.judge(**counts).reason
            self.assertRegex(reason, f'{told}$')


class DeletionOrderTest(AsReadTestCase):

    def test_machines_first_and_the_cluster_last(self):
        going = [read(made) for made in (
            objects.cluster(), objects.control_plane(), objects.machine())]
        for made in going:
            made['metadata']['deletionTimestamp'] = '2026-11-21T14:59:00Z'

        reason = status.judge(
            snapshot.Snapshot(
                cluster=going[0], control_plane=going[1],
                machines=(going[2],), machine_deployments={}, release=None,
                templates=()),
            objects.wanted(status='DELETE_IN_PROGRESS'),
            objects.NOW).reason

        self.assertRegex(
            reason, 'Machine default-worker-x1; '
            'KubeadmControlPlane control-plane; Cluster c0$')
