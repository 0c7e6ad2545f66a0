# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.cloud import server_groups
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names
from tests.lib import openstack_api
from tests.unit.driver import in_cloud

PATH = '/os-server-groups'


def group(name, policy='soft-anti-affinity', project='p1'):
    return name, policy, project


class ServerGroupsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.fake = self.useFixture(in_cloud.Cloud())
        self.cloud = self.fake.cloud
        self.cloud.page = 2

    def serve(self, **groups):
        self.cloud.server_groups = groups

    def ensure(self, policy='soft-anti-affinity'):
        return server_groups.ensure(
            self.fake.services(), 'c1-control-plane', policy)

    def posted(self):
        return [body['server_group'] for *_, body in self.fake.asked('POST')]

    def made(self):
        """The id of the newest one."""
        return list(self.cloud.server_groups)[-1]

    def test_made_once(self):
        self.serve(a=group('other'), b=group('c1-control-plane-2'))
        found = self.ensure()
        self.assertEqual(self.made(), found)
        made, = self.posted()
        self.assertEqual({'name': 'c1-control-plane',
                          'policy': 'soft-anti-affinity'}, made)

    def test_one_of_an_earlier_try_is_found_on_any_page(self):
        self.serve(**{f'g{n}': group(f'other-{n}') for n in range(5)},
                   mine=group('c1-control-plane'))
        self.assertEqual('mine', self.ensure())
        self.assertEqual([], self.posted())

    def test_one_of_another_policy_stays_beside_the_new_one(self):
        self.serve(mine=group('c1-control-plane'))
        found = self.ensure('anti-affinity')
        self.assertEqual(['mine', found], list(self.cloud.server_groups))

    def test_a_quota_that_is_used_up_is_no_right(self):
        self.cloud.quota = 0
        e = self.assertRaises(services.Denied, self.ensure)
        self.assertIn('too many server groups', str(e))
        self.assertIn('c1-control-plane', str(e))

    def test_deletion_takes_those_of_the_cluster_and_its_project(self):
        own = names.node_group('33333333-3c2d-4899-b017-d2b06c0ccd9f')
        self.serve(
            a=group('a-b-control-plane'), b=group(f'a-b-{own}'),
            c=group('a-b-pool'), d=group('a-b-control-plane', project='p2'),
            e=group('a-b-c-control-plane'), f=group(f'a-b-c-{own}'),
            g=group('a-b'), h=group(own), i=group('a-b-other'))
        self.assertEqual(3, server_groups.delete(
            self.fake.services(openstack_api.ADMIN),
            names.Naming('a-b', {'u': 'pool'}), 'p1'))
        self.assertEqual(['a', 'b', 'c'], self.fake.deleted())
        self.assertEqual(set('defghi'), set(self.cloud.server_groups))
        self.assertEqual({'True'}, {
            query['all_projects'] for _, path, query, _ in
            self.fake.asked('GET') if path == PATH})
