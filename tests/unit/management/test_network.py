# SPDX-License-Identifier: Apache-2.0

import fcntl
import os
import pathlib
import socket
import subprocess

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.management import network

# Numbers that no other test and no sandbox uses, nor another process of these.
FIRST = 130 + 3 * (os.getpid() % 26)
NUMBERS = range(FIRST, FIRST + 3)
ONE, TWO, THREE = (f'127.{number}' for number in NUMBERS)


def listen(address, port=0):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen()
    return s, s.getsockname()[1]


class AllocateTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.locks = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        s, self.port = listen(f'{ONE}.0.1')
        s.close()

    def allocate(self, numbers=NUMBERS):
        found = network.allocate([self.port], self.locks, numbers)
        self.addCleanup(found.release)
        return found

    def listen(self, address, port=None):
        s, _ = listen(address, port or self.port)
        self.addCleanup(s.close)

    def test_each_gets_another(self):
        self.assertEqual(
            [ONE, TWO, THREE],
            [self.allocate().prefix for _ in NUMBERS])

    def test_exhausted(self):
        self.allocate([FIRST])
        e = self.assertRaises(
            errors.EnvironmentProblem, self.allocate, [FIRST])
        self.assertIn(f'{ONE}: in use by another run', str(e))

    def test_listener_on_the_only_address_is_named(self):
        self.listen(f'{ONE}.0.1')
        e = self.assertRaises(
            errors.EnvironmentProblem, self.allocate, [FIRST])
        self.assertIn(
            f'{ONE}: port {self.port} of {ONE}.0.1 is taken by', str(e))
        self.assertIn(f'(pid {os.getpid()})', str(e))

    def test_clusters_of_another_user(self):
        # His servers have other ports; API servers of clusters have 6443.
        self.listen(f'{ONE}.1.1', 6443)
        self.assertEqual(TWO, self.allocate().prefix)

    def test_listener_on_all_addresses_is_named(self):
        self.listen('0.0.0.0')
        e = self.assertRaises(errors.EnvironmentProblem, self.allocate)
        self.assertIn(f'Port {self.port} is taken on all addresses', str(e))
        self.assertIn(f'(pid {os.getpid()})', str(e))

    def test_a_failure_gives_the_lock_back(self):
        with listen('0.0.0.0', self.port)[0]:
            self.assertRaises(errors.EnvironmentProblem, self.allocate)
        self.assertEqual(ONE, self.allocate().prefix)

    def test_heir_keeps_the_network(self):
        """As etcd does: flock(1) with our own arguments."""
        found = self.allocate()
        with subprocess.Popen(
                ['flock', '--shared', '--nonblock', '--no-fork', found.lock,
                 'sh', '-c', 'echo held; read line'], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as heir:
            heir.stdout.readline()
            found.release()
            self.assertEqual(TWO, self.allocate().prefix)
            heir.communicate('\n')
        self.assertEqual(ONE, self.allocate().prefix)

    def test_taken(self):
        found = self.allocate()
        self.assertFalse(network.taken(found.lock))
        found.release()
        with open(found.lock) as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            self.assertTrue(network.taken(found.lock))

    def test_require_free(self):
        network.require_free(f'{ONE}.0.1', [self.port])
        self.listen(f'{ONE}.0.1')
        e = self.assertRaises(
            errors.EnvironmentProblem, network.require_free, f'{ONE}.0.1',
            [self.port])
        self.assertIn(f'Port {self.port} is taken by', str(e))
