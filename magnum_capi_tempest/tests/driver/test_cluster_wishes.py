# SPDX-License-Identifier: Apache-2.0

"""Values from requests that are easily lost on the way, without an error.

Most of them are only visible in the management cluster: see
management_kubeconfig.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import requested
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

#: A documentation network (RFC 5737), which no client is in.
ALLOWED = '192.0.2.0/24'

#: Another one, which the overlay of the discovery fixture allows.
OPERATORS = '203.0.113.0/24'


#: What tests of an API server's load balancer need.
BALANCER = ('management_kubeconfig', 'master_lb_enabled')


def openstack_cluster(case: type[operations.BaseOperationsTest],
                      template: json_types.Object) -> json_types.Object:
    """Request a cluster for a class; return the spec of its OpenStackCluster.

    It is not waited for: where only its own network may reach its API, the
    management cluster may not, and it is never complete.

    :raises skipException: the cluster is complete without one.
    """
    uuid = case.request_class_cluster(template)
    management = base.management_cluster(
        CONF.magnum_capi.management_kubeconfig)
    with case.explained([uuid]):
        look = requested.until_there(
            case.new_waiter(), uuid,
            lambda stack_id: management.spec('OpenStackCluster', stack_id),
            bool, 'an OpenStackCluster')
    if not look.found:
        raise case.skipException('There is no OpenStackCluster')
    return look.found


class ApiServerTest(operations.BaseOperationsTest):
    """Both tests check one cluster, whose API is as private as possible."""

    needs = BALANCER

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.spec = openstack_cluster(cls, cls.create_class_template(
            master_lb_enabled=True, floating_ip_enabled=False, labels={
                # It would count before the attribute.
                'master_lb_floating_ip_enabled': None,
                'api_master_lb_allowed_cidrs': ALLOWED}))

    @flags.promise('network.api.allow-list')
    @decorators.idempotent_id('493cf2c9-111f-4157-b2c8-7cc86270f3c5')
    def test_allow_list(self) -> None:
        balancer = self.spec.get('apiServerLoadBalancer') or {}

        self.assertEqual([ALLOWED], balancer.get('allowedCIDRs'))

    @flags.promise('network.api.no-floating-ip')
    @decorators.idempotent_id('fef0230e-8959-4122-b211-7213b40f6c9f')
    def test_no_floating_ip(self) -> None:
        wish = 'disableAPIServerFloatingIP'
        self.assertIs(True, self.spec.get(wish), wish)


@flags.promise('network.api.overlay-merged')
class OverlayTest(operations.BaseOperationsTest):
    """Operators' additions to a list must not replace its items."""

    needs = (*BALANCER, 'value_overlay')

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.spec = openstack_cluster(cls, cls.create_class_template(
            master_lb_enabled=True, labels={
                **CONF.magnum_capi.labels,
                'capi_helm_values': flags.fixture().value_overlay,
                'api_master_lb_allowed_cidrs': ALLOWED}))

    @decorators.idempotent_id('4ff5be4a-f183-43fc-97ba-7ae7070e558e')
    def test_the_allow_list_of_a_user_stays(self) -> None:
        self.assertEqual(
            {ALLOWED, OPERATORS}, set(
                self.spec['apiServerLoadBalancer'].get('allowedCIDRs', ())))


@flags.promise('network.cluster.no-external')
class NoExternalNetworkTest(operations.BaseOperationsTest):

    @decorators.idempotent_id('c26b98f2-3903-4259-a96a-918760cf3f2c')
    def test_create(self) -> None:
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
