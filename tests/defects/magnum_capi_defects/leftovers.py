# SPDX-License-Identifier: Apache-2.0

"""Resources of OpenStack that outlive their clusters.

Each driver creates something in its user's project for every cluster, names
it after the cluster, and forgets it.
"""

from magnum_capi_defects import taps


class Leaving(taps.Tapped):
    """Creates something that nobody deletes."""

    def create_cluster(self, context, cluster, cluster_create_timeout):
        super().create_cluster(context, cluster, cluster_create_timeout)
        self.leave(taps.cloud(context), f'left-{cluster.uuid}')

    def leave(self, cloud, name):
        """Create it.

        :param cloud: openstacksdk's, of the user.
        """
        raise NotImplementedError


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'left behind after the cleanup.*port left-',
              infrastructure='openstack', build_timeout='180')
class PortLeft(Leaving):
    """A port outlives its cluster."""

    def leave(self, cloud, name):
        network = cloud.network
        network.create_port(
            name=name, network_id=network.create_network(name=name).id)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'left behind after the cleanup.*load balancer left-',
              infrastructure='openstack', build_timeout='180')
class BalancerLeft(Leaving):
    """A load balancer outlives its cluster."""

    def leave(self, cloud, name):
        network = cloud.network
        subnet = network.create_subnet(
            network_id=network.create_network(name=name).id, ip_version=4,
            cidr='10.9.0.0/24')
        cloud.load_balancer.create_load_balancer(
            name=name, vip_subnet_id=subnet.id)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'left behind after the cleanup.*floating IP',
              infrastructure='openstack', build_timeout='180')
class FloatingIpLeft(Leaving):
    """A floating IP outlives its cluster."""

    def leave(self, cloud, name):
        network = cloud.network
        external = next(network.networks(is_router_external=True))
        network.create_ip(floating_network_id=external.id, description=name)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'left behind after the cleanup.*security group left-',
              infrastructure='openstack', build_timeout='180')
class SecurityGroupLeft(Leaving):
    """A security group outlives its cluster."""

    def leave(self, cloud, name):
        cloud.network.create_security_group(name=name)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'left behind after the cleanup.*server group left-',
              infrastructure='openstack', build_timeout='180')
class ServerGroupLeft(Leaving):
    """A server group outlives its cluster."""

    def leave(self, cloud, name):
        cloud.compute.create_server_group(
            name=name, policies=['anti-affinity'])


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'left behind after the cleanup.*volume left-',
              infrastructure='openstack', build_timeout='180')
class VolumeLeft(Leaving):
    """A volume outlives its cluster."""

    def leave(self, cloud, name):
        cloud.block_storage.create_volume(name=name, size=1)
