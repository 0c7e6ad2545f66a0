# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What is said about a helm that has not ended."""

import testtools

from magnum_capi_tempest.driver.kubernetes import releases
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
