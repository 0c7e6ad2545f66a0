# SPDX-License-Identifier: Apache-2.0

import os
import socket

import testtools

from magnum_capi_tempest import listeners


class ListenersTest(testtools.TestCase):

    def open(self, address):
        server = socket.create_server((address, 0))
        self.addCleanup(server.close)
        return server.getsockname()[1]

    def found(self, port):
        found, = [one for one in listeners.listening() if one.port == port]
        return found

    def test_a_listener_and_its_process(self):
        port = self.open('127.0.0.1')
        found = self.found(port)
        self.assertEqual(
            listeners.Listener('127.0.0.1', port, os.getpid()), found)
        self.assertIn(found, listeners.of_processes([os.getpid()]))
        self.assertTrue(found.loopback)
        self.assertIn(f'(pid {os.getpid()})', found.holder)

    def test_a_client_does_not_listen(self):
        with socket.create_connection(
                ('127.0.0.1', self.open('127.0.0.1'))) as client:
            port = client.getsockname()[1]
            self.assertEqual(
                [], [one for one in listeners.listening()
                     if one.port == port])

    def test_who_can_connect(self):
        for address, loopback, wildcard in (
                ('0.0.0.0', False, True), ('::', False, True),
                ('::1', True, False), ('::ffff:127.0.0.1', True, False),
                ('192.0.2.1', False, False)):
            found = listeners.Listener(address, 1, None)
            self.assertEqual((loopback, wildcard),
                             (found.loopback, found.wildcard), address)

    def test_a_program_of_another_user(self):
        self.assertEqual('a program of another user',
                         listeners.Listener('::', 1, None).holder)
