# SPDX-License-Identifier: Apache-2.0

import re

import testtools

from magnum_capi_sandbox import releases
from magnum_capi_tempest import resources


class ReleasesTest(testtools.TestCase):

    def test_the_pins_are_of_that_magnum(self):
        for release in releases.RELEASES:
            text = '\n'.join(resources.find(name).read_text()
                             for name in release.pins)
            self.assertEqual(
                [str(release.version)],
                re.findall(r'^magnum==(\d+)\.', text, re.MULTILINE))

    def test_every_pin_has_a_hash(self):
        for name in {name for r in releases.RELEASES for name in r.pins}:
            pins = re.split(r'^(?=\w)', resources.find(name).read_text(),
                            flags=re.MULTILINE)[1:]
            self.assertGreater(len(pins), 2, name)
            self.assertEqual(
                [], [pin for pin in pins if '--hash=sha256:' not in pin])

    def test_what_is_beside_an_earlier_one_is_as_in_the_cloud(self):
        cloud = resources.find(releases.CLOUD).read_text().splitlines()
        beside = resources.find(
            'sandbox/constraints/magnum-beside.txt').read_text().splitlines()
        self.assertEqual([], [line for line in beside if line not in cloud
                              and not line.startswith('#')])
