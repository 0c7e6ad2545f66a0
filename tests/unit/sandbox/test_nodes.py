# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_sandbox import nodes
from magnum_capi_tempest import containers
from magnum_capi_tempest import images
from tests.unit.sandbox import archives


class DescribedTest(testtools.TestCase):

    def test_versions_are_in_the_order_of_numbers(self):
        found = nodes.described(archives.inventory(
            archives.node('v1.34.10'), archives.node('v1.34.9'),
            archives.node('v1.9.1')))
        self.assertEqual(('v1.9.1', 'v1.34.9', 'v1.34.10'),
                         found.kubernetes)

    def test_one_stand_in_makes_all_of_it_stand_ins(self):
        real = archives.node('v1.34.9', stand_in=False)
        made = archives.image('agnhost', 'e2e-test-images/agnhost:2.56')
        self.assertFalse(nodes.described(
            archives.inventory(real)).stand_ins)
        self.assertTrue(nodes.described(
            archives.inventory(real, made)).stand_ins)

    def test_the_workload_is_in_the_nodes(self):
        made = archives.image(
            'agnhost', 'registry.k8s.io/e2e-test-images/agnhost:2.56')
        self.assertEqual(
            'registry.k8s.io/e2e-test-images/agnhost:2.56',
            nodes.described(archives.inventory(made)).workload_image)

    def test_the_engine_gets_machines_and_the_load_balancer(self):
        for balancers, more in ((True, ['haproxy']), (False, [])):
            found = nodes.needed(archives.inventory(
                archives.node('v1.34.9'), archives.image('pause', 'x/pause:3'),
                archives.image('haproxy', 'docker.io/kindest/haproxy:v1')),
                balancers)
            self.assertEqual(['node-v1.34.9', *more], [a.name for a in found])


class WantedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.asked = []
        self.made = []
        self.inventory = archives.inventory(archives.node('v1.36.5'))
        for name, value in (
                ('inventory', archives.Reader(lambda: self.inventory)),
                ('provide', self.provide), ('require', self.require)):
            self.useFixture(fixtures.MockPatchObject(images, name, value))
        self.problem(None)

    def require(self, folder, minors, purpose):
        self.asked.append(minors)
        return self.inventory

    def provide(self, minors, purpose, progress):
        self.made.append((minors, purpose))

    def wanted(self, kind, directory=None):
        return nodes.wanted(kind, directory, None)

    def problem(self, text):
        self.useFixture(fixtures.MockPatchObject(
            containers, 'problem', lambda: text))

    def test_nodes_are_in_memory_by_default(self):
        for kind in (None, nodes.MEMORY):
            found = self.wanted(kind)
            self.assertEqual((nodes.Nodes(), False), (found, found.real))

    def test_archives_for_nodes_in_memory(self):
        e = self.assertRaises(
            errors.UsageError, self.wanted, None, pathlib.Path('/i'))
        self.assertIn('--nodes docker', str(e))

    def test_a_host_without_containers_says_so_in_one_line(self):
        self.problem('containers need root, and this is another user')
        e = self.assertRaises(
            errors.EnvironmentProblem, self.wanted, nodes.DOCKER)
        self.assertIn('need root', str(e))
        self.assertNotIn('\n', str(e))
        self.assertEqual(([], []), (self.made, self.asked))

    def test_what_there_are_machines_of_must_be_whole(self):
        self.inventory = archives.inventory(
            archives.node('v1.36.5'), archives.node('v1.35.8'),
            # Of an older checkout; nothing makes these any more.
            archives.node('v1.20.15'))
        found = self.wanted(nodes.DOCKER)
        self.assertEqual([('1.35', '1.36')], self.asked)
        self.assertEqual([(('1.35', '1.36'), images.NODES)], self.made)
        self.assertEqual(('v1.20.15', 'v1.35.8', 'v1.36.5'),
                         found.kubernetes)

    def test_without_machines_the_newest_are_made(self):
        self.inventory = archives.inventory()
        self.wanted(nodes.DOCKER)
        self.assertEqual([(nodes.MINORS, images.NODES)], self.made)

    def test_nothing_is_made_in_a_folder_that_is_named(self):
        self.wanted(nodes.DOCKER, pathlib.Path('/i'))
        self.assertEqual(([], [('1.36',)]), (self.made, self.asked))
