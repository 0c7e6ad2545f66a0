# SPDX-License-Identifier: Apache-2.0

"""Cluster API that does not serve v1beta1, as it is to be from 1.16 on.

The OpenStack provider's v1beta1 is its own, and stays.
"""

from magnum_capi.driver import failures
from magnum_capi.driver import monitor
from magnum_capi.driver.observed import health
from tests.unit.driver import base
from tests.unit.driver import objects


class LifeTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.api.withdraw('v1beta1')
        self.w.helm.version = 'v1beta2'
        made = objects.made

        def without_the_older_part(*args, **kwargs):
            obj = made(*args, **kwargs)
            del obj['status']['deprecated']
            return obj
        self.patch(objects, 'made', without_the_older_part)

    def health(self):
        found = monitor.Monitor(lambda: self.w.runtime, self.w.store,
                                self.w.row())
        found.poll_health_status()
        return found.data['health_status']

    def test_it_is_as_with_both(self):
        self.created()
        self.assertEqual(health.HEALTHY, self.health())
        self.resize(3)
        self.check_status()
        self.assertEqual(('UPDATE_COMPLETE', 3), (
            self.w.cluster.status, self.w.group().node_count))
        self.upgrade()
        self.check_status(4)
        self.assertEqual(('UPDATE_COMPLETE', 'v1.35.0'), (
            self.w.cluster.status, self.w.cluster.coe_version))
        self.operations().delete()
        self.check_status(3)
        self.assertEqual(('DELETE_COMPLETE', []), (
            self.w.cluster.status, self.w.left()))
        asked = {path.split('/')[3] for _, path in self.api.calls()
                 if path.startswith('/apis/cluster.x-k8s.io/')}
        self.assertEqual({'v1beta2'}, asked)

    def test_chart_of_v1beta1_is_refused_by_name(self):
        self.w.helm.version = 'v1beta1'
        e = self.assertRaises(failures.Failed, self.create)
        self.assertIn(
            'the chart makes a KubeadmControlPlane of controlplane.cluster.x-'
            'k8s.io/v1beta1, which the management cluster does not serve; its '
            'operator must choose a newer chart', str(e))
