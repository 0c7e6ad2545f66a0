# SPDX-License-Identifier: Apache-2.0

import pathlib
import types

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import pods

DOCKER = 'unix:///d.sock'


class PodsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.pods = pods.Pods(
            layout.Layout(pathlib.Path('/run/x'), '127.80.0.1', 30000),
            {name: f'/bin/{name}' for name in pods.TOOLS}, DOCKER,
            '198.18.8.0/21', [30000, 30774])
        self.done = []

    def patch(self, where, name, value):
        self.useFixture(fixtures.MockPatchObject(where, name, value))

    def test_machine_service_follows_the_kinds_that_it_reads(self):
        def up(directory, progress, tools, docker):
            self.assertEqual(DOCKER, docker)
            self.done.append('minikube')
            return hosted.Cluster(directory / 'kubeconfig', ())

        self.patch(hosted, 'up', up)
        self.patch(kube, 'Client', lambda path: None)
        self.patch(client, 'put_all', lambda api, objects: self.done.extend(
            o['spec']['names']['kind'] for o in objects))
        self.patch(client, 'wait_established', lambda *_: self.done.append(
            'established'))
        supervisor = types.SimpleNamespace(
            launch=lambda wanted, *_: self.done.extend(
                p.name for p in wanted))
        self.pods.up(supervisor, progress.Silent())
        self.assertEqual(['minikube', 'HelmRelease', 'Manifests',
                          'established', 'capi'], self.done)
