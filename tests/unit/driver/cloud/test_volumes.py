# SPDX-License-Identifier: Apache-2.0

import fixtures
import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver.cloud import volumes
from tests.unit.driver import fake_cloud

VOLUMES = '/volumes/detail'
GROUPS = '/security-groups'


def volume(id_, cluster='c1', status='available'):
    return {'id': id_, 'status': status, 'metadata': (
        {volumes.CLUSTER: cluster} if cluster else {})}


class VolumesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.fake = self.useFixture(fake_cloud.FakeCloud())

    def delete(self, *found):
        self.fake.answers['GET', VOLUMES] = (200, {'volumes': list(found)})
        for one in found:
            self.fake.answers.setdefault(
                ('DELETE', f'/volumes/{one["id"]}'), (202, {}))
        left = volumes.delete(self.fake.services(), 'c1', 'p1')
        return left, [path.rpartition('/')[2]
                      for _, path in self.fake.calls('DELETE')]

    def test_those_of_the_cluster_that_nobody_uses(self):
        left, deleted = self.delete(
            volume('a'), volume('b', 'c12'), volume('c', None),
            volume('d', status='in-use'), volume('e', status='error'),
            volume('f', status='deleting'))
        self.assertEqual(((), ['a', 'e']), (left, deleted))
        query, = (query for method, path, query, _ in self.fake.seen
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
        self.fake.answers['DELETE', '/volumes/a'] = (400, {'badRequest': {
            'code': 400, 'message': 'Volume status must be available or '
            'error and must not have snapshots.'}})
        left, deleted = self.delete(volume('a'), volume('b'))
        self.assertEqual(((), ['a', 'b']), (left, deleted))
        self.assertIn('its volume a stays: Volume status must be',
                      self.log.output)

    def test_one_that_cinder_failed_to_delete_is_named(self):
        # Cinder deletes it only by force (cinder, volume/api.py, delete).
        left, deleted = self.delete(volume('a', status='error_deleting'))
        self.assertEqual(((), []), (left, deleted))
        self.assertIn('its volume a stays: Cinder could not delete it',
                      self.log.output)

    def test_cinder_that_does_not_answer(self):
        self.fake.answers['GET', VOLUMES] = (503, {})
        self.assertRaises(services.CloudUnreachable, volumes.delete,
                          self.fake.services(), 'c1', 'p1')

    def test_cloud_without_cinder_and_neutron(self):
        fake = self.useFixture(fake_cloud.FakeCloud(types=('identity',)))
        self.assertEqual((), volumes.delete(fake.services(), 'c1', 'p1'))
        volumes.delete_security_groups(fake.services(), 'c1', 'p1')
        self.assertEqual([], fake.seen)


class SecurityGroupsTest(testtools.TestCase):

    def test_of_services_of_the_cluster(self):
        fake = self.useFixture(fake_cloud.FakeCloud())
        text = 'Security Group for default/web Service LoadBalancer in cluster'
        fake.answers['GET', GROUPS] = (200, {'security_groups': [
            {'id': 'a', 'description': f'{text} c1'},
            {'id': 'b', 'description': f'{text} c12'},
            {'id': 'c', 'description': 'mine'},
            {'id': 'd', 'description': f'{text} c1'}]})
        fake.answers['DELETE', f'{GROUPS}/a'] = (409, {
            'NeutronError': {'message': 'in use'}})
        fake.answers['DELETE', f'{GROUPS}/d'] = (204, None)
        volumes.delete_security_groups(fake.services(), 'c1', 'p1')
        self.assertEqual(['a', 'd'], [
            path.rpartition('/')[2] for _, path in fake.calls('DELETE')])
