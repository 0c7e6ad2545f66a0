# SPDX-License-Identifier: Apache-2.0
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.management import minikube
from magnum_capi_tempest.management import providers

EVENTS = '''\
{"type":"io.k8s.sigs.minikube.step","data":{"name":"Selecting Driver"}}
{"type":"io.k8s.sigs.minikube.info","data":{"message":"x"}}
{"type":"io.k8s.sigs.minikube.step","data":{"name":"Preparing Kubernetes"}}
{"type":"io.k8s.sigs.minikube.error","data":{"name":"RUNTIME_ENABLE",\
"message":"no systemd","advice":"Boot it"}}
'''


class StartTest(testtools.TestCase):

    def test_offline_asks_for_nothing_from_outside(self):
        argv = minikube.start('n', minikube.Wanted(
            base='b:1', offline=True, subnet='10.1.2.0/24'))
        for flag in ('--preload=false', '--cache-images=false',
                     '--base-image=b:1', '--subnet=10.1.2.0/24',
                     f'--kubernetes-version={providers.KUBERNETES}'):
            self.assertIn(flag, argv)

    def test_this_machine_gets_no_limits(self):
        argv = minikube.start('n', minikube.Wanted(driver='none'))
        self.assertEqual([], [a for a in argv if a.startswith('--memory')])

    def test_clusters_of_two_folders_do_not_meet(self):
        self.assertNotEqual(minikube.profile(pathlib.Path('/a')),
                            minikube.profile(pathlib.Path('/b')))


class ProblemTest(testtools.TestCase):

    def test_this_machine_as_node(self):
        def problem(root=True, systemd=True, there=lambda name: name):
            return minikube.problem('none', there, root, systemd)

        self.assertIsNone(problem())
        self.assertIn('root', problem(root=False))
        self.assertIn('systemd', problem(systemd=False))
        self.assertIn('conntrack', problem(there=lambda name: None))

    def test_a_container_wants_none_of_it(self):
        self.assertIsNone(minikube.problem(
            'docker', lambda name: None, False, False))


class EventsTest(testtools.TestCase):

    def test_last_step(self):
        self.assertEqual('Preparing Kubernetes', minikube.step(EVENTS))
        self.assertIsNone(minikube.step('no event\n{half'))

    def test_errors_are_reported_and_the_rest_is_not(self):
        self.assertEqual('RUNTIME_ENABLE no systemd Boot it\nplain',
                         minikube.explained(EVENTS + 'plain\n'))


class RunTest(testtools.TestCase):
    """A program that says what it was called with, and fails on demand."""

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.program = self.base / 'program'
        self.machine = minikube.Minikube(self.program, self.base / 'c')

    def script(self, text):
        self.program.write_text(f'#!/bin/sh\n{text}\n')
        self.program.chmod(0o700)

    def test_home_and_kubeconfig_are_its_own(self):
        self.script('echo "$MINIKUBE_HOME" > "$KUBECONFIG"')
        self.machine.start(minikube.Wanted(), lambda step: None)
        self.assertEqual(f'{self.base}/c/minikube',
                         self.machine.kubeconfig.read_text().strip())
        self.assertEqual(0o600, self.machine.kubeconfig.stat().st_mode
                         & 0o777)
        # What it printed is not kept.
        self.assertEqual(
            ['tmp'], [path.name for path in self.machine.home.iterdir()])

    def test_failure_says_what_minikube_said(self):
        (self.base / 'events').write_text(EVENTS)
        self.script(f'cat {self.base}/events; exit 3')
        e = self.assertRaises(errors.CommandFailed, self.machine.start,
                              minikube.Wanted(), lambda step: None)
        self.assertIn('no systemd', str(e))
        self.assertNotIn('Selecting Driver', str(e))

    def test_runs_where_docker_is(self):
        class Docker:
            environment = {'DOCKER_HOST': 'unix:///own'}

            def run_in(self, argv):
                return ['/usr/bin/env', 'IN=netns', *map(str, argv)]

        self.script('echo "[{\\"repoTags\\": [\\"$IN\\", \\"$DOCKER_HOST\\"]}'
                    ', {\\"repoTags\\": null}]"')
        machine = minikube.Minikube(self.program, self.base / 'c', Docker())
        self.assertEqual({'netns', 'unix:///own'}, machine.images())
