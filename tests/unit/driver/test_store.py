# SPDX-License-Identifier: Apache-2.0


"""Magnum's rows, certificates and services, as the driver is handed them."""

import pathlib
from unittest import mock

import certifi
import fixtures
import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver import failures
from magnum_capi import errors
from tests.lib import magnum_api
from tests.lib import openstack_api
from tests.unit.driver import in_magnum


class StoreTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.process = self.useFixture(in_magnum.Magnum())
        self.magnum = self.process.rows
        self.context = magnum_api.Context(
            openstack_api.token('u', 'p'), 'u', 'p', ['member', 'reader'])
        self.store = self.made(self.context)
        self.cluster = self.add_cluster('c')

    def add_cluster(self, uuid, **fields):
        """A row with certificates, as the conductor has it."""
        row = {**dict.fromkeys(magnum_api.CLUSTER_FIELDS), **{
            'uuid': uuid, 'project_id': 'p', 'status': 's', **{
                field: f'{uuid} {field}'
                for field in magnum_api.CERTIFICATES}}, **fields}
        self.magnum.clusters[uuid] = row
        for field in magnum_api.CERTIFICATES:
            self.add_certificate(f'{uuid} {field}')
        return magnum_api.Cluster(
            self.magnum, self.magnum.clusters, self.context, row)

    def add_certificate(self, reference):
        self.magnum.certificates[reference] = magnum_api.Certificate(
            f'certificate of {reference}', f'key of {reference}',
            magnum_api.PASSPHRASE)

    def add_group(self, uuid, cluster='c'):
        row = {**dict.fromkeys(magnum_api.GROUP_FIELDS), 'uuid': uuid,
               'cluster_id': cluster, 'project_id': 'p', 'status': 's'}
        self.magnum.groups[uuid] = row
        return magnum_api.NodeGroup(
            self.magnum, self.magnum.groups, self.context, row)

    def made(self, context, project_id='p', **options):
        return self.process.stores.Store(context, mock.Mock(**{
            'credential_interface': 'internal', 'openstack_timeout': 7.0,
            **options}), project_id)


class UserTest(StoreTestCase):

    def test_who_asks(self):
        self.assertEqual(('u', ('member', 'reader')), (
            self.store.user.id, self.store.user.roles))
        self.context.roles = None
        self.assertEqual(('u', ()), (
            self.store.user.id, self.store.user.roles))

    def test_operator_of_another_project_is_nobody(self):
        # Its credential would be for its own project: the cluster would have
        # an operator's rights there, and find none of its servers.
        self.context.roles = ['admin', 'member']
        for project in ('o', 'q'):
            user = self.made(self.context, project).user
            self.assertEqual((None, ()), (user.id, user.roles))

    def test_a_periodic_job_is_nobody(self):
        context = magnum_api.admin()
        context.user_id = 'magnum'
        self.assertFalse(self.made(context).user.id)
        self.assertEqual((), self.made(context).user.roles)


class RowsTest(StoreTestCase):

    def setUp(self):
        super().setUp()
        # Another project's: Magnum's conductor sees it all the same.
        self.context.project_id = 'other'

    def test_reload_reads_what_others_wrote(self):
        self.cluster.status = 'mine'
        self.magnum.clusters['c'].update(status='theirs', stack_id='x')

        self.assertTrue(self.store.reload(self.cluster))

        self.assertEqual(('theirs', 'x'),
                         (self.cluster.status, self.cluster.stack_id))

    def test_what_was_reloaded_is_not_written_by_the_next_save(self):
        self.store.reload(self.cluster)
        self.magnum.clusters['c'].update(status='theirs')
        self.cluster.stack_id = 'mine'

        self.store.save(self.cluster)

        self.assertEqual(('theirs', 'mine'), tuple(
            self.magnum.clusters['c'][f] for f in ('status', 'stack_id')))

    def test_reload_of_what_has_gone(self):
        self.magnum.clusters.clear()
        self.assertFalse(self.store.reload(self.cluster))
        self.assertIsNone(self.store.status(self.cluster))

    def test_status_is_that_of_now(self):
        self.magnum.clusters['c'].update(status='theirs')
        self.assertEqual('theirs', self.store.status(self.cluster))
        self.assertEqual('s', self.cluster.status)

    def test_save_of_what_has_gone_ends_the_operation(self):
        group = self.add_group('g')
        self.magnum.clusters.clear()
        self.magnum.groups.clear()
        for row in (self.cluster, group):
            self.assertRaises(failures.ClusterGone, self.store.save, row)

    def test_destroy(self):
        self.store.destroy(self.add_group('g'))
        self.assertEqual({}, self.magnum.groups)

    def test_groups_of_this_cluster_only(self):
        for uuid, cluster in (('a', 'c'), ('b', 'other'), ('d', 'c')):
            self.add_group(uuid, cluster)
        self.assertEqual(('a', 'd'), tuple(
            group.uuid for group in self.store.groups(self.cluster)))

    def test_template(self):
        self.magnum.templates['t'] = {
            'uuid': 't', 'name': 'x', 'project_id': 'third'}
        self.assertEqual('x', self.store.template('t').name)


class CertificatesTest(StoreTestCase):

    def test_authorities(self):
        self.assertEqual({
            kind: (f'certificate of c {field}', f'key of c {field}')
            for kind, field in (('ca', 'ca_cert_ref'),
                                ('etcd', 'etcd_ca_cert_ref'),
                                ('proxy', 'front_proxy_ca_cert_ref'))},
            self.store.authorities(self.cluster))
        # Barbican has bytes.
        self.magnum.certificates['c ca_cert_ref'] = magnum_api.Certificate(
            b'bytes', 'k', magnum_api.PASSPHRASE)
        self.assertEqual(('bytes', 'k'),
                         self.store.authorities(self.cluster)['ca'])

    def test_what_the_conductor_changed_is_put_back(self):
        for field in ('ca_cert_ref', 'etcd_ca_cert_ref'):
            self.add_certificate(f'new {field}')
            self.cluster[field] = f'new {field}'
        before = {field: f'c {field}' for field in magnum_api.CERTIFICATES}

        self.store.put_back_certificates(self.cluster)

        self.assertEqual(before, {field: self.cluster[field]
                                  for field in magnum_api.CERTIFICATES})
        # The new ones go, the old ones stay.
        self.assertEqual(set(before.values()), set(self.magnum.certificates))
        self.assertEqual({self.context},
                         {context for _, context in self.magnum.asked})

    def test_none_is_put_back(self):
        self.magnum.clusters['c'].update(ca_cert_ref='old')
        self.cluster.ca_cert_ref = None

        self.store.put_back_certificates(self.cluster)

        self.assertEqual('old', self.cluster.ca_cert_ref)
        self.assertEqual([], self.magnum.asked)

    def test_those_that_magnum_forgets_are_dropped(self):
        self.store.drop_certificates(self.cluster)

        self.assertEqual({'c ca_cert_ref', 'c magnum_cert_ref'},
                         set(self.magnum.certificates))
        # The user's token may have ended long ago.
        self.assertTrue(all(context.is_admin
                            for _, context in self.magnum.asked))
        self.assertEqual(2, len(self.magnum.asked))

        # A cluster without any asks for none.
        self.cluster.etcd_ca_cert_ref = None
        self.cluster['front_proxy_ca_cert_ref'] = None
        self.store.drop_certificates(self.cluster)
        self.assertEqual(2, len(self.magnum.asked))

    def test_one_that_cannot_be_dropped_does_not_stop_the_others(self):
        del self.magnum.certificates['c etcd_ca_cert_ref']

        self.store.drop_certificates(self.cluster)

        self.assertNotIn('c front_proxy_ca_cert_ref',
                         self.magnum.certificates)
        self.assertIn('Cluster c: cannot delete its certificate '
                      'etcd_ca_cert_ref', self.log.output)


class CloudTest(StoreTestCase):

    def set(self, group, **options):
        for name, value in options.items():
            self.process.conf.set_override(name, value, group)

    def made_with(self, get):
        """Arguments that a cloud is made with: session factory, options."""
        with mock.patch.object(
                self.process.stores.openstack, 'Cloud') as made:
            get()
        (factory, project_id), options = made.call_args
        return factory, {'project_id': project_id, **options}

    def test_it_is_the_users_or_the_administrators(self):
        self.assertIs(self.store.cloud, self.store.cloud)
        with mock.patch.object(self.process.cloud, 'session') as session:
            factory, made = self.made_with(
                lambda: self.made(self.context).cloud)
            # Nobody is authenticated before it is needed.
            session.assert_not_called()
        self.assertEqual(self.context.auth_token, factory().get_token())
        # Names are those that its own user sees.
        self.assertIsNone(made['project_id'])

        factory, _ = self.made_with(self.store.admin_cloud)
        self.assertEqual(openstack_api.token(openstack_api.ADMIN, 'magnum'),
                         factory().get_token())

    def test_other_requests_are_for_the_project_of_the_cluster(self):
        for context in (magnum_api.admin(), self.context):
            store = self.made(context, 'p1')
            _, made = self.made_with(lambda: store.cloud)
            self.assertEqual('p1', made['project_id'])

    def test_who_holds_a_credential(self):
        auth = mock.Mock()
        ours = self.process.cloud.session('u', 'p')
        ours.verify, ours.timeout = '/ca.pem', 3
        self.useFixture(fixtures.MockPatchObject(
            self.process.cloud, 'session', return_value=ours))
        for context in (self.context, magnum_api.admin()):
            store = self.made(context)
            factory, made = self.made_with(lambda: store.cloud_as(auth))
            session = factory()
            self.assertEqual((auth, '/ca.pem', 3), (
                session.auth, session.verify, session.timeout))
            self.assertIsNone(made['project_id'])
            self.assertEqual(7.0, made['timeout'])
            self.assertIn('compute', made['places'])

    def test_places_are_those_of_magnums_clients(self):
        self.set('glance_client', endpoint_type='internalURL',
                 region_name='one')
        self.set('nova_client', endpoint_type='admin', region_name='two')
        self.set('octavia_client', endpoint_type='')

        _, made = self.made_with(self.store.admin_cloud)

        self.assertEqual(7.0, made['timeout'])
        self.assertEqual({
            'image': services.Place('internal', 'one'),
            'compute': services.Place('admin', 'two'),
            'network': services.Place('public', None),
            'block-storage': services.Place('public', None),
            'load-balancer': services.Place('public', None)},
            made['places'])

    def access(self):
        cloud = mock.Mock()
        cloud.services.identity_url = lambda interface: f'url {interface}'
        self.store._cloud = cloud
        return self.store.access()

    def test_access_of_clusters(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'ca'
        path.write_text('pem')
        self.set('drivers', openstack_ca_file=str(path), verify_ca=False)
        self.set('cinder_client', region_name='one')

        found = self.access()

        self.assertEqual(
            ('url internal', None, 'one', 'internal', False),
            (found.auth_url, found.cacert, found.region, found.interface,
             found.verify))
        self.assertEqual(str(path), self.store.cacert_file())
        self.set('drivers', verify_ca=True)
        self.assertEqual('pem', self.access().cacert)

    def test_authority_that_cannot_be_read(self):
        self.set('drivers', openstack_ca_file='/nowhere/ca.pem',
                 verify_ca=True)
        e = self.assertRaises(errors.EnvironmentProblem, self.access)
        self.assertIn('[drivers]openstack_ca_file', e.what)
        self.assertNotIn('/nowhere', failures.owner_message(e))

    def test_access_without_an_authority_of_ones_own(self):
        found = self.access()

        self.assertEqual(pathlib.Path(certifi.where()).read_text(),
                         found.cacert)
        self.assertTrue(found.verify)
        self.assertIsNone(self.store.cacert_file())

    def test_defaults(self):
        defaults = self.store.defaults()
        self.assertEqual((0, None), (defaults.boot_size, defaults.boot_type))
        self.set('cinder', default_boot_volume_size=12,
                 default_boot_volume_type='fast')
        defaults = self.store.defaults()
        self.assertEqual((12, 'fast'),
                         (defaults.boot_size, defaults.boot_type))


class ClustersTest(StoreTestCase):

    def setUp(self):
        super().setUp()
        self.magnum.clusters.clear()

    def add(self, number, **fields):
        made = f'{number:08d}-3c2d-4899-b017-d2b06c0ccd9f'
        self.add_cluster(made, **fields)
        return made

    def found(self):
        return [row.uuid for row in self.process.stores.all_clusters()]

    def test_all_projects(self):
        wanted = [self.add(1, project_id='p'), self.add(2, project_id='q')]
        self.assertEqual(wanted, self.found())

    def test_page_by_page(self):
        wanted = [self.add(number) for number in range(250)]
        self.assertEqual(wanted, self.found())
        self.assertEqual(['list 100'] * 4, [
            text for _door, text in self.process.doors.log])

    def test_store_of_magnum_itself(self):
        found = self.process.stores.of_magnum(self.store._options, 'p')
        self.assertIsNone(found.user.id)
        self.assertTrue(found.cloud)
