# SPDX-License-Identifier: Apache-2.0


"""Runs whose command is interrupted or killed, from a user's view."""

import json
import os
import signal
import subprocess
import sys

from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_tempest import toolchain
from tests.functional import boxes
from tests.functional.conformance import base as base
from tests.functional.conformance import scripted_cluster as scripted


class TestCommandLine(base.BaseTest):

    def setUp(self):
        super().setUp()
        (self.base / 'tmp').mkdir()

    def command(self, *arguments, cluster=None):
        target = ['--kubeconfig', str(cluster.kubeconfig)] if cluster else []
        process = subprocess.Popen(
            [sys.executable, '-m', 'magnum_capi.cli.main',
             'conformance', *arguments, *target], cwd=self.base,
            env={**os.environ, 'TMPDIR': str(self.base / 'tmp')},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def finish(self, *arguments, **kwargs):
        process = self.command(*arguments, **kwargs)
        output, _ = process.communicate(timeout=600)
        return process.returncode, output

    def begun(self, cluster):
        """A command that watches a run which has been created."""
        process = self.command('run', '--mode', 'quick', '--output', 'r1',
                               cluster=cluster)
        waiting.wait_for(
            lambda: [a for a in cluster.asked
                     if a == f'GET {scripted.SPACE}/pods/sonobuoy'],
            done=bool, timeout=600, what='the run to be watched')
        return process

    def test_interrupted_and_taken_up_again(self):
        cluster = self.cluster(base.running(), execs=[self.sent(base.QUICK)])
        process = self.begun(cluster)
        os.kill(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=600)

        self.assertEqual(130, process.returncode, output)
        self.assertIn(f'conformance attach {self.base / "r1"}', output)
        self.assertTrue(cluster.objects)

        code, output = self.finish('attach', '--once')
        self.assertEqual(3, code, output)
        self.assertIn('r1: started, sonobuoy', output)
        self.assertIn('running', output)

        cluster.statuses[:] = [base.complete(base.QUICK)]
        code, output = self.finish('attach')
        self.assertEqual(0, code, output)
        self.assertIn('PASSED', output)
        self.assertEqual({}, cluster.objects)
        code, output = self.finish('attach', 'r1', '--once')
        self.assertEqual(0, code, output)
        self.assertIn('ended', output)

    def test_a_run_of_plain_sonobuoy(self):
        cluster = self.cluster(base.running(), execs=[self.sent(base.QUICK)])
        program = toolchain.ensure(['sonobuoy'], self.progress)['sonobuoy']
        processes.run([program, 'run', '--kubeconfig', cluster.kubeconfig,
                       '--mode', 'quick', '--plugin', 'e2e',
                       '--skip-preflight'], timeout=180)

        code, output = self.finish('attach', '--once', '-f', 'json',
                                   cluster=cluster)
        self.assertEqual(3, code, output)
        said = json.loads(output[output.index('{'):])
        self.assertEqual(('running', '', 1), (
            said['watch']['state'], said['watch']['outcome'],
            said['watch']['counts']['total']))

        cluster.statuses[:] = [base.complete(base.QUICK)]
        for _ in range(2):
            code, output = self.finish('attach', cluster=cluster)
            self.assertEqual(0, code, output)
            self.assertIn('PASSED', output)
            self.assertIn(scripted.SPACE, cluster.objects)

        code, output = self.finish('abort', cluster=cluster)
        self.assertEqual(0, code, output)
        self.assertEqual({}, cluster.objects)

    @boxes.LONG
    def test_killed_and_ended(self):
        cluster = self.cluster(base.running())
        process = self.begun(cluster)
        process.kill()
        process.communicate(timeout=600)

        code, output = self.finish('abort')
        self.assertEqual(0, code, output)
        self.assertEqual({}, cluster.objects)
        code, output = self.finish('attach', 'r1', '--once')
        self.assertIn('r1: ended', output)
        # Neither keys nor parts of files are left.
        self.assertEqual([], list((self.base / 'tmp').iterdir()))
