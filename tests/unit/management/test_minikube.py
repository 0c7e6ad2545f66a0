# SPDX-License-Identifier: Apache-2.0
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.management import minikube
from magnum_capi_tempest.management import providers


class MinikubeTest(testtools.TestCase):
    """A program that says what it was called with, and fails on demand."""

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.program = self.base / 'program'
        self.machine = self.of('c')

    def of(self, folder):
        return minikube.Minikube(
            self.program, self.base / folder, 'unix:///d.sock')

    def script(self, text):
        self.program.write_text(f'#!/bin/sh\n{text}\n')
        self.program.chmod(0o700)

    def test_the_kubeconfig_is_its_own_and_the_rest_is_the_users(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'MINIKUBE_HOME', '/users'))
        self.script('echo "$MINIKUBE_HOME $DOCKER_HOST $*" > "$KUBECONFIG"')
        self.machine.start()
        self.assertEqual(self.base / 'c' / 'kubeconfig',
                         self.machine.kubeconfig)
        self.assertEqual(
            0o600, self.machine.kubeconfig.stat().st_mode & 0o777)
        said = self.machine.kubeconfig.read_text().split()
        self.assertEqual(['/users', 'unix:///d.sock', 'start'], said[:3])
        for flag in ('--driver=docker', f'--profile={self.machine.profile}',
                     f'--kubernetes-version={providers.KUBERNETES}'):
            self.assertIn(flag, said)

    def test_failure_says_what_minikube_said(self):
        self.script('echo no systemd >&2; exit 3')
        e = self.assertRaises(errors.CommandFailed, self.machine.delete)
        self.assertIn('no systemd', str(e))
        self.assertIn('minikube logs --profile=', str(e))

    def test_clusters_of_two_folders_do_not_meet(self):
        self.assertNotEqual(self.machine.profile, self.of('d').profile)
