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


class PortLeft(Leaving):

    def leave(self, cloud, name):
        network = cloud.network
        network.create_port(
            name=name, network_id=network.create_network(name=name).id)


class BalancerLeft(Leaving):

    def leave(self, cloud, name):
        network = cloud.network
        subnet = network.create_subnet(
            network_id=network.create_network(name=name).id, ip_version=4,
            cidr='10.9.0.0/24')
        cloud.load_balancer.create_load_balancer(
            name=name, vip_subnet_id=subnet.id)


class FloatingIpLeft(Leaving):

    def leave(self, cloud, name):
        network = cloud.network
        external = next(network.networks(is_router_external=True))
        network.create_ip(floating_network_id=external.id, description=name)


class SecurityGroupLeft(Leaving):

    def leave(self, cloud, name):
        cloud.network.create_security_group(name=name)


class ServerGroupLeft(Leaving):

    def leave(self, cloud, name):
        cloud.compute.create_server_group(
            name=name, policies=['anti-affinity'])


class VolumeLeft(Leaving):

    def leave(self, cloud, name):
        cloud.block_storage.create_volume(name=name, size=1)
