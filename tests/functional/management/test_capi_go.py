# SPDX-License-Identifier: Apache-2.0

"""Go's own checks for the Go program of the management cluster.

It must be formatted and vetted, and its unit tests need no cluster.
"""

import testtools

from magnum_capi import processes
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import go

#: Seconds, nearly all of them for compiling if nothing is cached.
TIMEOUT = 3000

#: As in the toolchain's builds, so that dependencies are compiled once.
BUILD_FLAGS = ('-p', '2', '-trimpath')


class TestCapi(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = resources.find('sandbox/capi')
        self.go = go.find_go()
        self.env = go.environment(self.go)

    def run_go(self, *args):
        return processes.run([self.go, *args], timeout=TIMEOUT,
                             cwd=self.folder, env=self.env)

    def test_format(self):
        gofmt = self.go.parent / 'gofmt'

        listed = processes.run(
            [gofmt, '-l', '.'], timeout=600, cwd=self.folder, env=self.env)

        self.assertEqual('', listed, 'run gofmt -w in capi/')

    def test_vet_and_unit_tests(self):
        """A single test, so that the package is compiled only once."""
        self.run_go('vet', *BUILD_FLAGS, './...')
        self.run_go('test', *BUILD_FLAGS, '-count', '1', './...')
