# SPDX-License-Identifier: Apache-2.0
"""A quota of the cloud has no room for a cluster at first, but later.

For nodes that are servers of the cloud. The quotas are those of a project that
Tempest created for these tests.
"""

import collections.abc
import json
import typing

from tempest import config
from tempest.lib.common.utils import test_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi import errors
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import cloud
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import tempest_types

CONF = config.CONF

#: Functions that update and reset the quotas of a project.
Service: typing.TypeAlias = tuple[
    collections.abc.Callable[..., object],
    collections.abc.Callable[[str], object]]

#: Kinds of what a quota limits, by its name.
KINDS = {'network': 'network', 'router': 'router', 'port': model.PORT,
         'security_group': model.SECURITY_GROUP, 'floatingip': 'floating IP',
         'load_balancer': model.BALANCER}


class Balancers:
    """Quotas of Octavia."""

    def __init__(self, manager: tempest_types.Manager, region: str) -> None:
        self._client = cloud.octavia(manager, region)

    def missing(self) -> str:
        """Return why clusters have none here; empty if they do."""
        if not CONF.magnum_capi.master_lb_enabled:
            return '[magnum_capi] master_lb_enabled is false'
        try:
            self._client.base_url
        except lib_exc.EndpointNotFound as e:
            return f'The cloud has no load balancers: {e}'
        return ''

    def update(self, project: str, **limits: int) -> None:
        self._client.put(f'v2.0/lbaas/quotas/{project}',
                         json.dumps({'quota': limits}))

    def reset(self, project: str) -> None:
        self._client.delete(f'v2.0/lbaas/quotas/{project}')


class CloudQuotasTest(operations.BaseOperationsTest):

    credentials = ['primary', 'admin']
    needs = ('real_nodes', 'auth.use_dynamic_credentials')

    @classmethod
    def setup_clients(cls) -> None:
        super().setup_clients()
        compute = cls.os_admin.quotas_client
        network = cls.os_admin.network_quotas_client
        balancers = Balancers(cls.os_admin, cls.magnum.clusters.region)
        cls.compute = compute.update_quota_set, compute.delete_quota_set
        cls.network = network.update_quotas, network.reset_quotas
        cls.balancers = balancers

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.template = cls.create_class_template()

    def request_without_room(self, service: Service, what: str, limit: int = 0
                             ) -> str:
        """Request a cluster that exceeds a quota; return its uuid.

        :param what: name of the quota.
        :param limit: how much of it is in use already.
        """
        update, reset = service
        project = self.os_primary.credentials.project_id
        self.addCleanup(
            test_utils.call_and_ignore_notfound_exc, reset, project)
        update(project, **{what: limit})
        return self.request_cluster(
            self.template, keypair=self.create_keypair())

    def balancers_service(self) -> Service:
        """Return the client's methods; skip the test without Octavia."""
        missing = self.balancers.missing()
        if missing:
            self.skipTest(missing)
        return self.balancers.update, self.balancers.reset

    def idents(self, what: str) -> set[str]:
        """Return the ids of what the project has that a quota limits."""
        kind = KINDS[what]
        who = self.os_primary.credentials
        found = listing.of_user(
            cloud.getter(self.os_primary, self.magnum), who.user_id,
            who.project_id, {kind})
        if kind in found.unread:
            self.skipTest(f'{kind}s cannot be listed: {found.unread[kind]}')
        return {thing.ident for thing in found.things}

    def assert_named(self, service: Service, what: str) -> None:
        uuid = self.request_without_room(service, what)
        state = self.until(
            uuid, lambda state: 'quota' in state.reasons.lower(),
            f'a reason of cluster {uuid} to mention a quota')
        self.assertFalse(
            observations.is_complete(state.status),
            f'It is complete although the quota {what} has no room: {state}')

    def assert_recovers(self, service: Service, what: str, limit: int = 0
                        ) -> None:
        """Not for servers: Cluster API's provider requests each only once."""
        uuid = self.request_without_room(service, what, limit)
        # Long enough for a driver to give up.
        self.assertRaises(
            errors.WaitTimeout, self.until, uuid,
            lambda state: observations.is_complete(state.status),
            'a cluster to be complete without room',
            timeout=base.rest_seconds())
        # Neutron's own ports, for addresses and routers, have no quota.
        before = self.idents(what)
        _, reset = service
        reset(self.os_primary.credentials.project_id)
        cluster = self.until_complete(uuid)
        self.assert_nodes_now(cluster)
        if not self.idents(what) - before:
            self.skipTest(f'The cluster needs no {KINDS[what]}: it did not '
                          'wait for the quota')

    @flags.promise('resilience.quota.named')
    @decorators.idempotent_id('0ffda1dd-b96b-430d-9d92-d3be961ecadf')
    def test_servers_are_named(self) -> None:
        self.assert_named(self.compute, 'instances')

    @flags.promise('resilience.quota.named')
    @decorators.idempotent_id('ef3da46b-2bb7-4688-8c34-5773801591ad')
    def test_networks_are_named(self) -> None:
        self.assert_named(self.network, 'network')

    @flags.promise('resilience.quota.named')
    @decorators.idempotent_id('404a45f7-11f4-4c78-9236-063c974d9ee0')
    def test_load_balancers_are_named(self) -> None:
        self.assert_named(self.balancers_service(), 'load_balancer')

    @flags.promise('resilience.quota.recovers')
    @decorators.idempotent_id('7421598e-3952-4779-903c-1aa203b51089')
    def test_networks(self) -> None:
        self.assert_recovers(self.network, 'network')

    @flags.promise('resilience.quota.recovers')
    @decorators.idempotent_id('e9a6af88-32b0-4056-b8ae-4f68454cb806')
    def test_routers(self) -> None:
        self.assert_recovers(self.network, 'router')

    @flags.promise('resilience.quota.recovers')
    @decorators.idempotent_id('4136fae9-d12e-4d7e-89ff-847c688dd823')
    def test_ports(self) -> None:
        self.assert_recovers(self.network, 'port')

    @flags.promise('resilience.quota.recovers')
    @decorators.idempotent_id('c44c8eb3-f447-436e-956d-201d287f65d9')
    def test_security_groups(self) -> None:
        # Neutron created one for the project.
        self.assert_recovers(self.network, 'security_group', limit=1)

    @flags.promise('resilience.quota.recovers')
    @decorators.idempotent_id('4b5ff34f-ab59-4d52-87c7-f907c825dccc')
    def test_floating_ips(self) -> None:
        self.assert_recovers(self.network, 'floatingip')

    @flags.promise('resilience.quota.recovers')
    @decorators.idempotent_id('107e2819-85c5-4c0f-ad56-8b9ec8eabd15')
    def test_load_balancers(self) -> None:
        self.assert_recovers(self.balancers_service(), 'load_balancer')
