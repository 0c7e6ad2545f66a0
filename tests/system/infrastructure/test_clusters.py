# SPDX-License-Identifier: Apache-2.0

"""A cluster made of servers, ports and a load balancer, create to delete.

Magnum, Cluster API, its provider for OpenStack, Nova, Neutron and Octavia
are real; the nodes are in memory. Takes minutes.
"""

from magnum_capi import waiting
from tests.functional import boxes
from tests.system.infrastructure import clouds

_LIFE = 'ClusterLifecycleTest'


@boxes.LONG
class ClustersTest(clouds.TestCase):

    arguments = ('--install', 'drivers/k8s_capi_v1')

    def routers(self):
        return [router.name for router in self.admin.network.routers()]

    def test_life(self):
        before = self.resources()
        with self.box.start(
                'tempest', '--driver', 'k8s_capi_v1', '--regex', _LIFE,
                '--output', str(self.box.base / 'results'),
                '--concurrency', '1') as run:
            made = waiting.wait_for(
                lambda: run.poll() is not None or self.routers(), done=bool,
                timeout=600, what='the router of a cluster')
            out, err = run.communicate(timeout=900)
        self.assert_done(boxes.Ended(run.returncode, out, err))
        self.assertIn('1 passed', out)
        # The cluster consisted of the resources counted here.
        self.assertIn('k8s-clusterapi-cluster', str(made))
        self.assertEqual(set(), self.resources() - before)
        self.assertEqual(0, self.usages())
