# SPDX-License-Identifier: Apache-2.0

"""A cloud that somebody has described."""

import testtools

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
                             [one.name for one in cloud.volume_types()])

    def test_all_other_services(self):
        for service in ('identity', 'load-balancer', 'a', 'z'):
            self.assertTrue(self.cloud().has(service))
