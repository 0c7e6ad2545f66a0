# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import signal
import subprocess
import threading

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.cli import management as cli
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import folder
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import toolchain
from tests.unit import docker_program
from tests.unit.management import test_deployments


class OptionsTest(testtools.TestCase):

    def test_options_of_pods_are_refused_without_them(self):
        command = cli.Up(None, None)
        args = command.get_parser('up').parse_args(['--addon-provider'])
        e = self.assertRaises(errors.UsageError, command.take_action, args)
        self.assertIn('--addon-provider', str(e))


class UpTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.directory = self.base / 'cluster'
        self.docker = self.useFixture(docker_program.Docker(ps='c0ffee'))
        self.minikube = self.base / 'minikube'
        self.program('echo mine > "$KUBECONFIG"')
        self.patch(toolchain, 'ensure', lambda names, progress: {
            'minikube': self.minikube})
        self.installed = []
        self.patch(installation, 'install',
                   lambda *args: self.installed.append(args[1]))
        self.waited = []
        self.patch(installation, 'wait',
                   lambda *args: self.waited.append(args[1]))
        self.patch(kube, 'Client', lambda path, timeout=30:
                   test_deployments.Api({}))

    def patch(self, where, name, value):
        self.useFixture(fixtures.MockPatchObject(where, name, value))

    def program(self, text):
        self.minikube.write_text(
            f'#!/bin/sh\necho "$1 $DOCKER_HOST" >> {self.base}/called\n'
            f'[ "$1" = delete ] || {{ {text}; }}\n')
        self.minikube.chmod(0o755)

    def called(self):
        file = self.base / 'called'
        found = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    def up(self, **kwargs):
        return hosted.up(self.directory, progress.Silent(), **kwargs)

    def down(self):
        self.said = []
        quiet = progress.Silent()
        quiet.info = self.said.append
        standalone.down(self.directory, quiet)

    def test_life(self):
        self.assertEqual(self.directory / 'kubeconfig', self.up().kubeconfig)
        self.assertEqual([f'start {docker_program.HOST}'], self.called())
        self.assertEqual([False], self.installed)
        self.assertTrue(folder.read(self.directory)['ready'])
        self.assertEqual(0o600, (
            self.directory / 'kubeconfig').stat().st_mode & 0o777)
        self.down()
        self.assertEqual([f'delete {docker_program.HOST}'], self.called())
        self.assertFalse(self.directory.exists())

    def test_the_docker_of_the_caller(self):
        self.up(docker='unix:///other')
        self.assertEqual(['start unix:///other'], self.called())
        self.down()
        self.assertEqual(['delete unix:///other'], self.called())

    def test_without_docker_nothing_is_left(self):
        self.docker.answer(version=None)
        e = self.assertRaises(errors.EnvironmentProblem, self.up)
        self.assertIn('Docker does not answer', str(e))
        self.assertFalse(self.directory.exists())

    def test_other_options_are_refused(self):
        self.up()
        e = self.assertRaises(errors.UsageError, self.up, addon_provider=True)
        self.assertIn('addon provider: False', str(e))
        self.assertRaises(errors.UsageError, standalone.up, self.directory,
                          progress.Silent(), {})

    def test_a_cluster_of_processes_is_refused(self):
        self.directory.mkdir()
        folder.write(self.directory, {'address': '127.77.0.1'})
        e = self.assertRaises(errors.UsageError, self.up)
        self.assertIn('backend processes', str(e))

    def test_a_healthy_one_is_left_alone(self):
        self.up()
        self.called()
        self.patch(kube, 'Client', lambda path, timeout=30:
                   test_deployments.api_with(*installation.wanted(False)))
        self.up()
        self.assertEqual(([], [], [False]),
                         (self.called(), self.waited, self.installed))

    def test_a_stopped_one_is_started(self):
        self.up()
        self.called()
        self.up()
        self.assertEqual(([f'start {docker_program.HOST}'], [False]),
                         (self.called(), self.waited))
        self.assertEqual([False], self.installed)

    def test_one_whose_machine_is_gone_is_not_waited_for(self):
        self.up()
        self.called()
        self.docker.answer(ps='')
        e = self.assertRaises(errors.EnvironmentProblem, self.up)
        self.assertIn('magnum-capi-', str(e))
        self.assertIn('Take it down', str(e))
        self.assertEqual(([], []), (self.called(), self.waited))
        self.assertTrue(folder.read(self.directory)['ready'])
        self.down()
        self.assertFalse(self.directory.exists())

    def test_failed_first_up_leaves_nothing(self):
        self.program('exit 1')
        self.assertRaises(errors.CommandFailed, self.up)
        self.assertEqual(['start', 'delete'],
                         [line.split()[0] for line in self.called()])
        self.assertFalse(self.directory.exists())

    def test_failed_later_up_leaves_everything(self):
        self.up()
        self.program('exit 1')
        self.assertRaises(errors.CommandFailed, self.up)
        self.assertTrue((self.directory / folder.RECORD).exists())

    def killed(self):
        self.directory.mkdir()
        folder.write(self.directory, {
            'backend': 'minikube', 'addon_provider': False,
            'docker': 'unix:///killed', 'ready': False})

    def test_a_killed_one_is_made_anew(self):
        self.killed()
        orphan = subprocess.Popen(
            ['sleep', '600'], env={runmarks.MARK: str(self.directory),
                                   'PATH': os.defpath})
        self.addCleanup(orphan.wait)
        self.addCleanup(orphan.kill)
        # Our own child stays a zombie until it is waited for.
        threading.Thread(target=orphan.wait, daemon=True).start()
        self.up()
        self.assertEqual(-signal.SIGKILL, orphan.wait(10))
        self.assertEqual(
            ['delete unix:///killed', f'start {docker_program.HOST}'],
            self.called())

    def test_down_without_its_docker(self):
        self.up()
        self.called()
        self.docker.answer(version=None)
        self.down()
        self.assertEqual([], self.called())
        self.assertIn(docker_program.HOST, self.said[0])
        self.assertFalse(self.directory.exists())
