# SPDX-License-Identifier: Apache-2.0

"""The user's Docker, with a real daemon and a registry beside it."""

import json
import pathlib
import subprocess
import sys
import tarfile
from unittest import mock

import fixtures

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_sandbox import machines
from magnum_capi_sandbox import nodes
from magnum_capi_tempest import dockers
from tests.functional.nodes import test_containers
from tests.unit.sandbox import samples
from tools.offline.images import loading

#: Of the registry, in the engine's network.
PORT = 29877


class DockersTest(test_containers.EngineTest):

    IMAGE = f'127.0.0.1:{PORT}/kindest/node:v1.36.1'

    def setUp(self):
        super().setUp()
        self.access = self.engine.up(progress.Silent())
        self.addCleanup(self.engine.down)
        self.useFixture(fixtures.EnvironmentVariable(
            'DOCKER_HOST', self.access.docker_host))
        self.docker = dockers.find()

    def test_it_is_the_one_that_the_user_names(self):
        self.assertEqual(self.access.docker_host, self.docker.host)
        self.assertTrue(self.docker.answers())
        self.useFixture(fixtures.EnvironmentVariable(
            'DOCKER_HOST', 'unix:///nowhere/docker.sock'))
        self.assertRaises(errors.EnvironmentProblem, dockers.find)

    def serve(self):
        """Serve the archive; returns the reference of its image."""
        process = subprocess.Popen(self.access.run_in([
            sys.executable, pathlib.Path(__file__).with_name('registry.py'),
            self.archive.path, PORT]))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        with tarfile.open(self.archive.path) as tar:
            index = json.load(tar.extractfile('index.json'))
        return f'{self.IMAGE}@{index["manifests"][0]["digest"]}'

    def up(self):
        spec = samples.a_spec(machines=nodes.Nodes(
            nodes.DOCKER, self.docker.host, ('v1.36.1',)))
        machines.up(pathlib.Path('/box'), spec, mock.Mock(),
                    progress.Silent())

    def test_a_node_image_is_pulled_by_digest(self):
        reference = self.serve()
        self.useFixture(fixtures.MockPatchObject(
            nodes, 'PUBLISHED', {'v1.36.1': reference}))
        waiting.wait_for(self.pulled, done=bool, timeout=120,
                         what='the registry')
        found, = json.loads(self.docker.run('image', 'inspect', reference))
        self.assertEqual(f'sha256:{self.archive.image_id}', found['Id'])
        self.assertIn('kind', self.docker.run(
            'network', 'ls', '--format', '{{.Name}}').split())

        other = reference[:-4] + 'beef'
        self.assertRaises(errors.CommandFailed, self.docker.pull, other,
                          progress.Silent())

    def pulled(self):
        try:
            self.up()
        except errors.CommandFailed:
            return False
        return True

    def test_stand_ins_are_found_by_their_label(self):
        self.assertEqual([], self.docker.stand_ins('example.org/none'))
        loading.load([self.archive], self.docker, progress.Silent())
        self.assertEqual(['v1.36.1'], self.docker.stand_ins(
            self.IMAGE.rpartition(':')[0]))

    def test_down_removes_what_is_ours(self):
        loading.load([self.archive], self.docker, progress.Silent())
        owner = machines.owner(pathlib.Path('/box'))
        self.docker.add_network('mine', owner)
        for label in (f'{dockers.OWNER}={owner}', f'{dockers.OWNER}=/other'):
            self.docker.run('run', '--detach', '--label', label, '--network',
                            'mine', self.IMAGE)
        spec = nodes.Nodes(nodes.DOCKER, self.docker.host)
        machines.down(pathlib.Path('/box'), spec, progress.Silent())
        self.assertEqual([], self.docker.containers(owner))
        left, = self.docker.containers('/other')
        # Somebody else uses the network.
        self.assertIn('mine', self.networks())
        self.docker.run('rm', '--force', left)
        machines.down(pathlib.Path('/box'), spec, progress.Silent())
        self.assertNotIn('mine', self.networks())

    def networks(self):
        return self.docker.run(
            'network', 'ls', '--format', '{{.Name}}').split()
