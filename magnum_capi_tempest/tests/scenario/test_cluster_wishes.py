# SPDX-License-Identifier: Apache-2.0

"""Values from requests that are easily lost on the way, without an error.

Most of them are only visible in the management cluster: see
management_kubeconfig.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

#: A documentation network (RFC 5737), which no client is in.
ALLOWED = '192.0.2.0/24'

#: Another one, which the overlay of [magnum_capi] value_overlay allows.
OPERATORS = '203.0.113.0/24'


class ApiServerTest(operations.BaseOperationsTest):
    """Both tests check one cluster, whose API is as private as possible.

    They read the objects of Cluster API Provider OpenStack.
    """

    required_options = (*base.TEMPLATE_OPTIONS, 'management_kubeconfig')

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        cluster = cls.create_class_cluster(cls.create_class_template(
            master_lb_enabled=True, floating_ip_enabled=False, labels={
                **CONF.magnum_capi.labels,
                'api_master_lb_allowed_cidrs': ALLOWED}))
        cls.spec = cls.management.spec(
            'OpenStackCluster',
            cluster.get('stack_id') or cluster['cluster_id'])
        if cls.spec is None:
            raise cls.skipException('There is no OpenStackCluster')

    @decorators.attr(type=['slow', 'life'])
    @flags.promise('network.api.allow-list')
    @decorators.idempotent_id('493cf2c9-111f-4157-b2c8-7cc86270f3c5')
    def test_allow_list(self):
        balancer = self.spec.get('apiServerLoadBalancer') or {}

        self.assertEqual([ALLOWED], balancer.get('allowedCIDRs'))

    @decorators.attr(type=['slow', 'life'])
    @flags.promise('network.api.no-floating-ip')
    @decorators.idempotent_id('fef0230e-8959-4122-b211-7213b40f6c9f')
    def test_no_floating_ip(self):
        wish = 'disableAPIServerFloatingIP'
        self.assertIs(True, self.spec.get(wish), wish)


@flags.promise('network.api.overlay-merged')
class OverlayTest(operations.BaseOperationsTest):
    """Operators' additions to a list must not replace its items."""

    required_options = (*base.TEMPLATE_OPTIONS, 'management_kubeconfig',
                        'value_overlay')

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('4ff5be4a-f183-43fc-97ba-7ae7070e558e')
    def test_the_allow_list_of_a_user_stays(self):
        cluster = self.create_cluster(self.create_template(
            master_lb_enabled=True, labels={
                **CONF.magnum_capi.labels,
                'capi_helm_values': CONF.magnum_capi.value_overlay,
                'api_master_lb_allowed_cidrs': ALLOWED}))

        spec = self.management.spec(
            'OpenStackCluster',
            cluster.get('stack_id') or cluster['cluster_id'])

        self.assertEqual(
            {ALLOWED, OPERATORS},
            set(spec['apiServerLoadBalancer'].get('allowedCIDRs', ())))


@flags.promise('network.cluster.no-external')
class NoExternalNetworkTest(operations.BaseOperationsTest):

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('c26b98f2-3903-4259-a96a-918760cf3f2c')
    def test_create(self):
        cluster = self.create_cluster(
            self.create_template(external_network_id=None))

        self.assert_usable(cluster, CONF.magnum_capi.master_count,
                           CONF.magnum_capi.node_count)
