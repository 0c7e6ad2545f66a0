# SPDX-License-Identifier: Apache-2.0

import fixtures
import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver.cloud import volumes
from tests.unit.driver import in_cloud

VOLUMES = '/volumes/detail'
GROUPS = '/security-groups'


def volume(id_, cluster='c1', status='available'):
    return {'id': id_, 'status': status, 'metadata': (
        {volumes.CLUSTER: cluster} if cluster else {})}


class VolumesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.fake = self.useFixture(in_cloud.Cloud())
        self.cloud = self.fake.cloud

    def delete(self, *found):
        self.cloud.volumes = {one['id']: one for one in found}
        left = volumes.delete(self.fake.services(), 'c1', 'p1')
        return left, self.fake.deleted()

    def test_those_of_the_cluster_that_nobody_uses(self):
        left, deleted = self.delete(
            volume('a'), volume('b', 'c12'), volume('c', None),
            volume('d', status='in-use'), volume('e', status='error'),
            volume('f', status='deleting'))
        self.assertEqual(((), ['a', 'e']), (left, deleted))
        query, = (query for method, path, query, _ in self.cloud.seen
                  if path == VOLUMES)
        self.assertEqual(('True', 'p1'), (
            query['all_tenants'], query['project_id']))

    def test_one_that_its_owner_keeps(self):
        kept = volume('a')
        kept['metadata'][volumes.KEEP] = 'true'
        # As for cluster-api-janitor-openstack, only "true" counts.
        other = volume('b')
        other['metadata'][volumes.KEEP] = 'false'
        detaching = volume('c', status='detaching')
        detaching['metadata'][volumes.KEEP] = 'true'
        left, deleted = self.delete(kept, other, detaching)
        self.assertEqual(((), ['b']), (left, deleted))

    def test_one_that_is_being_detached_is_waited_for(self):
        left, deleted = self.delete(
            volume('a', status='detaching'), volume('b'))
        self.assertEqual((('a',), ['b']), (left, deleted))

    def test_one_with_snapshots_is_in_no_ones_way(self):
        self.cloud.answers['DELETE', '/volumes/a'] = (400, {'badRequest': {
            'code': 400, 'message': 'Volume status must be available or '
            'error and must not have snapshots.'}})
        left, deleted = self.delete(volume('a'), volume('b'))
        self.assertEqual(((), ['a', 'b']), (left, deleted))
        self.assertIn('its volume a stays: Volume status must be',
                      self.log.output)

    def test_one_that_cinder_refuses_is_in_no_ones_way(self):
        for status in (403, 404, 409):
            self.cloud.seen.clear()
            self.cloud.answers['DELETE', '/volumes/a'] = (status, {})
            self.assertEqual(((), ['a', 'b']), self.delete(
                volume('a'), volume('b')))

    def test_cinder_that_does_not_answer_a_deletion(self):
        self.cloud.answers['DELETE', '/volumes/a'] = (503, {})
        self.assertRaises(services.CloudUnreachable, self.delete, volume('a'))

    def test_one_that_cinder_failed_to_delete_is_named(self):
        # Cinder deletes it only by force (cinder, volume/api.py, delete).
        left, deleted = self.delete(volume('a', status='error_deleting'))
        self.assertEqual(((), []), (left, deleted))
        self.assertIn('its volume a stays: Cinder could not delete it',
                      self.log.output)

    def test_cinder_that_does_not_answer(self):
        self.cloud.answers['GET', VOLUMES] = (503, {})
        self.assertRaises(services.CloudUnreachable, volumes.delete,
                          self.fake.services(), 'c1', 'p1')

    def test_cloud_without_cinder_and_neutron(self):
        self.cloud.types = ('identity',)
        self.assertEqual((), volumes.delete(self.fake.services(), 'c1', 'p1'))
        volumes.delete_security_groups(self.fake.services(), 'c1', 'p1')
        self.assertEqual([], self.cloud.seen)


class SecurityGroupsTest(testtools.TestCase):

    def test_of_services_of_the_cluster(self):
        fake = self.useFixture(in_cloud.Cloud())
        text = 'Security Group for default/web Service LoadBalancer in cluster'
        fake.cloud.groups = {
            made: {'id': made, 'description': description}
            for made, description in (
                ('a', f'{text} c1'), ('b', f'{text} c12'), ('c', 'mine'),
                ('d', f'{text} c1'))}
        fake.cloud.answers['DELETE', f'{GROUPS}/a'] = (409, {
            'NeutronError': {'message': 'in use'}})
        volumes.delete_security_groups(fake.services(), 'c1', 'p1')
        self.assertEqual(['a', 'd'], fake.deleted())
        self.assertEqual({'a', 'b', 'c'}, set(fake.cloud.groups))
