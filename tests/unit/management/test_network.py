# SPDX-License-Identifier: Apache-2.0

import os
import socket
import subprocess
import sys

import testtools

from magnum_capi import errors
from magnum_capi_tempest.management import network

# Numbers that no other test and no sandbox uses, nor another process of these.
FIRST = 130 + 3 * (os.getpid() % 26)
NUMBERS = range(FIRST, FIRST + 3)
ONE, TWO, THREE = (f'127.{number}' for number in NUMBERS)

_OTHER = '''
import sys
from magnum_capi_tempest.management import network
number, port = map(int, sys.argv[1:])
with network.allocate([port], [number]) as claimed:
    print(claimed.prefix, flush=True)
    sys.stdin.read()
'''


def listen(address, port=0):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen()
    return s, s.getsockname()[1]


class AllocateTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        s, self.port = listen(f'{ONE}.0.1')
        s.close()

    def allocate(self, numbers=NUMBERS):
        found = network.allocate([self.port], numbers)
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
        self.assertIn(f'{ONE}: another run starts there', str(e))

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

    def test_a_failure_gives_up_the_claim(self):
        with listen('0.0.0.0', self.port)[0]:
            self.assertRaises(errors.EnvironmentProblem, self.allocate)
        self.assertEqual(ONE, self.allocate().prefix)

    def test_claims_of_another_home(self):
        """They are those of the machine, and end with their process."""
        with subprocess.Popen(
                [sys.executable, '-c', _OTHER, str(FIRST), str(self.port)],
                env={**os.environ, 'HOME': '/nonexistent',
                     'MAGNUM_CAPI_CACHE': '/nonexistent/cache'},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True) as other:
            self.addCleanup(other.kill)
            self.assertEqual(f'{ONE}\n', other.stdout.readline())
            self.assertEqual(TWO, self.allocate().prefix)
            e = self.assertRaises(
                errors.EnvironmentProblem, network.claim, f'{ONE}.0.1')
            self.assertIn(f'{ONE}.0.0/16', str(e))
            other.kill()
        with network.claim(f'{ONE}.0.1'):
            self.assertRaises(
                errors.EnvironmentProblem, self.allocate, [FIRST])
        self.assertEqual(ONE, self.allocate().prefix)

    def test_require_free(self):
        network.require_free(f'{ONE}.0.1', [self.port])
        self.listen(f'{ONE}.0.1')
        e = self.assertRaises(
            errors.EnvironmentProblem, network.require_free, f'{ONE}.0.1',
            [self.port])
        self.assertIn(f'Port {self.port} is taken by', str(e))
