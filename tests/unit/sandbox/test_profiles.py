# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi import errors
from magnum_capi_sandbox import profiles


class ProfilesTest(testtools.TestCase):

    def test_sqlite_has_one_writer(self):
        self.assertEqual(
            {1}, {p.threads for p in profiles.PROFILES.values()
                  if p.database == 'sqlite'})

    def test_unknown_one(self):
        e = self.assertRaises(errors.UsageError, profiles.get, 'huge')
        self.assertEqual(
            "Unknown profile 'huge'. Known profiles: embedded, full", str(e))
