# SPDX-License-Identifier: Apache-2.0


"""The real Hydrophone, with the same kind of result."""

import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tarfile

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.conformance import archive as archive_
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import elsewhere
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import toolchain
from tests.functional.conformance import base as base
from tests.functional.conformance import scripted_cluster as scripted


class TestHydrophone(base.BaseTest):
    """Its exit code is that of the tests; its two files decide."""

    def setUp(self):
        super().setUp()
        # No command waits here for a build of several minutes.
        toolchain.ensure(['hydrophone'], self.progress)

    def files(self, archive):
        """The output of "cat" in an exec, for each file."""
        with tarfile.open(archive) as tar:
            for name in 'e2e.log', 'junit_01.xml':
                (self.base / name).write_bytes(tar.extractfile(
                    f'plugins/e2e/results/global/{name}').read())
        return [scripted.Exec(str(self.base / name))
                for name in ('e2e.log', 'junit_01.xml')]

    def run_it(self, archive):
        execs = self.files(archive)
        self.there = self.cluster(
            log=(self.base / 'e2e.log').read_text(), execs=execs)
        return lifecycle.run(
            self.request(self.there, backend=model.HYDROPHONE), self.runtime)

    def test_the_same_result_as_sonobuoys(self):
        for archive, outcome in ((base.QUICK, verdict.PASSED),
                                 (base.FAILED, verdict.FAILED)):
            ended = self.run_it(archive)

            self.assertEqual(outcome, ended.outcome)
            self.assertEqual(
                archive_.read(archive).specs, ended.result.specs)
            self.assertEqual({}, self.there.objects)
            # A run in the same folder refuses to replace it.
            shutil.rmtree(self.base / 'r1')

    def test_a_namespace_that_exists_is_not_touched(self):
        cluster = self.cluster()
        cluster.objects['/api/v1/namespaces/conformance'] = {
            'metadata': {'name': 'conformance'}}

        self.assertRaises(
            errors.EnvironmentProblem, lifecycle.run,
            self.request(cluster, backend=model.HYDROPHONE), self.runtime)
        self.assertEqual(1, len(cluster.objects))

    def test_of_plain_hydrophone_it_says_that_it_will_be_removed(self):
        execs = self.files(base.QUICK)
        cluster = self.cluster(
            log=(self.base / 'e2e.log').read_text(), execs=execs)
        space = '/api/v1/namespaces/conformance'
        cluster.objects.update({
            space: {'metadata': {
                'name': 'conformance', 'uid': 'u',
                'creationTimestamp': '2026-11-21T09:24:00Z'}},
            f'{space}/pods/{scripted.LONE}': {'metadata': {
                'name': scripted.LONE, 'namespace': 'conformance'}}})
        where = elsewhere.Elsewhere(
            runs.Target(kubeconfig=str(cluster.kubeconfig)),
            folder=self.base / 'r1')

        error = self.assertRaises(errors.UsageError, lifecycle.attach, where,
                                  self.runtime)
        self.assertIn('--remove', str(error))
        self.assertEqual(2, len(cluster.objects))

        ended = lifecycle.attach(
            dataclasses.replace(where, remove=True), self.runtime)

        self.assertEqual(verdict.PASSED, ended.outcome)
        self.assertEqual({}, cluster.objects)

    def test_killed_and_attached(self):
        """Nothing that could meet a later run outlives the command."""
        execs = self.files(base.QUICK)
        cluster = self.cluster(
            log=(self.base / 'e2e.log').read_text(), execs=execs,
            lone=scripted.GOES_ON)
        command = [sys.executable, '-m', 'magnum_capi.cli.main',
                   'conformance']
        process = subprocess.Popen(
            [*command, 'run', '--backend', 'hydrophone', '--mode', 'quick',
             '--kubeconfig', cluster.kubeconfig, '--output', 'r1'],
            cwd=self.base)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        pods = 'GET /api/v1/namespaces/conformance/pods'
        waiting.wait_for(lambda: cluster.asked.count(pods) > 1, done=bool,
                         timeout=300, what='the run to be watched')
        process.kill()
        process.wait()
        self.assertEqual([], [
            file for file in pathlib.Path('/proc').glob('[0-9]*/cmdline')
            if str(cluster.kubeconfig).encode() in read(file)])

        cluster.lone = scripted.ENDED
        ended = subprocess.run([*command, 'attach'], cwd=self.base,
                               stdout=subprocess.PIPE, text=True, timeout=600)

        self.assertEqual(0, ended.returncode, ended.stdout)
        self.assertIn('PASSED', ended.stdout)
        self.assertEqual({}, cluster.objects)


def read(file):
    """Content of a file; empty if its process has ended."""
    try:
        return file.read_bytes()
    except OSError:
        return b''
