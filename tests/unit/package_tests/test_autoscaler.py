# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.tests.common import autoscaler

_BOUND = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group'
WHERE = ('/apis/cluster.x-k8s.io/v1beta2/namespaces/n/machinedeployments/'
         'c1-a/scale')


def deployment(name, **bounds):
    return {'metadata': {'namespace': 'n', 'name': name, 'annotations': {
        f'{_BOUND}-{side}-size': text for side, text in bounds.items()}}}


class Autoscaler(autoscaler.Autoscaler):
    """Without a management cluster."""

    def __init__(self, deployments):
        self._deployments = deployments
        self.asked = []

    def kinds(self, wanted):
        return [kind for kind in (
            ('apps', 'v1', 'deployments', 'Deployment'),
            ('cluster.x-k8s.io', 'v1beta2', 'machinedeployments',
             'MachineDeployment')) if wanted(kind[0])]

    def custom(self, group, version, plural):
        return self._deployments

    def ask(self, method, path, body=None):
        self.asked.append((method, path, body))
        return {'kind': 'Scale', 'spec': {'replicas': 1}}


class AutoscalerTest(testtools.TestCase):

    def test_groups_are_those_of_the_cluster_with_both_bounds(self):
        scaler = Autoscaler([
            deployment('c1-a', min='1', max='7'),
            deployment('c1-b'), deployment('c1-c', max='7'),
            deployment('c2-a', min='1', max='7')])

        self.assertEqual(
            [autoscaler.NodeGroup('n', 'c1-a', ('1', '7'))],
            scaler.groups('c1'))

    def test_scale_is_written_as_the_autoscaler_does(self):
        scaler = Autoscaler([deployment('c1-a', min='1', max='7')])

        scaler.scale(scaler.groups('c1')[0], 3)

        self.assertEqual(
            [('GET', WHERE, None),
             ('PUT', WHERE, {'kind': 'Scale', 'spec': {'replicas': 3}})],
            scaler.asked)
