# SPDX-License-Identifier: Apache-2.0

import re

import testtools

from magnum_capi_sandbox.cloud import flavors
from magnum_capi_tempest import resources


class FlavorsTest(testtools.TestCase):

    def test_every_knob_has_a_behaviour(self):
        knobs = {f.name for f in flavors.FLAVORS
                 if f.name.startswith(('slow.', 'fault.'))}
        self.assertEqual(knobs, set(flavors.behaviours()['flavors']))

    def test_the_program_knows_every_key(self):
        source = resources.find('sandbox/capi/behaviour.go').read_text()
        known = set(re.findall(r'json:"(\w+)', source))
        used = {key for behaviour in flavors.behaviours()['flavors'].values()
                for key in behaviour}
        self.assertEqual(set(), used - known)
        self.assertIn('createDelay', used)

    def test_only_m1_tiny_is_below_what_drivers_accept(self):
        """magnum-capi-helm wants 2 vCPU and 2 GiB."""
        self.assertEqual(
            ['m1.tiny'], [f.name for f in flavors.FLAVORS
                          if f.vcpus < 2 or f.ram < 2048])
