# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.cloud import server_groups
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names
from tests.unit.driver import fake_cloud

PATH = '/os-server-groups'


def group(id_, name, policy='soft-anti-affinity', project='p1'):
    return {'id': id_, 'name': name, 'policies': [policy], 'members': [],
            'project_id': project}


class Pages(dict):
    """Answers to lists, in pages of two, as Nova has them by its offset."""

    def __init__(self, fake, groups):
        super().__init__(fake.answers)
        self._fake, self._groups = fake, groups

    def get(self, key, default=None):
        if key == ('GET', PATH):
            offset = int(self._fake.seen[-1][2]['offset'])
            return 200, {'server_groups': self._groups[offset:][:2]}
        return super().get(key, default)


class ServerGroupsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.fake = self.useFixture(fake_cloud.FakeCloud())

    def serve(self, *groups):
        for found in groups:
            self.fake.answers['DELETE', f'{PATH}/{found["id"]}'] = (204, None)
        self.fake.answers['POST', PATH] = (
            200, {'server_group': group('new', 'c1-control-plane')})
        self.fake.answers = Pages(self.fake, list(groups))

    def ensure(self, policy='soft-anti-affinity'):
        return server_groups.ensure(
            self.fake.services(), 'c1-control-plane', policy)

    def posted(self):
        return [body['server_group'] for method, _, _, body in self.fake.seen
                if method == 'POST']

    def deleted(self):
        return [path.rpartition('/')[2]
                for _, path in self.fake.calls('DELETE')]

    def test_made_once(self):
        self.serve(group('a', 'other'), group('b', 'c1-control-plane-2'))
        self.assertEqual('new', self.ensure())
        made, = self.posted()
        self.assertEqual({'name': 'c1-control-plane',
                          'policy': 'soft-anti-affinity'}, made)

    def test_one_of_an_earlier_try_is_found_on_any_page(self):
        self.serve(*(group(f'{n}', f'other-{n}') for n in range(5)),
                   group('mine', 'c1-control-plane'))
        self.assertEqual('mine', self.ensure())
        self.assertEqual([], self.posted())

    def test_one_of_another_policy_stays_beside_the_new_one(self):
        self.serve(group('mine', 'c1-control-plane'))
        self.assertEqual('new', self.ensure('anti-affinity'))
        self.assertEqual([], self.deleted())

    def test_a_quota_that_is_used_up_is_no_right(self):
        self.serve()
        self.fake.answers['POST', PATH] = (403, {'forbidden': {
            'code': 403, 'message': 'Quota exceeded, too many server '
            'groups.'}})
        e = self.assertRaises(services.Denied, self.ensure)
        self.assertIn('too many server groups', str(e))
        self.assertIn('c1-control-plane', str(e))

    def test_deletion_takes_those_of_the_cluster_and_its_project(self):
        own = names.node_group('33333333-3c2d-4899-b017-d2b06c0ccd9f')
        self.serve(
            group('a', 'a-b-control-plane'), group('b', f'a-b-{own}'),
            group('c', 'a-b-pool'),
            group('d', 'a-b-control-plane', project='p2'),
            group('e', 'a-b-c-control-plane'), group('f', f'a-b-c-{own}'),
            group('g', 'a-b'), group('h', own), group('i', 'a-b-other'))
        self.assertEqual(3, server_groups.delete(
            self.fake.services(), names.Naming('a-b', {'u': 'pool'}), 'p1'))
        self.assertEqual(['a', 'b', 'c'], self.deleted())
        self.assertEqual({'True'}, {
            query['all_projects'] for method, path, query, _ in
            self.fake.seen if (method, path) == ('GET', PATH)})
