# SPDX-License-Identifier: Apache-2.0

"""Helm is run for what it can change, and every operation ends."""

from tests.unit.driver import small_world
from tests.unit.driver import test_driver

OTHERS = small_world.OTHERS
NAME = f'{small_world.RELEASE}-infra'


class UnknownDeploymentTest(test_driver.DriverTestCase):
    """A MachineDeployment of the Cluster that is no node group in Magnum.

    A chart of an operator may render one, or somebody makes one by hand.
    """

    def setUp(self):
        super().setUp()
        # As the chart renders it, each time.
        self.w.helm.after = self.render

    def render(self):
        known = self.w.api.objects
        path = next(path for path in known if '/machinedeployments/' in path)
        self.w.helm.put('machinedeployments', {
            **known[path], 'metadata': {'labels': {
                'cluster.x-k8s.io/cluster-name': small_world.RELEASE}}}, NAME)

    def assert_ended(self, status, helms):
        self.check_status(5)
        self.assertEqual((status, helms), (
            self.w.cluster.status, len(self.w.helm.upgrades)))
        self.assertIn('infra', self.w.cluster.status_reason)

    def test_creation_without_a_timeout_ends(self):
        self.call('create_cluster', None)

        self.assert_ended('CREATE_COMPLETE', 1)

    def test_node_groups_come_and_go_beside_it(self):
        self.call('create_cluster', None)
        self.check_status(5)
        self.w.add_group()

        self.call('create_nodegroup', self.group(OTHERS))
        self.assert_ended('UPDATE_COMPLETE', 2)

        self.call('delete_nodegroup', self.group(
            OTHERS, status='DELETE_IN_PROGRESS'))
        self.assert_ended('UPDATE_COMPLETE', 3)
        self.assertNotIn(OTHERS, self.w.rows.groups)


class CreationWithoutTimeoutTest(test_driver.DriverTestCase):

    def test_what_helm_cannot_change_ends_it(self):
        # For custom resources, helm compares manifests, not objects.
        self.call('create_cluster', 0)
        for path, obj in self.w.api.objects.items():
            if '/machinedeployments/' in path:
                obj['spec']['replicas'] = 7
        for _minute in range(0, 75, 5):
            self.check_status()
            self.w.later(minutes=5)
        runs = len(self.w.helm.upgrades)

        self.check_status(5)

        self.assertEqual(('CREATE_FAILED', runs), (
            self.w.cluster.status, len(self.w.helm.upgrades)))
        self.assertIn('default-worker', self.w.cluster.status_reason)
