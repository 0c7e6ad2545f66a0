# SPDX-License-Identifier: Apache-2.0

"""Cluster API's provider "docker" in a management cluster of processes."""

import pathlib

import testtools

from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import manifests
from magnum_capi_tempest.management import programs

LAYOUT = layout.Layout(pathlib.Path('/m'))

SOCKET = 'unix:///box/containers/docker.sock'


class ProgramTest(testtools.TestCase):

    def gates(self, program):
        text, = (a for a in program.argv if a.startswith('--feature-gates='))
        return text.partition('=')[2].split(',')

    def test_no_containers_unless_asked_for(self):
        program = programs.capi(LAYOUT, '/bin/capi')
        self.assertNotIn('--docker-owner=/m', program.argv)
        self.assertEqual({}, program.env)
        self.assertIn('MachineSetPreflightChecks=false', self.gates(program))

    def test_the_engine_is_named_and_real_kubelets_wait(self):
        program = programs.capi(LAYOUT, '/bin/capi', SOCKET)
        self.assertIn('--docker-owner=/m', program.argv)
        self.assertEqual({'DOCKER_HOST': SOCKET}, program.env)
        self.assertIn('MachineSetPreflightChecks=true', self.gates(program))


def crd(plural):
    return {'kind': 'CustomResourceDefinition',
            'spec': {'names': {'plural': plural}}}


def hook(name, *resources):
    return {'name': name, 'rules': [{'resources': list(resources)}]}


class ServedTest(testtools.TestCase):

    def test_definitions_and_webhooks_of_what_is_served(self):
        mine = {'kind': 'MutatingWebhookConfiguration', 'webhooks': [
            hook('a', 'devclusters'), hook('b', 'dockerclusters'),
            hook('c', 'devclusters', 'dockerclusters')]}
        other = {'kind': 'ValidatingWebhookConfiguration',
                 'webhooks': [hook('d', 'dockerclusters')]}
        found = manifests.served(
            [crd('devclusters'), crd('dockerclusters'), mine, other,
             {'kind': 'Deployment'}], {'devclusters'})
        self.assertEqual(
            [crd('devclusters'), {**mine, 'webhooks': mine['webhooks'][:1]}],
            found)
