# SPDX-License-Identifier: Apache-2.0

import re

import testtools

from magnum_capi import errors
from magnum_capi_sandbox import nodes
from tests.unit import docker_program


class WantedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.docker = self.useFixture(docker_program.Docker(
            **{'image ls': ''}))

    def test_nodes_are_in_memory_by_default(self):
        for kind in (None, nodes.MEMORY):
            found = nodes.wanted(kind)
            self.assertEqual((nodes.Nodes(), False), (found, found.real))
        self.assertEqual([], self.docker.asked)

    def test_a_machine_without_docker_says_so_in_one_line(self):
        self.docker.answer(version=None)
        e = self.assertRaises(
            errors.EnvironmentProblem, nodes.wanted, nodes.DOCKER)
        self.assertIn('Docker does not answer', str(e))
        self.assertNotIn('\n', str(e))

    def test_images_are_those_that_kind_publishes(self):
        self.assertEqual(
            nodes.Nodes(nodes.DOCKER, docker_program.HOST,
                        ('v1.35.5', 'v1.36.1')),
            nodes.wanted(nodes.DOCKER))

    def test_stand_ins_in_docker_are_used_and_told(self):
        self.docker.answer(**{'image ls': 'v1.36.10\nv1.36.5\nv1.9.1\n'})
        found = nodes.wanted(nodes.DOCKER, servers=True)
        self.assertEqual((('v1.9.1', 'v1.36.5', 'v1.36.10'), True),
                         (found.kubernetes, found.stand_ins))
        self.assertIn('label=io.magnum-capi.stand-in', self.docker.asked[-1])

    def test_servers_need_cloud_init(self):
        e = self.assertRaises(errors.EnvironmentProblem, nodes.wanted,
                              nodes.DOCKER, servers=True)
        self.assertIn('cloud-init', str(e))


class PublishedTest(testtools.TestCase):

    def test_two_minors_by_digest(self):
        """So that an upgrade has two ends."""
        self.assertEqual(['1.35', '1.36'],
                         [nodes.minor(v) for v in nodes.PUBLISHED])
        for version, reference in nodes.PUBLISHED.items():
            self.assertTrue(re.fullmatch(
                f'kindest/node:{version}@sha256:[0-9a-f]{{64}}', reference))
