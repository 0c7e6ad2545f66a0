# SPDX-License-Identifier: Apache-2.0
"""A management cluster of pods: real minikube, real Cluster API.

Needs Docker, the variables of ``tools/offline/minikube.sh``, and
MAGNUM_CAPI_LONG=1.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

import fixtures
import testtools

from magnum_capi import waiting
from magnum_capi_tempest import dockers
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import minikube
from magnum_capi_tempest import runmarks
from tests.functional import boxes

COMMAND = [sys.executable, '-m', 'magnum_capi.cli.main', 'management']


@boxes.LONG
class MinikubeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        if not os.environ.get(installation.OFFLINE):
            self.skipTest(f'{installation.OFFLINE} is not set')
        self.docker = dockers.find()
        base = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        self.directory = base / 'm'
        self.kubeconfig = self.directory / 'kubeconfig'
        self.addCleanup(self.call, 'down', '--directory', self.directory)

    def argv(self, *words):
        return [*COMMAND, *map(str, words)]

    def call(self, *words, timeout=900):
        """Run a command; returns (exit code, output, seconds)."""
        begin = time.monotonic()
        done = subprocess.run(self.argv(*words), capture_output=True,
                              text=True, timeout=timeout)
        seconds = time.monotonic() - begin
        self.addDetail(f'{words[0]} {seconds:.1f} s',
                       testtools.content.text_content(
                           done.stdout + done.stderr))
        return done.returncode, done.stdout, seconds

    def words(self):
        return ('up', '--directory', self.directory, '--backend', 'minikube')

    def up(self):
        code, out, seconds = self.call(*self.words())
        self.assertEqual(0, code)
        self.assertEqual(f'{self.directory}/kubeconfig', out.strip())
        return seconds

    def generations(self):
        return {
            str(d): d for d in deployments.read(
                kube.Client(self.kubeconfig))}

    def containers(self):
        """Containers of the machine."""
        profile = minikube.Minikube(None, self.directory, None).profile
        return self.docker.run('ps', '--all', '--quiet', '--filter',
                               f'name={profile}').split()

    def nothing_is_left(self):
        self.assertFalse(self.directory.exists())
        self.assertEqual([], self.containers())
        self.assertEqual([], runmarks.marked(self.directory))

    def test_life_with_a_kill_in_the_middle(self):
        process = subprocess.Popen(
            self.argv(*self.words()), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        waiting.wait_for(self.containers, done=bool, timeout=900,
                         what='minikube to make its machine')
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

        self.up()

        self.assertEqual(0o600, self.kubeconfig.stat().st_mode & 0o777)
        code, out, _ = self.call('check', '--kubeconfig', self.kubeconfig,
                                 '--no-addon-provider')
        self.assertEqual(0, code, out)
        self.assertIn('provider: infrastructure-openstack v0.14.6', out)
        self.assertIn('stand-in, not upstream\'s: cert-manager/', out)
        before = self.generations()
        self.assertGreater(60, self.up())
        self.assertEqual(before, self.generations())
        self.docker.run('stop', *self.containers())
        self.up()

        self.assertEqual(0, self.call('down', '--directory',
                                      self.directory)[0])
        self.nothing_is_left()
