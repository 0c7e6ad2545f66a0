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


from magnum_capi_tempest.driver import credentials
from magnum_capi_tempest.driver import health
from magnum_capi_tempest.driver import monitor
from magnum_capi_tempest.driver import rotation
from tests.unit.driver import test_converge


class MonitorTest(test_converge.Base):

    def setUp(self):
        super().setUp()
        self.answer = credentials.VALID
        self.asked = []
        monitor._checked.clear()

        def check(data, cacert, timeout):
            self.asked.append(data)
            return self.answer
        self.patch(rotation, 'check', check)

    def poll(self, world=None):
        found = monitor.Monitor(world or (lambda: self.w.world),
                                self.w.store, self.w.store.row(),
                                clock=self.api.clock)
        found.poll_health_status()
        return found.data

    def test_healthy(self):
        self.created()
        self.assertEqual(health.HEALTHY, self.poll()['health_status'])

    def test_credential_that_became_invalid_shows_with_the_cure(self):
        # E23
        self.created()
        self.answer = credentials.INVALID
        data = self.poll()
        self.assertEqual(health.UNHEALTHY, data['health_status'])
        self.assertIn('openstack coe credential rotate',
                      data['health_status_reason']['credential'])

    def test_keystone_is_not_asked_each_time(self):
        self.created()
        self.poll()
        self.poll()
        self.assertEqual(1, len(self.asked))
        self.api.clock.sleep(monitor.CHECK_AGE)
        self.poll()
        self.assertEqual(2, len(self.asked))

    def test_never_raises(self):
        def broken():
            raise KeyError('kubeconfig')
        self.assertEqual(health.UNKNOWN, self.poll(broken)['health_status'])
