# SPDX-License-Identifier: Apache-2.0
"""A management cluster of pods: real minikube, real Cluster API.

Needs root, containers, existing image archives (otherwise tens of minutes)
and MAGNUM_CAPI_LONG=1.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest import runmarks
from tests.functional import boxes
from tests.system.nodes import real_nodes
from tools.offline.containers import layout
from tools.offline import images

COMMAND = [sys.executable, '-m', 'magnum_capi.cli.main', 'management']


def links():
    """Names of this machine's network interfaces."""
    return {link['ifname'] for link in json.loads(processes.run(
        ['ip', '-json', 'link'], timeout=120))}


@boxes.LONG
class MinikubeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.images = real_nodes.require(
            ('1.34',), images.MINIKUBE).directory
        base = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        self.directory = base / 'm'
        self.kubeconfig = base / 'magnum' / 'kubeconfig'
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

    def words(self, infrastructure):
        return ('up', '--directory', self.directory, '--backend', 'minikube',
                '--infrastructure', infrastructure, '--images', self.images,
                '--kubeconfig-to', self.kubeconfig)

    def up(self, infrastructure):
        code, out, seconds = self.call(*self.words(infrastructure))
        self.assertEqual(0, code)
        self.assertEqual(f'{self.directory}/kubeconfig', out.strip())
        return seconds

    def generations(self):
        return {
            str(d): d for d in deployments.read(
                kube.Client(self.kubeconfig))}

    def check(self, infrastructure):
        code, out, _ = self.call(
            'check', '--kubeconfig', self.kubeconfig, '--infrastructure',
            infrastructure, '--no-addon-provider')
        self.assertEqual(0, code, out)
        return out

    def nothing_is_left(self):
        self.assertFalse(self.directory.exists())
        self.assertFalse(self.kubeconfig.exists())
        engine = layout.Layout(self.directory / 'engine', self.directory)
        self.assertNotIn(engine.link, links())
        self.assertEqual([], list(pathlib.Path('/sys/fs/cgroup').glob(
            f'**/{engine.cgroup}')))
        for folder in (engine.directory, engine.directory / 'supervisor'):
            self.assertEqual([], runmarks.marked(folder))

    def test_docker_with_a_kill_in_the_middle(self):
        process = subprocess.Popen(
            self.argv(*self.words('docker')), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        waiting.wait_for(
            lambda: self.directory / 'minikube' / '.minikube' / 'machines',
            done=pathlib.Path.exists, timeout=900,
            what='minikube to make its machine')
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

        self.up('docker')

        self.assertEqual(0o600, self.kubeconfig.stat().st_mode & 0o777)
        out = self.check('docker')
        self.assertIn('provider: infrastructure-docker v1.14.0', out)
        self.assertIn('stand-in, not upstream\'s: cert-manager/', out)
        before = self.generations()
        self.assertGreater(60, self.up('docker'))
        self.assertEqual(before, self.generations())

        self.assertEqual(0, self.call('down', '--directory',
                                      self.directory)[0])
        self.nothing_is_left()

    def test_openstack(self):
        self.up('openstack')

        out = self.check('openstack')
        self.assertIn('provider: infrastructure-openstack v0.14.6', out)
        self.assertIn(('orc-system', 'orc-controller-manager'), {
            (d.namespace, d.name) for d in self.generations().values()
            if d.available})
        self.assertEqual(0, self.call('down', '--directory',
                                      self.directory)[0])
        self.nothing_is_left()
