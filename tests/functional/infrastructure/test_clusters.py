# SPDX-License-Identifier: Apache-2.0

"""A cluster made of servers, ports and a load balancer, from create to gone.

Magnum, Cluster API, its provider for OpenStack, Nova, Neutron and Octavia
are real; the nodes are in memory. Takes minutes.
"""

import openstack

from magnum_capi import waiting
from tests.functional import boxes

_LIFE = 'ClusterLifecycleTest'


@boxes.LONG
class ClustersTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = boxes.shared(cls, '--infrastructure', 'openstack',
                               '--install', 'drivers/k8s_capi_v1')
        cls.cloud = openstack.connection.Connection(
            config=openstack.config.OpenStackConfig(
                config_files=[str(cls.box.directory / 'clouds.yaml')],
                secure_files=[], load_envvars=False).get_one('sandbox-admin'))

    def resources(self):
        """What there is of all projects, as pairs of kind and id."""
        network, balancers = self.cloud.network, self.cloud.load_balancer
        # Neutron makes a default group for each project that asks.
        groups = (group for group in network.security_groups()
                  if group.name != 'default')
        return {(kind, one.id) for kind, found in {
            'server': self.cloud.compute.servers(all_projects=True),
            'server group': self.cloud.compute.server_groups(
                all_projects=True),
            'volume': self.cloud.block_storage.volumes(all_projects=True),
            'port': network.ports(), 'router': network.routers(),
            'network': network.networks(), 'subnet': network.subnets(),
            'floating IP': network.ips(), 'security group': groups,
            'load balancer': balancers.load_balancers(),
            'listener': balancers.listeners(), 'pool': balancers.pools(),
        }.items() for one in found}

    def usages(self):
        """Units of all kinds that placement says are in use."""
        return sum(
            sum(self.cloud.placement.get(
                f'/resource_providers/{host.id}/usages').json()[
                    'usages'].values())
            for host in self.cloud.placement.resource_providers())

    def routers(self):
        return [router.name for router in self.cloud.network.routers()]

    def test_life(self):
        before = self.resources()
        with self.box.start(
                'tempest', '--driver', 'k8s_capi_v1', '--regex', _LIFE,
                '--results', str(self.box.base / 'results'),
                '--concurrency', '1') as run:
            made = waiting.wait_for(
                lambda: run.poll() is not None or self.routers(), done=bool,
                timeout=600, what='the router of a cluster')
            out, err = run.communicate(timeout=900)
        self.assert_done(boxes.Ended(run.returncode, out, err))
        self.assertIn('1 passed', out)
        # The cluster was made of what is counted here.
        self.assertIn('k8s-clusterapi-cluster', str(made))
        self.assertEqual(set(), self.resources() - before)
        self.assertEqual(0, self.usages())
