# SPDX-License-Identifier: Apache-2.0

import types

import fixtures
import testtools

from tests.unit.infrastructure import drivers

network = drivers.network


def vif(*subnets, **meta):
    return {'id': 'port', 'address': 'fa:16:3e:00:00:01',
            'network': {'id': 'net', 'meta': meta, 'subnets': subnets}}


def subnet(cidr, *addresses, **gateway):
    return {'cidr': cidr, 'ips': [{'address': a} for a in addresses],
            'gateway': gateway or None}


class RefusalTest(testtools.TestCase):

    def refused(self, provider, **part):
        return network.refusal(provider, types.SimpleNamespace(**part))

    def test_algorithms(self):
        for provider, algorithm, refused in (
                ('amphora', 'ROUND_ROBIN', False),
                ('amphora', 'SOURCE_IP_PORT', True),
                ('ovn', 'SOURCE_IP_PORT', False),
                ('ovn', 'ROUND_ROBIN', True)):
            found = self.refused(provider, protocol='TCP',
                                 lb_algorithm=algorithm)
            self.assertEqual(refused, bool(found), found)
            if refused:
                self.assertIn(algorithm, found)

    def test_ovn_forwards_only_connections(self):
        self.assertIsNone(self.refused('ovn', protocol='TCP'))
        self.assertIsNone(self.refused('amphora', protocol='HTTP'))
        self.assertIn('HTTP', self.refused('ovn', protocol='HTTP'))
        self.assertIn('PING', self.refused('ovn', type='PING'))
        self.assertIsNone(self.refused('ovn', type='TCP'))

    def test_ovn_has_no_allowed_cidrs(self):
        cidrs = ['192.0.2.0/24']
        self.assertIn('192.0.2.0/24', self.refused('ovn', allowed_cidrs=cidrs))
        for nothing in ([], None, object()):
            self.assertIsNone(self.refused('ovn', allowed_cidrs=nothing))
        self.assertIsNone(self.refused('amphora', allowed_cidrs=cidrs))


class InterfacesTest(testtools.TestCase):

    def test_the_first_gateway_of_several_subnets(self):
        found, = network.interfaces([vif(
            subnet('10.1.0.0/16', '10.1.0.5'),
            # Neutron has no gateway, Nova an address without a value.
            subnet('10.2.0.0/20', '10.2.0.5', '10.2.0.6', address=None),
            subnet('fd00::/64', 'fd00::5', address='fd00::1'),
            subnet('10.3.0.0/16', address='10.3.0.1'))])
        self.assertEqual(['10.1.0.5/16', '10.2.0.5/20', '10.2.0.6/20',
                          'fd00::5/64'], found['addresses'])
        self.assertEqual('fd00::1', found['gateway'])


def row(**values):
    return types.SimpleNamespace(**{
        'enabled': True, 'provisioning_status': 'ACTIVE', **values})


def member(address, port=6443, **values):
    return row(ip_address=address, protocol_port=port, **values)


def pool(*members, **values):
    return row(members=members, **values)


def listener(port, default_pool=None, protocol='TCP', **values):
    return row(protocol_port=port, default_pool=default_pool,
               protocol=protocol, **values)


def balancer(*listeners, **values):
    return row(vip=row(network_id='net', ip_address='10.0.0.7'),
               listeners=listeners, **values)


class BalancerTest(testtools.TestCase):

    def listeners(self, *listeners, **values):
        return network.balancer(balancer(*listeners, **values))['listeners']

    def members(self, *members, **values):
        found, = self.listeners(listener(6443, pool(*members, **values)))
        return [(m['address'], m['port']) for m in found['members']]

    def test_equal_whatever_the_order(self):
        parts = [listener(port, pool(member('10.0.0.2'), member('10.0.0.1')))
                 for port in (443, 80)]
        found = self.listeners(*parts)
        self.assertEqual([80, 443], [x['port'] for x in found])
        self.assertEqual(['10.0.0.1', '10.0.0.2'],
                         [m['address'] for m in found[0]['members']])

    def test_protocols(self):
        found = self.listeners(*(
            listener(port, protocol=protocol) for port, protocol in enumerate(
                ('HTTP', 'HTTPS', 'TCP', 'TERMINATED_HTTPS', 'UDP', 'SCTP'))))
        self.assertEqual([0, 1, 2], [x['port'] for x in found])

    def test_disabled(self):
        self.assertEqual([], self.listeners(listener(1), enabled=False))
        self.assertEqual([], self.listeners(listener(1, enabled=False)))
        self.assertEqual([], self.members(member('10.0.0.1'), enabled=False))
        self.assertEqual([('10.0.0.2', 6443)], self.members(
            member('10.0.0.1', enabled=False), member('10.0.0.2')))

    def test_what_is_being_deleted_is_not_there_what_is_created_is(self):
        gone = {'provisioning_status': 'PENDING_DELETE'}
        self.assertEqual([], self.listeners(listener(1, **gone)))
        self.assertEqual([], self.members(member('10.0.0.1'), **gone))
        self.assertEqual([('10.0.0.2', 6443)], self.members(
            member('10.0.0.1', **gone),
            member('10.0.0.2', provisioning_status='PENDING_CREATE')))


class Service:
    """Remembers what is forwarded; ``error`` answers ``broken``, or all."""

    def __init__(self):
        self.calls = []
        self.broken, self.error = None, None

    def forward(self, kind, uuid, body):
        self._take(kind, uuid, body)

    def forget(self, kind, uuid):
        self._take(kind, uuid, None)

    def _take(self, kind, uuid, body):
        if self.error and self.broken in (None, uuid):
            raise self.error
        self.calls.append((kind, uuid, body))


class BalancersTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.service = Service()
        self.there = {'a': {'of': 'a'}, 'b': {'of': 'b'}}
        self.balancers = network.Balancers(self.service, self.look)

    def look(self, ids):
        return {uuid: body for uuid, body in self.there.items()
                if ids is None or uuid in ids}

    def tell(self, *changed):
        """Returns who was told and who was refused."""
        self.service.calls.clear()
        refused = self.balancers.tell(changed)
        return [c[1] for c in self.service.calls], set(refused)

    def test_nothing_is_looked_up_for_nothing(self):
        self.tell()
        self.balancers._look = None
        self.assertEqual(([], set()), self.tell())

    def test_what_has_changed(self):
        self.tell()
        self.there |= {'b': {'of': 'new b'}, 'a': None}
        self.tell('b', 'a')
        self.assertEqual(
            [('balancers', 'a', None), ('balancers', 'b', {'of': 'new b'})],
            self.service.calls)

    def test_refused_is_due_until_it_is_understood(self):
        self.service.broken = 'a'
        self.service.error = drivers.machines.Refused('no')
        for _ in range(2):
            self.assertEqual({'a'}, self.tell()[1])
        self.assertIn('Load balancer a: no', self.log.output)
        self.service.error = None
        self.assertEqual((['a'], set()), self.tell())
        self.assertEqual(([], set()), self.tell())

    def test_unreachable_meanwhile(self):
        self.tell()
        self.service.broken = 'b'
        self.service.error = drivers.machines.Unreachable('nobody')
        self.assertRaises(drivers.machines.Unreachable, self.tell, 'a', 'b')
        self.service.error = None
        self.assertEqual((['b'], set()), self.tell())
