# SPDX-License-Identifier: Apache-2.0

"""Resources of OpenStack that outlive their clusters.

Each driver creates something in its user's project for every cluster, names
it after the cluster, and forgets it.
"""

from magnum_capi_defects import parts


class Leaving(parts.Seeded):
    """Creates something that nobody deletes."""

    def create_cluster(self, context, cluster, cluster_create_timeout):
        super().create_cluster(context, cluster, cluster_create_timeout)
        self.leave(self._store(context, cluster).cloud.services.proxy,
                   f'left-{cluster.uuid}')

    def leave(self, proxy, name):
        """Create it.

        :param proxy: function of a type of service, returns openstacksdk's
            proxy of it.
        """
        raise NotImplementedError


class PortLeft(Leaving):

    def leave(self, proxy, name):
        network = proxy('network')
        network.create_port(
            name=name, network_id=network.create_network(name=name).id)


class BalancerLeft(Leaving):

    def leave(self, proxy, name):
        network = proxy('network')
        subnet = network.create_subnet(
            network_id=network.create_network(name=name).id, ip_version=4,
            cidr='10.9.0.0/24')
        proxy('load-balancer').create_load_balancer(
            name=name, vip_subnet_id=subnet.id)


class FloatingIpLeft(Leaving):

    def leave(self, proxy, name):
        network = proxy('network')
        external = next(network.networks(is_router_external=True))
        network.create_ip(floating_network_id=external.id, description=name)


class SecurityGroupLeft(Leaving):

    def leave(self, proxy, name):
        proxy('network').create_security_group(name=name)


class ServerGroupLeft(Leaving):

    def leave(self, proxy, name):
        proxy('compute').create_server_group(
            name=name, policies=['anti-affinity'])


class VolumeLeft(Leaving):

    def leave(self, proxy, name):
        proxy('block-storage').create_volume(name=name, size=1)
