# SPDX-License-Identifier: Apache-2.0


import testtools

from magnum_capi_tempest import listeners


class ListenersTest(testtools.TestCase):

    # Lines of a Linux machine with little endian words.
    TCP = '''\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt \
  uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 \
    0        0 12345 1 0000000000000000 100 0 0 10 0
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000 \
    0        0 22 1 0000000000000000 100 0 0 10 0
   2: 0100007F:8124 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 \
    0        0 33 1 0000000000000000 20 4 30 10 -1
'''
    TCP6 = '''\
  sl  local_address                         remote_address
   0: 00000000000000000000000001000000:1F90 \
00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 \
00000000     0        0 44 1 0000000000000000 100 0 0 10 0
   1: 0000000000000000FFFF00000100007F:1F91 \
00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 \
00000000     0        0 45 1 0000000000000000 100 0 0 10 0
'''

    def test_only_what_listens(self):
        self.assertEqual(
            [listeners.Listener('127.0.0.1', 8080, 12345),
             listeners.Listener('0.0.0.0', 22, 22)],
            listeners.parse(self.TCP))

    def test_ipv6(self):
        six, mapped = listeners.parse(self.TCP6)
        self.assertEqual('::1', six.address)
        self.assertTrue(six.loopback)
        self.assertTrue(mapped.loopback)
