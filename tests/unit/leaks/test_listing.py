# SPDX-License-Identifier: Apache-2.0

from urllib import parse

import testtools

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from tests.unit.evidence import fake_kube


class Cloud:
    """Answers GETs out of a table; ``asked`` are the paths, in turn."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []

    def get(self, service, path):
        self.asked.append(f'{service} {path}')
        key = path.partition('?')[0].rpartition('/')[2]
        answer = self.answers.get(key, [])
        if isinstance(answer, Exception):
            raise answer
        return {'detail': {'clusters': answer, 'volumes': answer,
                           'servers': answer}}.get(
            key, {key.replace('os-', '').replace('-', '_'): answer})


class Paged:
    """Magnum with clusters, whose operator limits the size of a page.

    :param most: the largest page.
    :param deleted: clusters that go as soon as they have been listed.
    """

    def __init__(self, count, most, deleted=()):
        self.there = [str(number) for number in range(count)]
        self.most = most
        self.deleted = set(deleted)
        self.asked = 0

    def get(self, service, path):
        self.asked += 1
        query = parse.parse_qs(path.partition('?')[2])
        marker = query.get('marker', [None])[0]
        if marker in self.deleted:
            raise refused(400)
        begin = self.there.index(marker) + 1 if marker else 0
        end = begin + min(int(query['limit'][0]), self.most)
        return {'clusters': [{'uuid': uuid}
                             for uuid in self.there[begin:end]]}


class Cut:
    """Keystone and Nova, which never list more than 1000 things at once.

    Keystone 27 and later cut users (max_db_limit) and say so only if they were
    asked for a limit; Nova cuts server groups (max_limit), and never does.
    """

    def __init__(self, count):
        self.there = [str(number) for number in range(count)]

    def get(self, service, path):
        query = parse.parse_qs(path.partition('?')[2])
        key = path.partition('?')[0].replace('os-', '').replace('-', '_')
        begin = 0
        if key == 'users' and 'marker' in query:
            begin = self.there.index(query['marker'][0]) + 1
        elif key == 'server_groups':
            begin = int(query.get('offset', ['0'])[0])
        elif key != 'users':
            raise refused(403)
        end = begin + min(int(query.get('limit', ['1000'])[0]), 1000)
        return {key: [{'id': ident} for ident in self.there[begin:end]]}


def refused(status):
    return listing.CloudReadFailed('no', status=status)


def idents(snapshot, kind):
    return sorted(t.ident for t in snapshot.things if t.kind == kind)


class OfUserTest(testtools.TestCase):

    def test_everything_of_the_user_and_nothing_of_others(self):
        cloud = Cloud(
            detail=[{'uuid': 'c', 'user_id': 'u', 'project_id': 'p'},
                    {'uuid': 'd', 'user_id': 'v', 'project_id': 'p'}],
            clustertemplates=[{'uuid': 't', 'user_id': 'u'},
                              {'uuid': 'public', 'user_id': 'v'}],
            application_credentials=[{'id': 'a', 'name': 'n'}],
            trusts=[{'id': 'r', 'trustor_user_id': 'u'}])

        found = listing.of_user(cloud.get, 'u', 'p')

        self.assertEqual(
            ['application credential n (a)', 'cluster c',
             'cluster template t', 'trust r'],
            sorted(map(str, found.things)))
        self.assertEqual({}, dict(found.unread))
        self.assertIn('identity users/u/application_credentials',
                      cloud.asked)
        self.assertIn('identity OS-TRUST/trusts?trustor_user_id=u',
                      cloud.asked)

    def test_only_the_kinds_that_are_wanted_are_asked_for(self):
        cloud = Cloud()

        listing.of_user(cloud.get, 'u', 'p', kinds={model.TEMPLATE})

        self.assertEqual(
            [f'container-infra clustertemplates?limit={listing.PAGE}'],
            cloud.asked)

    def test_what_servers_of_nova_leave_is_found_by_the_project(self):
        cloud = Cloud(ports=[{'id': 'mine', 'tenant_id': 'p'},
                             {'id': 'other', 'tenant_id': 'q'}],
                      loadbalancers=[{'id': 'lb', 'project_id': 'p'}])

        found = listing.of_user(
            cloud.get, 'u', 'p', kinds=set(model.REAL), real_nodes=True)

        self.assertEqual(['mine'], idents(found, 'port'))
        self.assertEqual(['lb'], idents(found, 'load balancer'))
        self.assertEqual(set(model.REAL), found.kinds)

    def test_each_kind_that_servers_leave(self):
        found = self.of_servers(
            **{'floatingips': [{'id': 'f', 'floating_ip_address': '1.2.3.4'}],
               'os-server-groups': [{'id': 's', 'name': 'apart'}]},
            routers=[{'id': 'r'}], networks=[{'id': 'n'}])

        self.assertEqual(
            ['floating IP 1.2.3.4 (f)', 'network n', 'router r',
             'server group apart (s)'], sorted(map(str, found.things)))

    def test_the_group_of_every_project_is_neutrons(self):
        found = self.of_servers(**{'security-groups': [
            {'id': 'd', 'name': 'default'}, {'id': 'm', 'name': 'mine'}]})

        self.assertEqual(['m'], idents(found, model.SECURITY_GROUP))

    def of_servers(self, **answers):
        return listing.of_user(Cloud(**answers).get, 'u', 'p',
                               kinds=set(model.REAL), real_nodes=True)

    def test_what_a_service_is_deleting_is_not_left_behind(self):
        # LVM overwrites a volume first, which takes minutes.
        class Octavia(Cloud):

            def get(self, service, path):
                if service == 'load-balancer':
                    return {'loadbalancers': [
                        {'id': 'b', 'provisioning_status': 'PENDING_DELETE'},
                        {'id': 'c', 'provisioning_status': 'ERROR'}]}
                if service == 'volume':
                    return {'volumes': [
                        {'id': 'v', 'status': 'deleting'},
                        {'id': 'w', 'status': 'error_deleting'}]}
                return super().get(service, path)

        found = listing.of_user(
            Octavia().get, 'u', 'p', kinds=(model.BALANCER, model.VOLUME),
            real_nodes=True)

        self.assertEqual({'c', 'w'}, {thing.ident for thing in found.things})

    def test_nova_is_not_asked_where_nodes_are_not_real(self):
        cloud = Cloud()

        listing.of_user(cloud.get, 'u', 'p')

        self.assertNotIn('ports', str(cloud.asked))

    def test_what_cannot_be_read_is_said_and_does_not_hide_the_rest(self):
        cloud = Cloud(trusts=refused(403), clustertemplates=[{'uuid': 't'}])

        found = listing.of_user(cloud.get, 'u', 'p')

        self.assertEqual({model.TRUST: 'no'}, dict(found.unread))
        self.assertNotIn(model.TRUST, found.kinds)
        self.assertEqual(['t'], idents(found, model.TEMPLATE))

    def test_credentials_of_a_user_who_is_gone_are_gone(self):
        cloud = Cloud(application_credentials=refused(404))

        found = listing.of_user(cloud.get, 'u', 'p')

        self.assertIn(model.CREDENTIAL, found.kinds)

    def test_service_that_is_not_at_its_endpoint_is_not_empty(self):
        cloud = Cloud(clustertemplates=refused(404))

        found = listing.of_user(cloud.get, 'u', 'p')

        self.assertNotIn(model.TEMPLATE, found.kinds)
        self.assertIn(model.TEMPLATE, found.unread)

    def test_all_pages(self):
        server = Paged(listing.PAGE + 3, most=1000)

        found = listing.of_user(server.get, 'u', 'p', kinds={model.CLUSTER})

        self.assertEqual(listing.PAGE + 3, len(found.things))

    def test_a_server_that_allows_fewer_things_per_page(self):
        server = Paged(1005, most=100)

        found = listing.of_user(server.get, 'u', 'p', kinds={model.CLUSTER})

        self.assertEqual(1005, len(found.things))
        self.assertEqual(12, server.asked)

    def test_the_last_one_of_a_page_is_deleted_meanwhile(self):
        server = Paged(250, most=100, deleted=('199', '198'))

        found = listing.of_user(server.get, 'u', 'p', kinds={model.CLUSTER})

        self.assertEqual(250, len(found.things))
        self.assertIn(model.CLUSTER, found.kinds)

    def test_a_server_that_finds_no_marker(self):
        server = Paged(250, most=100, deleted=map(str, range(250)))

        found = listing.of_user(server.get, 'u', 'p', kinds={model.CLUSTER})

        self.assertEqual({model.CLUSTER: 'no'}, dict(found.unread))


class OfCloudTest(testtools.TestCase):

    def test_users_and_trusts_of_all(self):
        cloud = Cloud(users=[{'id': 'u', 'name': 'n'}],
                      trusts=[{'id': 'r', 'trustor_user_id': 'x'}],
                      application_credentials=[{'id': 'a'}])

        found = listing.of_cloud(cloud.get, ['admin'])

        self.assertEqual(['u'], idents(found, model.USER))
        self.assertEqual(['r'], idents(found, model.TRUST))
        self.assertEqual(['a'], idents(found, model.CREDENTIAL))

    def test_servers_of_all_projects(self):
        cloud = Cloud()

        listing.of_cloud(cloud.get, real_nodes=True)

        self.assertIn('compute servers/detail?all_tenants=1'
                      f'&limit={listing.PAGE}', cloud.asked)
        self.assertIn('compute os-server-groups?all_projects=1'
                      f'&limit={listing.PAGE}', cloud.asked)

    def test_more_than_a_service_lists_at_once(self):
        found = listing.of_cloud(Cut(2345).get, real_nodes=True)

        self.assertEqual(2345, len(idents(found, model.USER)))
        self.assertEqual(2345, len(idents(found, 'server group')))

    def test_users_of_a_keystone_that_knows_no_marker(self):
        cloud = Cloud(users=[{'id': 'u'}, {'id': 'v'}])

        found = listing.of_cloud(cloud.get)

        self.assertEqual(['u', 'v'], idents(found, model.USER))

    def test_users_by_a_part_of_the_name(self):
        cloud = Cloud(users=[{'id': 'u', 'name': 'c1_p'}])

        found = listing.users_named(cloud.get, 'c1')

        self.assertEqual(['identity users?name__contains=c1'], cloud.asked)
        self.assertEqual(['user c1_p (u)'], list(map(str, found.things)))


class OfManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve_group('cluster.x-k8s.io', 'v1beta2',
                              clusters='Cluster')
        for group, kind in (
                ('apps', 'deployments'),
                ('rbac.authorization.k8s.io', 'roles'),
                ('rbac.authorization.k8s.io', 'rolebindings')):
            self.kube.serve(f'/apis/{group}/v1/{kind}')
        for kind in ('secrets', 'serviceaccounts'):
            self.kube.serve(f'/api/v1/{kind}')
        self.kube.serve(
            '/apis/cluster.x-k8s.io/v1beta2/clusters',
            {'metadata': {'name': 's1', 'namespace': 'n'}})
        self.management = capi.ManagementCluster(self.kube.kubeconfig)

    def test_every_object_but_what_kubernetes_makes(self):
        self.kube.serve(
            '/api/v1/serviceaccounts',
            {'metadata': {'name': 'default', 'namespace': 'n'}},
            {'metadata': {'name': 's1-x', 'namespace': 'n'}})

        found = listing.of_management(self.management)

        self.assertEqual(['Cluster n/s1', 'ServiceAccount n/s1-x'],
                         sorted(t.ident for t in found.things))

    def test_no_answer_is_said(self):
        self.kube.answers['/apis/'] = 500, {}

        found = listing.of_management(self.management)

        self.assertEqual(set(), found.kinds)
        self.assertEqual(1, len(found.unread))

    def test_objects_of_several_clusters_in_one_look(self):
        self.kube.serve(
            '/api/v1/secrets',
            {'metadata': {'name': 'x', 'namespace': 'n',
                          'annotations': {'of': 'uuid-2'}}},
            {'metadata': {'name': 's1-ca', 'namespace': 'n'}},
            {'metadata': {'name': 'nobodys', 'namespace': 'n'}})

        found = self.management.left_of({
            'one': ('s1', ('uuid-1',)), 'two': (None, ('uuid-2',))})

        self.assertEqual(
            [('one', 'Cluster n/s1'), ('one', 'Secret n/s1-ca'),
             ('two', 'Secret n/x')],
            sorted((key, str(obj)) for key, obj in found))
        self.assertEqual(
            1, self.kube.asked.count('/api/v1/secrets'))
