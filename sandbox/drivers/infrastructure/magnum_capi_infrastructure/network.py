# SPDX-License-Identifier: Apache-2.0
"""What the machine service must know of networks to forward packets.

It imports neither Nova nor Octavia: their objects are only read.
"""

import logging

from magnum_capi_infrastructure import machines

LOG = logging.getLogger(__name__)

#: Protocols of listeners whose bytes are forwarded as they are.
FORWARDED = ('HTTP', 'HTTPS', 'TCP')

#: What providers of Octavia accept, by the names of a part's attributes: the
#: algorithms of octavia.api.drivers.amphora_driver.v2.driver, and
#: ovn_octavia_provider.common.constants, which forwards only connections.
ACCEPTED = {
    'amphora': {'lb_algorithm': ('ROUND_ROBIN', 'SOURCE_IP',
                                 'LEAST_CONNECTIONS')},
    'ovn': {'lb_algorithm': ('SOURCE_IP_PORT', 'SOURCE_IP'),
            'protocol': ('TCP', 'UDP', 'SCTP'),
            'type': ('TCP', 'UDP-CONNECT'), 'allowed_cidrs': ()},
}

#: Statuses of what is not there any more.
GONE = ('PENDING_DELETE', 'DELETED')


def interfaces(network_info):
    """A server's interfaces, in order; pure.

    :param network_info: Nova's, or None.
    """
    return [_interface(vif) for vif in network_info or ()]


def _interface(vif):
    network = vif['network']
    gateways = (subnet['gateway'] and subnet['gateway']['address']
                for subnet in network['subnets'])
    return {
        'mac': vif['address'], 'network': network['id'],
        'addresses': [
            f'{ip["address"]}/{subnet["cidr"].partition("/")[2]}'
            for subnet in network['subnets'] for ip in subnet['ips']],
        'gateway': next(filter(None, gateways), ''),
        'mtu': network['meta'].get('mtu') or 0,
    }


def balancer(row):
    """What a load balancer forwards once nothing is pending; pure.

    :param row: of Octavia's database.
    """
    return {
        'network': row.vip.network_id, 'address': row.vip.ip_address,
        'listeners': sorted(
            ({'port': listener.protocol_port,
              'members': _members(listener.default_pool)}
             for listener in row.listeners
             if row.enabled and _there(listener)
             and listener.protocol in FORWARDED),
            key=lambda listener: listener['port']),
    }


def _members(pool):
    if not pool or not _there(pool):
        return []
    return sorted(
        ({'address': member.ip_address, 'port': member.protocol_port}
         for member in pool.members if _there(member)),
        key=lambda member: (member['address'], member['port']))


def _there(part):
    return part.enabled and part.provisioning_status not in GONE


def refusal(provider, part):
    """Why a provider refuses a part of a load balancer, None if not; pure.

    :param part: of Octavia's driver interface: a listener, pool or health
        monitor. What is not given in an update is an object of its own.
    """
    for name, accepted in ACCEPTED.get(provider, {}).items():
        given = getattr(part, name, None)
        for value in given if isinstance(given, list) else [given]:
            if isinstance(value, str) and value not in accepted:
                return (f'The provider {provider} does not support {name} '
                        f'{value}')
    return None


class Balancers:
    """Tells the machine service what load balancers forward.

    :param service: :class:`.machines.Machines`.
    :param look: function of a set of ids, or of None for all load balancers;
        returns by id what each that is there forwards, None if it is to go.
    """

    def __init__(self, service, look):
        self._service = service
        self._look = look
        # Those to send. At first all: the last message of an API that was
        # killed may have been lost.
        self._due = None

    def tell(self, changed):
        """Send these load balancers, and those that could not be sent.

        :param changed: their ids.
        :returns: ids of those that the service refused; they remain due.
        :raises Unreachable: nobody knows which were sent; they remain due.
        """
        due = None if self._due is None else self._due | set(changed)
        found = {} if due == set() else self._look(due)
        self._due = set(found)
        for uuid, body in sorted(found.items(), key=lambda item: item[0]):
            try:
                if body is None:
                    self._service.forget(machines.BALANCERS, uuid)
                else:
                    self._service.forward(machines.BALANCERS, uuid, body)
            except machines.Refused as e:
                LOG.warning('Load balancer %s: %s', uuid, e)
            else:
                self._due.remove(uuid)
        return frozenset(self._due)
