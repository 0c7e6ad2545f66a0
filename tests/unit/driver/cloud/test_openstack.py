# SPDX-License-Identifier: Apache-2.0

import fixtures
import testtools

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from tests.unit.driver import in_cloud


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.fake = self.useFixture(in_cloud.Cloud())
        self.cloud = openstack.Cloud(self.fake.session, timeout=60)

    def serve(self, method, path, body, status=200):
        self.fake.cloud.answers[method, path] = (status, body)


class ImageTest(_Base):

    def serve_image(self, **more):
        self.serve('GET', '/images/i1', {
            'id': 'i1', 'name': 'ubuntu', 'status': 'active', **more})

    def test_properties(self):
        self.serve_image(os_distro='ubuntu', kube_version='v1.34.2',
                         magnum_distro='u2')
        self.assertEqual(
            openstack.Image('i1', 'ubuntu', 'active', 'v1.34.2', 'ubuntu',
                            'u2'), self.cloud.image('i1'))
        # B.4.16: AttributeError instead of a clear message.
        self.serve_image()
        self.assertIsNone(self.cloud.image('i1').kube_version)

    def test_deleted_image_is_said_to_be_gone(self):
        # B.4.16: every later resize ended in AttributeError.
        self.serve('GET', '/images', {'images': []})
        e = self.assertRaises(services.NotThere, self.cloud.image, 'i1')
        self.assertEqual('There is no image i1', str(e))

    def test_name_of_several(self):
        self.serve('GET', '/images', {'images': [
            {'id': i, 'name': 'ubuntu', 'status': 'active'} for i in 'ab']})
        e = self.assertRaises(services.NotUsable, self.cloud.image, 'ubuntu')
        self.assertIn('Use the id', str(e))

    def test_image_that_is_not_active(self):
        for status in ('deactivated', 'ACTIVE'):
            self.serve_image(status=status)
            e = self.assertRaises(services.NotUsable, self.cloud.image, 'i1')
            self.assertIn(status, str(e))


class FlavorTest(_Base):

    def serve_flavor(self, **more):
        self.serve('GET', '/flavors/f1', {'flavor': {
            'id': 'f1', 'name': 'small', 'ram': 4096, 'vcpus': 2, 'disk': 20,
            **more}})

    def test_large_enough(self):
        self.serve_flavor()
        for ram, vcpus in ((4096, 2), (2048, 1)):
            self.assertEqual(
                openstack.Flavor('f1', 'small', 4096, 2, 20),
                self.cloud.usable_flavor('f1', ram=ram, vcpus=vcpus))

    def test_too_small(self):
        self.serve_flavor(ram=512, vcpus=1)
        e = self.assertRaises(services.NotUsable, self.cloud.usable_flavor,
                              'f1', ram=2048, vcpus=2)
        self.assertIn('512 MiB of memory, at least 2048 needed', str(e))
        self.assertIn('1 vCPUs, at least 2 needed', str(e))

    def test_missing_one_is_not_too_small(self):
        # B.4.20
        self.serve('GET', '/flavors', {'flavors': []})
        e = self.assertRaises(services.NotThere, self.cloud.usable_flavor,
                              'f1', ram=1, vcpus=1)
        self.assertEqual('There is no flavor f1', str(e))


class NetworkTest(_Base):

    def serve_network(self, external):
        self.serve('GET', '/networks/n1', {'network': {
            'id': 'n1', 'name': 'net', 'router:external': external}})

    def test_none_is_none(self):
        # B.4.18: external_network_id None became ExternalNetworkNotFound.
        self.assertIsNone(self.cloud.network(None, external=True))
        self.assertIsNone(self.cloud.subnet(''))
        self.assertEqual([], self.fake.cloud.seen)

    def test_external_or_not(self):
        self.serve_network(True)
        self.assertEqual('n1', self.cloud.network('n1', external=True))
        self.assertEqual('n1', self.cloud.network('n1'))
        e = self.assertRaises(services.NotUsable, self.cloud.network, 'n1',
                              external=False)
        self.assertIn('is an external network', str(e))
        self.serve_network(False)
        e = self.assertRaises(services.NotUsable, self.cloud.network, 'n1',
                              external=True)
        self.assertIn('is no external network', str(e))

    def test_subnet_of_ipv6(self):
        self.serve('GET', '/subnets/s6', {'subnet': {
            'id': 's6', 'network_id': 'n2', 'ip_version': 6}})
        e = self.assertRaises(services.NotUsable, self.cloud.subnet, 's6')
        self.assertEqual('The subnet s6 is one of IPv6; clusters need IPv4',
                         str(e))

    def test_network_without_a_subnet_of_ipv4(self):
        self.serve('GET', '/networks/n2', {'network': {'id': 'n2'}})
        for versions, usable in (((4,), True), ((4, 6), True),
                                 ((6,), False), ((), False)):
            self.serve('GET', '/subnets', {'subnets': [
                {'id': f's{one}', 'ip_version': one} for one in versions]})
            if usable:
                self.assertEqual('n2', self.cloud.nodes_network('n2'))
            else:
                e = self.assertRaises(services.NotUsable,
                                      self.cloud.nodes_network, 'n2')
                self.assertEqual('The network n2 has no subnet of IPv4; '
                                 'clusters need one', str(e))

    def test_subnet_of_another_network(self):
        self.serve('GET', '/subnets/s1', {'subnet': {
            'id': 's1', 'name': 'sub', 'network_id': 'n2',
            'cidr': '10.0.0.0/24'}})
        self.assertEqual('s1', self.cloud.subnet('s1'))
        self.assertEqual('s1', self.cloud.subnet('s1', 'n2'))
        for network in ('n1', 'n3'):
            self.assertRaises(
                services.NotUsable, self.cloud.subnet, 's1', network)


class VolumeTypesTest(_Base):

    def test_default_type_of_the_cloud_is_the_first(self):
        # Otherwise it would be the newest one (cinder/api/common.py,
        # get_sort_params).
        self.serve('GET', '/types', {'volume_types': [
            {'id': f't{number}', 'name': name} for number, name in enumerate(
                ('newest', 'ssd', '__DEFAULT__'))]})
        for name, expected in (
                ('ssd', ('ssd', 'newest', '__DEFAULT__')),
                ('private', ('newest', 'ssd', '__DEFAULT__'))):
            self.serve('GET', '/types/default', {'volume_type': {
                'id': 't', 'name': name}})
            self.assertEqual(expected, self.cloud.volume_types())

    def test_cinder_without_a_default_type(self):
        # 500: the type of its option does not exist.
        self.serve('GET', '/types', {'volume_types': [
            {'id': 't1', 'name': 'ssd'}]})
        for status in (403, 404, 406, 500):
            self.serve('GET', '/types/default', {}, status=status)
            self.assertEqual(('ssd',), self.cloud.volume_types())
        for path in ('/types/default', '/types'):
            self.serve('GET', path, {}, status=503)
            self.assertRaises(services.CloudUnreachable,
                              self.cloud.volume_types)

    def test_no_types(self):
        # B.4.18: IndexError.
        self.serve('GET', '/types', {'volume_types': []})
        self.assertEqual((), self.cloud.volume_types())

    def test_no_cinder(self):
        # B.4.18: Cinder was mandatory.
        self.fake.cloud.types = ('identity',)
        self.assertEqual((), self.cloud.volume_types())


class ErrorsTest(_Base):

    def test_session_has_a_time_limit_unless_magnum_has_one(self):
        for limit, expected in ((None, 7), (3, 3)):
            made = self.fake.session()
            made.timeout = limit
            services.Services(lambda made=made: made, timeout=7).has('image')
            self.assertEqual(expected, made.timeout)

    def test_no_session_before_the_first_request(self):
        services.Services(lambda: self.fail('made'), timeout=7)

    def test_interface_of_the_place(self):
        session = self.fake.session()
        cloud = services.Services(lambda: session, timeout=60, places={
            'image': services.Place(interface='internal')})
        asked = self.useFixture(fixtures.MockPatchObject(
            session.auth, 'get_endpoint',
            wraps=session.auth.get_endpoint)).mock
        self.assertTrue(cloud.has('image'))
        self.assertIn('/image/', cloud.proxy('image').get_endpoint())
        cloud.identity_url()
        self.assertEqual({('image', 'internal'), ('identity', 'public')}, {
            (call.kwargs['service_type'], call.kwargs['interface'])
            for call in asked.call_args_list})


class OtherProjectsTest(_Base):
    """Magnum's own user sees what every project has."""

    def setUp(self):
        super().setUp()
        self.cloud = openstack.Cloud(
            self.fake.session, project_id='ours', timeout=60)
        self.serve('GET', '/rbac-policies', {'rbac_policies': []})

    def test_private_volume_types_of_the_project(self):
        self.serve('GET', '/types', {'volume_types': [
            {'id': 't1', 'name': 'ssd',
             'os-volume-type-access:is_public': True},
            *({'id': f't{i}', 'name': name,
               'os-volume-type-access:is_public': False}
              for i, name in ((2, 'theirs'), (3, 'ours')))]})
        for made, project in (('t2', 'theirs'), ('t3', 'ours')):
            self.serve('GET', f'/types/{made}/os-volume-type-access', {
                'volume_type_access': [
                    {'volume_type_id': made, 'project_id': project}]})
        self.assertEqual(('ssd', 'ours'), self.cloud.volume_types())
        query, = (query for method, path, query, _ in self.fake.cloud.seen
                  if path == '/types')
        self.assertEqual('None', query['is_public'])

    def serve_images(self, *images):
        self.serve('GET', '/images', {'images': [
            {'name': 'ubuntu', 'status': 'active', **image}
            for image in images]})

    def serve_networks(self, *networks):
        self.serve('GET', '/networks', {'networks': [
            {'name': 'private', **network} for network in networks]})

    def test_images_of_a_name(self):
        def image(made, owner, visibility='private'):
            return {'id': made, 'owner': owner, 'visibility': visibility}

        for images, expected in (
                ([image('i1', 'theirs'), image('i2', 'ours')], 'i2'),
                ([image('i1', 'theirs'), image('i2', 'theirs', 'public')],
                 'i2'),
                ([image('i1', 'theirs', 'community')], 'i1'),
                ([image('i1', 'theirs')], services.NotThere),
                ([image('z1', 'theirs')], services.NotThere),
                ([image('a', 'ours'), image('b', 'ours')],
                 services.NotUsable)):
            self.serve_images(*images)
            if isinstance(expected, str):
                self.assertEqual(expected, self.cloud.image('ubuntu').id)
            else:
                self.assertRaises(expected, self.cloud.image, 'ubuntu')
        # An id says which is meant, also of one that is given to it.
        self.serve('GET', '/images/i1', {
            **image('i1', 'theirs'), 'name': 'ubuntu', 'status': 'active'})
        self.assertEqual('i1', self.cloud.image('i1').id)

    def test_image_that_is_shared_with_it(self):
        # Every new image is "shared", as a rule with nobody.
        self.serve_images(*({'id': f'i{i}', 'owner': 'theirs',
                             'visibility': 'shared'} for i in range(4)))
        for image, members in (
                ('i0', []), ('i1', [('ours', 'pending')]),
                ('i2', [('others', 'accepted')]),
                ('i3', [('others', 'pending'), ('ours', 'accepted')])):
            self.serve('GET', f'/images/{image}/members', {'members': [
                {'image_id': image, 'member_id': project, 'status': status}
                for project, status in members]})
        self.assertEqual('i3', self.cloud.image('ubuntu').id)

    def test_networks_of_a_name(self):
        theirs = {'id': 'n1', 'project_id': 'theirs'}
        for other, expected in (
                ({'project_id': 'ours'}, 'n2'),
                ({'project_id': 'theirs', 'shared': True}, 'n2'),
                ({'project_id': 'theirs', 'router:external': True}, 'n2'),
                ({'project_id': 'theirs'}, None)):
            self.serve_networks(theirs, {'id': 'n2', **other})
            if expected:
                self.assertEqual(expected, self.cloud.network('private'))
            else:
                self.assertRaises(services.NotThere, self.cloud.network,
                                  'private')

    def test_network_that_is_shared_with_it(self):
        # Neutron says "shared" for the project that asks, which is Magnum's.
        self.serve_networks({'id': 'n1', 'project_id': 'theirs'},
                            {'id': 'n2', 'project_id': 'theirs'})
        self.serve('GET', '/rbac-policies', {'rbac_policies': [
            {'id': 'a', 'object_id': 'n1', 'target_tenant': 'others'},
            {'id': 'b', 'object_id': 'n2', 'target_tenant': 'ours'}]})
        self.assertEqual('n2', self.cloud.network('private'))

    def test_subnet_of_the_network(self):
        self.serve('GET', '/subnets', {'subnets': [
            {'id': f's{i}', 'name': 'private', 'network_id': f'n{i}',
             'project_id': 'theirs', 'cidr': '192.0.2.0/24'}
            for i in (1, 2)]})
        self.assertEqual('s2', self.cloud.subnet('private', 'n2'))
