# SPDX-License-Identifier: Apache-2.0

"""The lists of CNCF's bot, one a minor version."""

import testtools

from magnum_capi_tempest.conformance import names
from magnum_capi_tempest.conformance import required


class RequiredTest(testtools.TestCase):

    def test_each_list_is_that_of_the_bot(self):
        """The bot has that of the release branch, so of its newest release."""
        for minor, count in (('v1.33', 419), ('v1.34', 424), ('v1.35', 441),
                             ('v1.36', 443), ('v1.37', 462)):
            found = required.of(minor)

            self.assertEqual((count, count), (len(found), len(set(found))))
            for name in found:
                # As the reader names a spec.
                self.assertEqual(name, names.spec(f'[It] {name}'))
                self.assertIn('[Conformance]', name)

    def test_every_patch_release_has_the_list_of_its_minor(self):
        for version in ('v1.36', '1.36', 'v1.36.0', 'v1.36.5', 'v1.36.99',
                        'v1.36.5+build.7', 'v1.36.0-rc.1'):
            self.assertEqual('v1.36', required.release(version))
            self.assertEqual(443, len(required.of(version)))

    def test_a_later_patch_release_may_have_dropped_tests(self):
        names = required.of('v1.36')
        self.assertEqual('v1.36.5', required.source('v1.36'))
        for version, number in (('v1.36.0', 443), ('v1.36.5+build', 443),
                                ('v1.36', 443), ('v1.36.6', 440),
                                ('v1.36.10', 440)):
            self.assertEqual(number, len(required.of(
                version, {*names[3:], 'another'})), version)

    def test_versions_without_a_list(self):
        for version in ('', 'v1.32.9', 'v1.99.0', 'v2.36.0', 'main', '36',
                        'v1.3600.0', 'v1.x'):
            self.assertIsNone(required.of(version), version)

    def test_minors_are_in_order(self):
        self.assertEqual(('v1.33', 'v1.34', 'v1.35', 'v1.36', 'v1.37'),
                         required.minors())
