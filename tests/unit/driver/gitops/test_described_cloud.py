# SPDX-License-Identifier: Apache-2.0

"""A cloud that somebody has described."""

import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import spec
from magnum_capi.driver.gitops import described_cloud


class DescribedCloudTest(testtools.TestCase):

    def cloud(self, **described):
        return described_cloud.DescribedCloud(
            {'images': {}, 'auth_url': 'https://keystone', **described})

    def test_volumes_only_when_their_types_are_described(self):
        for types, there in ((None, False), ([], True), (['fast'], True)):
            cloud = self.cloud(**({} if types is None
                                  else {'volume_types': types}))
            self.assertEqual(there, cloud.has('block-storage'))
            self.assertEqual(types or [],
                             list(cloud.volume_types()))

    def test_all_other_services(self):
        for service in ('identity', 'load-balancer', 'a', 'z'):
            self.assertTrue(self.cloud().has(service))

    def test_what_is_described_is_found(self):
        cloud = self.cloud(
            images={'ubuntu': {'kube_version': 'v1.34.2',
                               'os_distro': 'ubuntu'},
                    'other': {'id': 'i2', 'kube_version': 1.34}},
            networks={'private': 'n1'}, subnets={'small': 's1'})

        self.assertEqual(
            [('ubuntu', 'ubuntu', 'active', 'v1.34.2'),
             ('i2', 'other', 'active', '1.34')],
            [(one.id, one.name, one.status, one.kube_version)
             for one in map(cloud.image, ('ubuntu', 'other'))])
        self.assertEqual(['n1', 'n2'], [
            cloud.network(name) for name in ('private', 'n2')])
        self.assertEqual(['s1', 's2'], [
            cloud.subnet(name, 'n1') for name in ('small', 's2')])
        self.assertEqual((None, None),
                         (cloud.network(None), cloud.subnet(None)))
        self.assertEqual('https://keystone', cloud.identity_url())

    def test_an_image_that_is_not_described(self):
        error = self.assertRaises(
            services.NotThere, self.cloud().image, 'gone')

        self.assertIn('cloud.images of the description has no gone',
                      str(error))

    def test_each_mistake_is_named(self):
        for described, told in (
                ([], 'cloud: it must be a mapping'),
                ({'image': {}}, 'cloud.image: there is no such field'),
                ({'networks': ['n']}, 'cloud.networks: it must be a'),
                ({'images': ['i']}, 'cloud.images: it must be a'),
                ({'volume_types': 'ssd'}, 'cloud.volume_types: it must'),
                ({'volume_types': ['ssd', 1]}, 'cloud.volume_types: it must'),
                ({'images': {'a': 1}}, 'cloud.images.a: it must be a'),
                ({'images': {'a': {'size': 1}}},
                 'cloud.images.a.size: there is no such field')):
            error = self.assertRaises(
                spec.InvalidSpec, described_cloud.DescribedCloud, described)
            problem, = error.problems
            self.assertIn(told, problem)
        error = self.assertRaises(
            spec.InvalidSpec, described_cloud.DescribedCloud,
            {'images': {'a': 1, 'b': {'size': 1, 'colour': 2}}})
        self.assertEqual(3, len(error.problems))
