# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import flavors
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import releases
from magnum_capi_tempest import resources


class InfrastructureTest(testtools.TestCase):

    def test_its_environment_is_another_one(self):
        self.assertNotEqual(
            environment.key(),
            environment.key(kind=infrastructure.OPENSTACK))

    def test_an_earlier_magnum_has_the_environment_that_it_has(self):
        release = releases.get('2025.2')
        self.assertEqual(
            environment.key(release),
            environment.key(release, infrastructure.OPENSTACK))

    def test_its_pins_repeat_nothing_of_the_clouds(self):
        names = [{line.partition('==')[0]
                  for line in resources.find(path).read_text().splitlines()
                  if '==' in line}
                 for path in (releases.CLOUD, infrastructure.PINS)]
        self.assertEqual(set(), set.intersection(*names))

    def test_knobs_of_servers_are_extra_specs(self):
        found = {f.name: flavors.extra_specs(f) for f in flavors.FLAVORS}
        self.assertEqual({'sandbox:create_delay': '20'},
                         found['slow.create'])
        self.assertEqual({'sandbox:delete_delay': '70'},
                         found['slow.minute'])
        self.assertIn('No valid host',
                      found['fault.failed']['sandbox:failure'])
        self.assertEqual({}, found['slow.node'])
        self.assertEqual({'sandbox:create_delay': '86400'},
                         found['fault.build'])
