# SPDX-License-Identifier: Apache-2.0

"""What Services and claims of a cluster made goes with the cluster.

The cloud controller manager and Cinder's CSI plugin would have made it. They
need pods, so the test makes it as they do. Takes minutes.
"""

from magnum_capi.driver.desired import names
from tests.functional import boxes
from tests.system.infrastructure import clouds


@boxes.LONG
class ServicesTest(clouds.TestCase):

    arguments = ('--install', 'drivers/k8s_capi_v1')

    def setUp(self):
        super().setUp()
        self.magnum = self.cloud.container_infrastructure_management
        # Magnum's API closes connections that are idle for a while.
        self.magnum.connect_retries = 3
        self.network = self.cloud.network
        self.public = self.admin.network.find_network('public')

    def cluster(self):
        return self.magnum.find_cluster('services', ignore_missing=True)

    def status(self):
        found = self.cluster()
        return found and found.status

    def balancer(self, subnet, name, **more):
        balancers = self.cloud.load_balancer
        made = balancers.create_load_balancer(
            name=name, vip_subnet_id=subnet.id, **more)
        balancers.wait_for_load_balancer(made.id, wait=60, interval=0.5)
        return made

    def serve(self, subnet, cluster):
        """Make what a Service and a claim of a cluster make.

        As in cloud-provider-openstack, pkg/openstack/loadbalancer.go and
        pkg/csi/cinder/controllerserver.go.

        :param cluster: its name in Cluster API.
        """
        made = self.balancer(
            subnet, f'kube_service_{cluster}_default_web',
            description='Kubernetes external service default/web from '
                        f'cluster {cluster}')
        self.network.create_ip(
            floating_network_id=self.public.id, port_id=made.vip_port_id,
            description='Floating IP for Kubernetes external service '
                        f'default/web from cluster {cluster}')
        self.network.create_security_group(
            name='lb-sg-web',
            description='Security Group for default/web Service LoadBalancer '
                        f'in cluster {cluster}')
        volume = self.cloud.block_storage.create_volume(
            name='pvc-web', size=1,
            metadata={'cinder.csi.openstack.org/cluster': cluster})
        # The sandbox has no cinder-volume, which would make it available.
        self.admin.block_storage.reset_volume_status(
            volume, status='available')

    def remove_balancer(self, balancer):
        balancers = self.cloud.load_balancer
        balancers.delete_load_balancer(balancer)
        clouds.wait('the load balancer to be gone', lambda: (
            balancers.find_load_balancer(balancer.id) is None))

    def test_they_go_with_the_cluster_and_nothing_else_does(self):
        net, subnet = self.own_network('own')
        mine = self.balancer(subnet, 'mine')
        self.addCleanup(self.remove_balancer, mine)
        before = self.resources()
        template = self.template(
            'services', fixed_network=net.id, fixed_subnet=subnet.id,
            labels={'csi_cinder_reclaim_policy': 'Delete'})
        created = self.magnum.create_cluster(
            name='services', cluster_template_id=template,
            master_count=1, node_count=1, keypair='demo')
        clouds.wait('the cluster', lambda: self.status() not in (
            None, 'CREATE_IN_PROGRESS'))
        self.assertEqual('CREATE_COMPLETE', self.status())
        own = self.resources()
        self.serve(subnet, names.cluster(created.uuid or created.id))
        self.assertEqual(
            {'load balancer', 'port', 'floating IP', 'security group',
             'volume'}, {kind for kind, _ in self.resources() - own})
        self.magnum.delete_cluster(self.cluster())
        clouds.wait('the end of the cluster', lambda: not self.cluster())
        self.assertEqual(set(), self.resources() ^ before)
