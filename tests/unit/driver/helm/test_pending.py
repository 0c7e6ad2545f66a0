# SPDX-License-Identifier: Apache-2.0

"""What is said about a helm that has not ended."""

import testtools

from magnum_capi.driver.helm import releases
from tests.unit.driver import api_server


class PendingTest(testtools.TestCase):

    def test_when_it_counts_as_dead(self):
        api = self.useFixture(api_server.ApiServer())
        api.put('/api/v1/namespaces/n/secrets/sh.helm.release.v1.c1.v3',
                {'metadata': {'labels': {
                    'owner': 'helm', 'name': 'c1', 'version': '3',
                    'status': 'pending-upgrade'}}})
        api.date += 100

        e = self.assertRaises(releases.ReleasePending, releases.repair,
                              api.kube(), 'n', 'c1', dead_after=130)

        self.assertEqual(('A helm operation on c1 has not ended',
                          'pending-upgrade', 'It counts as dead in 30 s'),
                         (e.what, e.last_seen, e.hint))
