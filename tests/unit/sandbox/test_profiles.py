# SPDX-License-Identifier: Apache-2.0

import testtools
from testtools import matchers

from magnum_capi import errors
from magnum_capi_sandbox import profiles


class ProfilesTest(testtools.TestCase):

    def test_the_default_exists_and_is_light(self):
        profile = profiles.get(profiles.DEFAULT)
        self.assertEqual(('embedded', 'sqlite', False),
                         (profile.name, profile.database, profile.broker))

    def test_full_is_as_magnum_is_deployed(self):
        profile = profiles.get('full')
        self.assertEqual(('mariadb', True),
                         (profile.database, profile.broker))
        self.assertThat(profile.threads, matchers.GreaterThan(1))

    def test_sqlite_has_one_writer(self):
        self.assertEqual(
            {1}, {p.threads for p in profiles.PROFILES.values()
                  if p.database == 'sqlite'})

    def test_unknown_one(self):
        e = self.assertRaises(errors.UsageError, profiles.get, 'huge')
        self.assertEqual(
            "Unknown profile 'huge'. Known profiles: embedded, full", str(e))
