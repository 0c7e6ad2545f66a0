# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.cloud import loadbalancers
from magnum_capi.driver.cloud import services
from tests.unit.driver import in_cloud

LBS = '/lbaas/loadbalancers'
IPS = '/floatingips'


def balancer(id_, cluster='c1', **more):
    return {'id': id_, 'name': f'kube_service_{cluster}_default_{id_}',
            'description': f'Kubernetes external service default/{id_} from '
                           f'cluster {cluster}',
            'provisioning_status': 'ACTIVE', 'tags': [],
            'project_id': 'p1', 'vip_port_id': f'port-{id_}', **more}


def address(id_, description, port=None):
    return {'id': id_, 'description': description, 'port_id': port}


class LoadBalancersTest(testtools.TestCase):
    # B.4.21: left to somebody else.

    def setUp(self):
        super().setUp()
        self.fake = self.useFixture(in_cloud.Cloud())
        self.cloud = self.fake.cloud

    def serve(self, balancers, addresses=()):
        self.cloud.balancers = {one['id']: one for one in balancers}
        self.cloud.addresses = {one['id']: one for one in addresses}
        self.cloud.seen.clear()

    def delete(self):
        left = loadbalancers.delete(self.fake.services(), 'c1', 'p1')
        return left, self.fake.deleted()

    def test_those_of_the_cluster_in_its_project(self):
        self.serve([balancer('a'), balancer('b', cluster='c12')])
        self.assertEqual((('kube_service_c1_default_a',), ['a']),
                         self.delete())
        cascade, = [query['cascade'] for _, _, query, _
                    in self.fake.asked('DELETE')]
        self.assertEqual('True', cascade)
        queries = [query for _, path, query, _ in self.fake.asked('GET')
                   if path in (LBS, IPS)]
        self.assertEqual([{'project_id': 'p1'}] * 2, queries)

    def test_what_is_not_the_clusters_stays(self):
        for more in (
                # A name or a description alone is not enough.
                {'description': 'mine'}, {'name': 'mine'},
                {'description': 'Kubernetes external service default/a from '
                                'cluster c12'},
                # The API server is left to its provider.
                {'name': 'k8s-clusterapi-cluster-magnum-1-c1-kubeapi',
                 'description': 'Created by cluster-api-provider-openstack'},
                # Another cluster shares it.
                {'tags': ['kube_service_c1_default_a',
                          'kube_service_c2_default_b']}):
            self.serve([balancer('a', **more)])
            self.assertEqual(((), []), self.delete(), more)

    def test_none_keeps_another_from_its_turn(self):
        self.serve([
            balancer('gone', provisioning_status='DELETED'),
            balancer('b', cluster='c12'),
            balancer('later', provisioning_status='PENDING_UPDATE'),
            balancer('late'), balancer('a')])
        self.cloud.answers['DELETE', f'{LBS}/late'] = (409, {})
        left, deleted = self.delete()
        self.assertEqual(['later', 'late', 'a'], [
            name.rpartition('_')[2] for name in left])
        self.assertEqual(['late', 'a'], deleted)

    def test_addresses_that_were_made_for_services(self):
        text = ('Floating IP for Kubernetes external service default/a from '
                'cluster ')
        self.serve([balancer('lb', vip_port_id='p')], [
            address('a', text + 'c1', 'p'), address('b', text + 'c12', 'p'),
            address('c', 'mine', 'p'), address('d', None, 'p')])
        # First the address: without a port, it would be anybody's.
        self.assertEqual(['a', 'lb'], self.delete()[1])

    def test_address_that_its_owner_keeps_stays(self):
        # It stays when the Service goes that has the annotation
        # loadbalancer.openstack.org/keep-floatingip.
        text = ('Floating IP for Kubernetes external service default/a from '
                'cluster c1')
        self.serve([balancer('lb', vip_port_id='p')], [
            address('kept', text), address('used', text, 'of-a-server')])
        self.assertEqual(['lb'], self.delete()[1])

    def test_address_of_one_that_another_cluster_shares_is_kept(self):
        text = ('Floating IP for Kubernetes external service default/a from '
                'cluster c1')
        self.serve(
            [balancer('a', vip_port_id='p1', tags=[
                'kube_service_c1_default_a', 'kube_service_c2_default_b']),
             balancer('b', vip_port_id='p2'), balancer('c', cluster='c3')],
            [address('x', text, 'p1'), address('y', text, 'p2')])
        self.assertEqual(['y', 'b'], self.delete()[1])

    def test_no_octavia(self):
        self.cloud.types = ('network', 'identity')
        self.assertEqual(((), []), self.delete())

    def test_denied_is_not_swallowed(self):
        self.serve([balancer('a')])
        self.cloud.answers['DELETE', f'{LBS}/a'] = (403, {})
        self.assertRaises(services.Denied, self.delete)
