# SPDX-License-Identifier: Apache-2.0

"""Networks of the containers.

Pure: the host's addresses and routes are parameters. An engine has its own
/16, which the host reaches through one pair of interfaces.
"""

import dataclasses
import ipaddress

from magnum_capi import errors

#: Second numbers of the networks 10.x.0.0/16 to try, in this order. They do
#: not overlap Magnum's defaults for pods, services and nodes (10.100, 10.254,
#: 10.0.0), nor those of kubeadm (10.96 to 10.111), kind and flannel (10.244),
#: the Helm chart of Cluster API (172.16 to 172.31) and minikube (192.168).
NUMBERS = range(213, 240)


@dataclasses.dataclass(frozen=True)
class EngineNetwork:
    """The network of one engine.

    :param whole: a /16; the host has a route to it.
    """

    whole: ipaddress.IPv4Network

    @property
    def kind(self) -> ipaddress.IPv4Network:
        """Subnet of the container network "kind", a /18."""
        return self._subnet(18, 0)

    @property
    def minikube(self) -> ipaddress.IPv4Network:
        """For ``minikube start --subnet``, which needs a /24."""
        return self._subnet(24, 64)

    @property
    def pool(self) -> ipaddress.IPv4Network:
        """Pool of /24 subnets for container networks without their own."""
        return self._subnet(18, 2)

    @property
    def link(self) -> ipaddress.IPv4Network:
        """Subnet of the two interfaces between host and engine, a /30."""
        return self._subnet(30, -1)

    def _subnet(self, prefix, number):
        """One of the subnets with this prefix length; -1 is the last."""
        # Without subnets(), which would make thousands for the last one.
        return ipaddress.IPv4Network(
            (self.whole[number << 32 - prefix], prefix))

    @property
    def host_address(self) -> ipaddress.IPv4Address:
        return self.link[1]

    @property
    def engine_address(self) -> ipaddress.IPv4Address:
        return self.link[2]


def parse(text) -> EngineNetwork:
    """The network of a text in CIDR notation."""
    return EngineNetwork(ipaddress.IPv4Network(text))


def choose(taken) -> EngineNetwork:
    """The first network that overlaps none of the host's.

    :param taken: networks of the host's addresses and routes, in CIDR
        notation; a default route is ignored.
    :raises EnvironmentProblem: there is none.
    """
    others = [ipaddress.ip_network(n, strict=False) for n in taken]
    others = [n for n in others if n.version == 4 and n.prefixlen]
    for number in NUMBERS:
        mine = ipaddress.IPv4Network(f'10.{number}.0.0/16')
        if not any(mine.overlaps(other) for other in others):
            return EngineNetwork(mine)
    raise errors.EnvironmentProblem(
        'No network is free for containers',
        where=f'10.{NUMBERS[0]}.0.0/16 to 10.{NUMBERS[-1]}.0.0/16',
        last_seen=', '.join(map(str, others[:5])),
        hint='This host has routes to all of them: take an engine down')


def taken(routes, addresses) -> list[str]:
    """The networks that a host uses.

    :param routes: output of ``ip -json -4 route show table all``.
    :param addresses: output of ``ip -json -4 address``.
    :returns: in CIDR notation.
    """
    found = [r['dst'] for r in routes if r.get('dst', 'default') != 'default'
             and r.get('type', 'unicast') not in ('broadcast', 'multicast')]
    return found + [
        f'{a["local"]}/{a["prefixlen"]}' for interface in addresses
        for a in interface.get('addr_info', ()) if 'local' in a]
