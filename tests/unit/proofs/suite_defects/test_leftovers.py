# SPDX-License-Identifier: Apache-2.0

"""Drivers that leave something in the cloud, and work otherwise."""

import collections
from unittest import mock

from tests.unit.driver import small_world
from tests.unit.proofs.suite_defects import base
from tests.unit.proofs.suite_defects import stand_in

_NAME = f'left-{small_world.CLUSTER}'


class LeftoversTest(base.Base):

    def test_a_cluster_lives_and_one_thing_stays(self):
        self.w.cloud.create_security_group = mock.Mock()
        self.created('leftovers:SecurityGroupLeft')
        self.delete()
        self.look(3)

        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([mock.call(name=_NAME)],
                         self.w.cloud.create_security_group.call_args_list)

    def test_each_kind_has_its_name(self):
        for kind, service, request in (
                ('Port', 'network', 'create_port'),
                ('Balancer', 'load-balancer', 'create_load_balancer'),
                ('FloatingIp', 'network', 'create_ip'),
                ('SecurityGroup', 'network', 'create_security_group'),
                ('ServerGroup', 'compute', 'create_server_group'),
                ('Volume', 'block-storage', 'create_volume')):
            proxies = collections.defaultdict(mock.MagicMock)
            proxies['network'].networks.return_value = iter([mock.Mock()])
            stand_in.load(f'leftovers:{kind}Left')().leave(
                proxies.__getitem__, _NAME)

            made = getattr(proxies[service], request).call_args.kwargs
            self.assertIn(_NAME, made.values())

    def test_a_credential_that_only_reads(self):
        self.created('credentials:ReaderOnly')
        self.assertEqual([['reader']], self.w.cloud.roles)
