# SPDX-License-Identifier: Apache-2.0

"""Which addresses the containers get.

Pure: the host's addresses and routes are parameters. An engine has one /16
of its own, which the host reaches through one pair of interfaces.
"""

import dataclasses
import ipaddress

from magnum_capi import errors

#: Second number of the networks 10.x.0.0/16 that are tried, in this order.
#: Magnum's defaults for pods, services and nodes are elsewhere (10.100,
#: 10.254, 10.0.0), and so are those of kubeadm (10.96 to 10.111), kind and
#: flannel (10.244), the Helm chart of Cluster API (172.16 to 172.31) and
#: minikube (192.168).
NUMBERS = range(213, 240)


@dataclasses.dataclass(frozen=True)
class Plan:
    """The network of one engine.

    :param whole: a /16; the host has a route to it.
    """

    whole: ipaddress.IPv4Network

    @property
    def kind(self) -> ipaddress.IPv4Network:
        """Of the container network "kind", a /18."""
        return self._subnet(18, 0)

    @property
    def minikube(self) -> ipaddress.IPv4Network:
        """For ``minikube start --subnet``, which wants a /24."""
        return self._subnet(24, 64)

    @property
    def pool(self) -> ipaddress.IPv4Network:
        """Of which container networks without a wish get a /24 each."""
        return self._subnet(18, 2)

    @property
    def link(self) -> ipaddress.IPv4Network:
        """Of the two interfaces between host and engine, a /30."""
        return self._subnet(30, -1)

    def _subnet(self, prefix, number):
        """One of the subnets of a prefix's length; -1 is the last."""
        # Not by subnets(), which would make thousands for the last one.
        return ipaddress.IPv4Network(
            (self.whole[number << 32 - prefix], prefix))

    @property
    def host_address(self) -> ipaddress.IPv4Address:
        return self.link[1]

    @property
    def engine_address(self) -> ipaddress.IPv4Address:
        return self.link[2]


def plan(text) -> Plan:
    """The plan of a network in CIDR notation."""
    return Plan(ipaddress.IPv4Network(text))


def choose(taken) -> Plan:
    """The first network that touches none of the host's.

    :param taken: networks of the host's addresses and routes, in CIDR
        notation; a default route does not count.
    :raises EnvironmentProblem: there is none.
    """
    others = [ipaddress.ip_network(n, strict=False) for n in taken]
    others = [n for n in others if n.version == 4 and n.prefixlen]
    for number in NUMBERS:
        mine = ipaddress.IPv4Network(f'10.{number}.0.0/16')
        if not any(mine.overlaps(other) for other in others):
            return Plan(mine)
    raise errors.EnvironmentProblem(
        'No network is free for containers',
        where=f'10.{NUMBERS[0]}.0.0/16 to 10.{NUMBERS[-1]}.0.0/16',
        last_seen=', '.join(map(str, others[:5])),
        hint='This host has routes to all of them: take an engine down')


def taken(routes, addresses) -> list[str]:
    """The networks that a host uses.

    :param routes: of ``ip -json -4 route show table all``.
    :param addresses: of ``ip -json -4 address``.
    :returns: in CIDR notation.
    """
    found = [r['dst'] for r in routes if r.get('dst', 'default') != 'default'
             and r.get('type', 'unicast') not in ('broadcast', 'multicast')]
    return found + [
        f'{a["local"]}/{a["prefixlen"]}' for interface in addresses
        for a in interface.get('addr_info', ()) if 'local' in a]
