# SPDX-License-Identifier: Apache-2.0

"""The times in a Lease, which people read."""

from unittest import mock

from magnum_capi.kube import lock
from tests.unit.kube import test_lock


class LeaseTimesTest(test_lock._Base):

    def setUp(self):
        super().setUp()
        self.hour = 10
        datetime = mock.patch.object(lock, 'datetime').start()
        self.addCleanup(mock.patch.stopall)
        datetime.datetime.now.side_effect = lambda zone: mock.Mock(
            strftime=lambda form: f'{self.hour} h')

    def times(self):
        spec = self.api.objects[test_lock.PATH]['spec']
        return spec['acquireTime'], spec['renewTime']

    def test_of_a_new_one(self):
        with self.lock().hold(0):
            self.assertEqual(('10 h', '10 h'), self.times())

    def test_a_renewal_leaves_since_when(self):
        with self.lock().hold(0) as held:
            for self.hour in (11, 12):
                self.clock.now += 10
                held.renew()
                self.assertEqual(('10 h', f'{self.hour} h'), self.times())

    def test_a_new_holder_has_it_since_now(self):
        self.stranger(acquireTime='1 h', renewTime='2 h')
        self.lock().acquire(60)
        self.assertEqual(('10 h', '10 h'), self.times())
