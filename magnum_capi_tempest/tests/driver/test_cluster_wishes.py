# SPDX-License-Identifier: Apache-2.0

"""Values from requests that are easily lost on the way, without an error.

Most of them are only visible in the management cluster: see
management_kubeconfig.
"""

import functools
import typing

from tempest import config
from tempest.lib import decorators

from magnum_capi import errors
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import requested
from magnum_capi_tempest.tests.common import networks
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

#: A documentation network (RFC 5737), which no client is in.
ALLOWED = '192.0.2.0/24'

#: Another one, which the overlay of the discovery fixture allows.
OPERATORS = '203.0.113.0/24'

EVERYBODY = '0.0.0.0/0'

#: The label with the networks that may reach an API server.
LABEL = 'api_master_lb_allowed_cidrs'


def openstack_cluster(management: capi.ManagementCluster, stack_id: str
                      ) -> json_types.Object | None:
    """Return the body of a cluster's OpenStackCluster; None: there is none."""
    return next((body for _, body in management.bodies(
        ('OpenStackCluster',), stack_id)), None)


def allowed(part: json_types.Object | None) -> list[str]:
    """Return who may reach an API server.

    :param part: spec or status of its OpenStackCluster.
    """
    balancer = (part or {}).get('apiServerLoadBalancer') or {}
    return balancer.get('allowedCIDRs') or []


#: What tests of an API server's load balancer need.
BALANCER = ('management_kubeconfig', 'master_lb_enabled')


class Requested(typing.NamedTuple):
    """A cluster whose OpenStackCluster tests check.

    ``refused``: why it was refused for :data:`LABEL`, as it must be where load
    balancers cannot do that; empty: it was not. Without that, ``body`` is that
    of the OpenStackCluster.
    """

    refused: str = ''
    stack_id: str = ''
    body: json_types.Object = {}


def request(case: type[operations.BaseOperationsTest], **template: typing.Any
            ) -> Requested:
    """Request a cluster for a class, and wait for its OpenStackCluster.

    It is not waited for: where only its own network may reach its API, the
    management cluster may not, and it is never complete.

    :param template: changes of its template.
    :raises skipException: it is complete without an OpenStackCluster.
    """
    uuid = case.request_class_cluster(case.create_class_template(
        master_lb_enabled=True, **template))
    management = base.management_cluster(
        CONF.magnum_capi.management_kubeconfig)
    try:
        with case.explained([uuid]):
            look = requested.until_there(
                case.new_waiter(), uuid,
                functools.partial(openstack_cluster, management),
                bool, 'an OpenStackCluster')
    except errors.WaitAborted as e:
        reason = str(e.state.cluster.status_reason)
        if LABEL not in reason:
            raise
        return Requested(f'A list of who may pass is refused here: {reason}')
    if not (look.found and look.cluster.stack_id):
        raise case.skipException('There is no OpenStackCluster')
    return Requested('', look.cluster.stack_id, look.found)


class ApiServerTest(operations.BaseOperationsTest):
    """Both tests check one cluster, whose API is as private as possible."""

    needs = BALANCER
    management: capi.ManagementCluster

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        # It would count before the attribute.
        labels = {'master_lb_floating_ip_enabled': None}
        cls.made = request(
            cls, floating_ip_enabled=False,
            labels={**labels, LABEL: ALLOWED})
        cls.refused = cls.made.refused
        if cls.refused:
            cls.made = request(
                cls, floating_ip_enabled=False,
                labels={**labels, LABEL: None})

    @flags.promise('network.api.allow-list')
    @decorators.idempotent_id('493cf2c9-111f-4157-b2c8-7cc86270f3c5')
    def test_allow_list(self) -> None:
        if self.refused:
            self.skipTest(self.refused)
        found = allowed(self.made.body['spec'])
        if CONF.magnum_capi_feature_enabled.real_nodes:
            # Cluster API's provider leaves out what Octavia's does not have
            # (loadbalancer.go of 0.14, isAllowsCIDRSSupported).
            found = allowed(waiters.until(
                self.status,
                lambda status: status.get('ready') or allowed(status),
                f'the load balancer of cluster {self.made.stack_id}'))

        self.assertIn(ALLOWED, found)
        self.assertNotIn(EVERYBODY, found)

    def status(self) -> json_types.Object:
        body = openstack_cluster(
            self.management, self.made.stack_id) or {}
        status: json_types.Object = body.get('status') or {}
        return status

    @flags.promise('network.api.no-floating-ip')
    @decorators.idempotent_id('fef0230e-8959-4122-b211-7213b40f6c9f')
    def test_no_floating_ip(self) -> None:
        wish = 'disableAPIServerFloatingIP'
        self.assertIs(True, self.made.body['spec'].get(wish), wish)


@flags.promise('network.api.overlay-merged')
class OverlayTest(operations.BaseOperationsTest):
    """Operators' additions to a list must not replace its items."""

    needs = (*BALANCER, 'value_overlay')

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.made = request(cls, labels={
            'capi_helm_values': flags.fixture().value_overlay,
            LABEL: ALLOWED})
        if cls.made.refused:
            raise cls.skipException(cls.made.refused)

    @decorators.idempotent_id('4ff5be4a-f183-43fc-97ba-7ae7070e558e')
    def test_the_allow_list_of_a_user_stays(self) -> None:
        found = allowed(self.made.body['spec'])

        # A driver may add where the management cluster comes from.
        self.assertEqual(set(), {ALLOWED, OPERATORS} - set(found),
                         f'They may not pass, only {found}')
        self.assertNotIn(EVERYBODY, found)


@flags.promise('network.cluster.no-external')
class NoExternalNetworkTest(operations.BaseOperationsTest):

    needs = ('service_available.neutron',)

    @decorators.idempotent_id('c26b98f2-3903-4259-a96a-918760cf3f2c')
    def test_create(self) -> None:
        # Where a cluster names none, Cluster API's provider takes the only one
        # (pkg/cloud/services/networking/network.go of 0.14,
        # ReconcileExternalNetwork).
        found = [network for network in networks.all_external(self.os_primary)
                 if network.get('router:external')]
        if len(found) > 1:
            self.skipTest(f'There are {len(found)} external networks, and '
                          'nothing says which one to take')

        cluster = self.create_cluster(
            self.create_template(external_network_id=None))

        self.assert_usable(cluster)


@flags.promise('lifecycle.cluster.own-labels')
class OwnLabelsTest(operations.BaseOperationsTest):

    @decorators.idempotent_id('9af7c332-30d8-4e7c-beb6-29da0fd00103')
    def test_create_and_delete(self) -> None:
        # Without merge_labels a cluster inherits no label of its template. It
        # keeps what the cloud needs, such as a zone, or boot_volume_size where
        # flavors have no disk, but not what only a driver may need.
        own = {name: text for name, text in CONF.magnum_capi.labels.items()
               if name not in ('kube_tag', 'auto_scaling_enabled')}
        own['auto_healing_enabled'] = 'true'
        of_template = {**CONF.magnum_capi.labels,
                       'auto_scaling_enabled': 'false'}
        uuid = self.request_cluster(
            self.create_template(labels=of_template),
            keypair=self.create_keypair(), labels=own)

        state = self.waiter.until_settled(uuid)

        self.assertIsNone(observations.own_labels_fault(
            state, own, of_template.keys() - own.keys()))
        if state.status == 'CREATE_COMPLETE':
            self.assert_usable(state.body)
        self.delete_cluster({'uuid': uuid})
