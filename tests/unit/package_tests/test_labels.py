# SPDX-License-Identifier: Apache-2.0

"""What the test of labels reads from the objects of a cluster."""

import testtools

from magnum_capi_tempest.tests.driver import test_labels

BOUND = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size'


def deployment(*bounds):
    return 'MachineDeployment', {'metadata': {
        'name': 'd', 'annotations': {
            BOUND.format(side): bound
            for side, bound in zip(('min', 'max'), bounds)}}}


class ObjectsTest(testtools.TestCase):

    def test_bounds_of_some_groups_only(self):
        objects = test_labels._Objects([
            deployment(), deployment('2', '4'), deployment('1', '6')])

        self.assertEqual(
            [('1', '6'), ('2', '4'), (None, None)], objects.bounds())

    def test_all_are_there(self):
        def made(kind, name, template=None):
            spec = template and {'template': {'spec': {
                'infrastructureRef': {'name': template}}}}
            return kind, {'metadata': {'name': name}, 'spec': spec or {}}

        some = [made('OpenStackCluster', 'c'),
                made('OpenStackMachineTemplate', 'master'),
                made('OpenStackMachineTemplate', 'worker'),
                made('KubeadmControlPlane', 'c', 'master'),
                made('MachineDeployment', 'd', 'worker')]

        self.assertTrue(test_labels._Objects(some).are_all())
        for missing in some:
            self.assertFalse(test_labels._Objects(
                [one for one in some if one != missing]).are_all(), missing)
