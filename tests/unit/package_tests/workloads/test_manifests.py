# SPDX-License-Identifier: Apache-2.0


import testtools

from magnum_capi_tempest.tests.common.workloads import manifests


class WorkloadsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.paths = [path for path, _ in manifests.objects('an-image')]
        self.objects = {obj['kind']: obj
                        for _, obj in manifests.objects('an-image')}

    def pod(self, kind):
        return self.objects[kind]['spec']['template']['spec']

    def test_the_service_is_there_before_those_who_ask_for_it(self):
        kinds = [path.rpartition('/')[2] for path in self.paths]

        self.assertEqual('namespaces', kinds[0])
        self.assertLess(kinds.index('services'), kinds.index('daemonsets'))

    def test_one_replica_may_go_at_a_time(self):
        self.assertEqual(
            (2, 1), (self.objects['Deployment']['spec']['replicas'],
                     self.objects['PodDisruptionBudget']['spec'][
                         'minAvailable']))

    def test_selectors_select(self):
        for kind in ('Deployment', 'DaemonSet'):
            spec = self.objects[kind]['spec']
            self.assertEqual(spec['selector']['matchLabels'],
                             spec['template']['metadata']['labels'])
        self.assertEqual(
            self.objects['Service']['spec']['selector'],
            self.objects['Deployment']['spec']['selector']['matchLabels'])

    def test_pods_may_be_on_every_node(self):
        """The only worker may be deleted before there is another one."""
        for kind in ('DaemonSet', 'Deployment'):
            self.assertIn(
                'node-role.kubernetes.io/control-plane',
                [t['key'] for t in self.pod(kind)['tolerations']])

    def test_everything_is_of_one_image_that_may_be_there(self):
        containers = [c for kind in ('Deployment', 'DaemonSet')
                      for c in self.pod(kind)['containers']]

        self.assertEqual({('an-image', 'IfNotPresent')}, {
            (c['image'], c['imagePullPolicy']) for c in containers})
