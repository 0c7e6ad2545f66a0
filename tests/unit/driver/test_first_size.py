# SPDX-License-Identifier: Apache-2.0

"""An autoscaled node group begins with the size that was requested.

Charts leave the replicas of such a MachineDeployment out, and Cluster API then
takes the minimum (core/webhooks/admission/machinedeployment.go,
calculateMachineDeploymentReplicas).
"""

from unittest import mock

from magnum_capi.driver.desired import names
from magnum_capi.driver.helm import helm_errors
from tests.unit.driver import small_world
from tests.unit.driver import test_driver

WORKERS, OTHERS = small_world.WORKERS, small_world.OTHERS
AUTOSCALED = {'min_node_count': 1, 'max_node_count': 6,
              'labels': {'auto_scaling_enabled': 'true'}}


class FirstSizeTest(test_driver.DriverTestCase):

    def setUp(self):
        super().setUp()
        self.w.rows.clusters[small_world.CLUSTER].update(
            labels=AUTOSCALED['labels'])
        self.w.rows.groups[WORKERS].update(AUTOSCALED, node_count=3)

    def replicas(self, uuid=WORKERS):
        return self.w.helm.replicas(
            small_world.RELEASE, names.node_group(uuid))

    def machines(self, count, uuid=WORKERS):
        self.w.helm.machines(
            small_world.RELEASE, names.node_group(uuid), count)

    def made(self, uuid=WORKERS):
        """Cluster API makes the machines that are asked for."""
        self.machines(self.replicas(uuid), uuid)
        self.check_status(3)
        return (self.w.cluster.status.partition('_')[2],
                self.w.group(uuid).node_count)

    def grow(self):
        """The autoscaler adds nodes, and the health job sees it."""
        self.machines(5)
        self.driver.get_monitor(
            self.w.context, self.w.row()).poll_health_status()
        self.assertEqual(5, self.w.group().node_count)

    def test_of_the_default_group(self):
        self.call('create_cluster', 60)
        self.check_status(3)
        self.assertEqual(('CREATE_IN_PROGRESS', 3), (
            self.w.cluster.status, self.replicas()))

        self.assertEqual(('COMPLETE', 3), self.made())

    def test_of_a_new_node_group(self):
        self.call('create_cluster', 60)
        self.made()
        self.grow()
        self.w.add_group(**AUTOSCALED | {'node_count': 2})

        self.call('create_nodegroup', self.group(OTHERS))
        self.assertEqual(2, self.replicas(OTHERS))
        self.assertEqual(('COMPLETE', 2), self.made(OTHERS))
        self.assertEqual((5, 5), (
            self.replicas(), self.w.group().node_count))

    def test_request_that_is_cut_off_is_resumed_with_it(self):
        self.w.helm.before = mock.Mock(
            side_effect=helm_errors.HelmDisturbed('no', reason='no answer'))
        self.call('create_cluster', 60)
        self.w.helm.before = lambda: None

        # Between helm and the size.
        with mock.patch.object(
                self.w.runtime.kube, 'scale', side_effect=SystemExit):
            self.assertRaises(SystemExit, self.check_status)
        self.assertEqual(1, self.replicas())
        self.check_status(3)

        self.assertEqual(3, self.replicas())
        self.assertEqual(('COMPLETE', 3), self.made())

    def test_afterwards_the_autoscaler_owns_it(self):
        self.call('create_cluster', 60)
        self.assertEqual(('COMPLETE', 3), self.made())
        self.grow()
        template = self.w.store.template(small_world.NEWER)
        self.w.add_group()
        for method, *args in (
                ('create_nodegroup', self.group(OTHERS)),
                ('update_nodegroup', self.group(WORKERS, max_node_count=7)),
                ('upgrade_cluster', template, 1, None)):
            self.call(method, *args)
            self.check_status(6)
            self.assertEqual(('UPDATE_COMPLETE', 5, 5), (
                self.w.cluster.status, self.replicas(),
                self.w.group().node_count), method)
