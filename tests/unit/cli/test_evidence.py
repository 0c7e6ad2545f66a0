# SPDX-License-Identifier: Apache-2.0

"""Which cluster "evidence collect" reads, from the command line."""

import os
import pathlib

import fixtures
import testtools

from tests.functional.conformance import scripted_cluster as scripted
from tests.unit.cli import terminal


class CollectTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cluster = self.useFixture(
            scripted.ScriptedCluster(running=False))
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def collect(self, *argv, **environ):
        """Exit code and what was printed."""
        for name in ('KUBECONFIG', *environ):
            self.useFixture(fixtures.EnvironmentVariable(
                name, environ.get(name)))
        code, out, err = terminal.call(
            'evidence', 'collect', '--output', self.folder, *argv)
        return code, out + err

    def assert_collected(self, *argv, **environ):
        code, said = self.collect(*argv, **environ)
        self.assertIn('GET /api/v1/pods', self.cluster.asked, said)
        self.assertTrue((self.folder / 'management' / 'pods.json').exists())

    def test_that_of_the_option(self):
        self.assert_collected('--kubeconfig', str(self.cluster.kubeconfig),
                              KUBECONFIG='/nowhere')

    def test_that_of_the_environment(self):
        self.assert_collected(KUBECONFIG=str(self.cluster.kubeconfig))

    def test_the_current_context_of_several_files(self):
        """Those that do not exist are ignored, as kubectl does."""
        empty = self.folder / 'empty'
        empty.write_text('{}')

        self.assert_collected(KUBECONFIG=os.pathsep.join(
            map(str, ('/nowhere', empty, self.cluster.kubeconfig))))
