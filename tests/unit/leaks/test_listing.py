# SPDX-License-Identifier: Apache-2.0

from urllib import parse

import testtools

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from tests.unit.evidence import fake_kube
from tests.unit.leaks import clouds


def refused(status):
    return listing.CloudReadFailed('no', status=status)


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


def idents(snapshot, kind):
    return sorted(t.ident for t in snapshot.things if t.kind == kind)


class OfUserTest(testtools.TestCase):

    def test_everything_of_the_user_and_nothing_of_others(self):
        cloud = clouds.Cloud(
            clusters=[{'uuid': 'c', 'user_id': 'u', 'project_id': 'p'},
                      {'uuid': 'd', 'user_id': 'v', 'project_id': 'p'}],
            clustertemplates=[{'uuid': 't', 'user_id': 'u'},
                              {'uuid': 'public', 'user_id': 'v'}],
            application_credentials=[{'id': 'a', 'name': 'n'}],
            trusts=[{'id': 'r', 'trustor_user_id': 'u'}])

        found = listing.of_user(cloud.get, 'u', 'p', model.OWN)

        self.assertEqual(
            ['application credential n (a)', 'cluster c',
             'cluster template t', 'trust r'],
            sorted(map(str, found.things)))
        self.assertEqual({}, dict(found.unread))
        for path in ('users/u/application_credentials',
                     'OS-TRUST/trusts?trustor_user_id=u'):
            self.assertIn(f'identity {path}', cloud.asked)
        # Nova is not asked where nodes are not real.
        self.assertNotIn('ports', str(cloud.asked))

    def test_only_the_kinds_that_are_wanted_are_asked_for(self):
        cloud = clouds.Cloud()

        listing.of_user(cloud.get, 'u', 'p', {model.TEMPLATE})

        self.assertEqual(
            [f'container-infra clustertemplates?limit={listing.PAGE}'],
            cloud.asked)

    def test_each_kind_that_servers_leave(self):
        cloud = clouds.Cloud(
            ports=[{'id': 'mine', 'tenant_id': 'p'},
                   {'id': 'other', 'tenant_id': 'q'}],
            # the group of every project is Neutron's
            security_groups=[{'id': 'd', 'name': 'default'},
                             {'id': 'm', 'name': 'mine'}],
            floatingips=[{'id': 'f', 'floating_ip_address': '1.2.3.4'}],
            server_groups=[{'id': 's', 'name': 'apart'}],
            routers=[{'id': 'r'}], networks=[{'id': 'n'}],
            servers=[{'id': 'x', 'name': 'vm'}],
            # what a service is deleting is not left: LVM takes minutes
            loadbalancers=[
                {'id': 'b', 'provisioning_status': 'PENDING_DELETE'},
                {'id': 'lb', 'project_id': 'p',
                 'provisioning_status': 'ERROR'}],
            volumes=[{'id': 'v', 'status': 'deleting'},
                     {'id': 'w', 'status': 'error_deleting'}])

        found = listing.of_user(cloud.get, 'u', 'p', model.REAL)

        self.assertEqual(
            ['floating IP 1.2.3.4 (f)', 'load balancer lb', 'network n',
             'port mine', 'router r', 'security group mine (m)',
             'server group apart (s)', 'server vm (x)', 'volume w'],
            sorted(map(str, found.things)))
        self.assertEqual({}, dict(found.unread))

    def test_what_cannot_be_read_is_said_and_does_not_hide_the_rest(self):
        for key, status, kind, read in (
                ('trusts', 403, model.TRUST, False),
                # The user is gone, with all credentials.
                ('application_credentials', 404, model.CREDENTIAL, True),
                # A service that is not at its endpoint is not empty.
                ('clusters', 404, model.CLUSTER, False)):
            cloud = clouds.Cloud(clustertemplates=[{'uuid': 't'}],
                                 **{key: refused(status)})

            found = listing.of_user(cloud.get, 'u', 'p', model.OWN)

            self.assertEqual({} if read else {kind: 'no'}, dict(found.unread))
            self.assertEqual(['t'], idents(found, model.TEMPLATE))


class PagesTest(testtools.TestCase):

    def test_all_pages(self):
        for count, most, deleted, asked in (
                (listing.PAGE + 3, 1000, (), 3),
                # the operator allows fewer things per page
                (1005, 100, (), 12),
                # the last ones of a page are deleted meanwhile
                (250, 100, ('199', '198'), 6)):
            server = Paged(count, most, deleted)

            found = listing.of_user(
                server.get, 'u', 'p', {model.CLUSTER})

            self.assertEqual((count, {}, asked), (
                len(found.things), dict(found.unread), server.asked))

    def test_a_server_that_finds_no_marker(self):
        server = Paged(250, most=100, deleted=map(str, range(250)))

        found = listing.of_user(server.get, 'u', 'p', {model.CLUSTER})

        self.assertEqual({model.CLUSTER: 'no'}, dict(found.unread))
        # One page, and as many markers as may have gone.
        self.assertEqual(7, server.asked)

    def test_more_than_a_service_lists_at_once(self):
        found = listing.of_cloud(Cut(2345).get, real_nodes=True)

        self.assertEqual(2345, len(idents(found, model.USER)))
        self.assertEqual(2345, len(idents(found, 'server group')))


class OfCloudTest(testtools.TestCase):

    def test_what_all_users_have(self):
        cloud = clouds.Cloud(
            users=[{'id': 'u', 'name': 'n'}],
            trusts=[{'id': 'r', 'trustor_user_id': 'x'}],
            application_credentials=[{'id': 'a'}])

        found = listing.of_cloud(cloud.get, ['admin'], real_nodes=True)

        self.assertEqual(
            ['application credential a', 'trust r', 'user n (u)'],
            sorted(map(str, found.things)))
        for path in ('servers/detail?all_tenants=1',
                     'os-server-groups?all_projects=1'):
            self.assertIn(f'compute {path}&limit={listing.PAGE}', cloud.asked)

    def test_images(self):
        cloud = clouds.Cloud(images=[{'id': 'i', 'name': 'n'}])

        self.assertEqual({model.Thing(model.IMAGE, 'i', 'n')},
                         listing.images(cloud.get).things)

    def test_keypairs(self):
        cloud = clouds.Cloud(keypairs=[{'keypair': {'name': 'k'}}])

        self.assertEqual({model.Thing(model.KEYPAIR, 'k')},
                         listing.keypairs(cloud.get).things)
        self.assertEqual({model.KEYPAIR: 'no'}, dict(listing.keypairs(
            clouds.Cloud(keypairs=refused(403)).get).unread))


class OfManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve_management()
        self.management = capi.ManagementCluster(self.kube.kubeconfig)

    def test_every_object_but_what_kubernetes_makes(self):
        for name in ('default', 's1-x'):
            self.kube.add('/api/v1/serviceaccounts', name)
        self.kube.add(f'{fake_kube.CLUSTER_API}/clusters', 's1')

        found = listing.of_management(self.management)

        self.assertEqual(['Cluster n/s1', 'ServiceAccount n/s1-x'],
                         sorted(t.ident for t in found.things))

    def test_no_answer_is_said(self):
        self.kube.answers['/apis/'] = 500, {}

        found = listing.of_management(self.management)

        self.assertEqual({model.OBJECT}, found.unread.keys())
