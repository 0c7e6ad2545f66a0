# SPDX-License-Identifier: Apache-2.0

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest import dockers
from tests.unit import docker_program


class FindTest(testtools.TestCase):

    def docker(self, **answers):
        return self.useFixture(docker_program.Docker(**answers))

    def test_it_is_the_one_of_the_program(self):
        self.docker()
        self.assertEqual(docker_program.HOST, dockers.find().host)

    def refused(self):
        return str(self.assertRaises(errors.EnvironmentProblem, dockers.find))

    def test_none_runs(self):
        docker = self.docker(version=None)
        self.assertIn('cannot version', self.refused())
        docker.answer(version='')
        self.assertTrue(dockers.find().answers())

    def test_the_program_is_missing(self):
        self.useFixture(fixtures.EnvironmentVariable('PATH', '/nowhere'))
        self.assertIn('DOCKER_HOST', self.refused())

    def test_containers_of_another_machine_cannot_be_reached(self):
        self.docker(**{'context inspect': 'ssh://elsewhere'})
        self.assertIn('not on this machine (ssh://elsewhere)', self.refused())


class DockerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.program = self.useFixture(docker_program.Docker(**{
            'network ls': 'bridge\n', 'network create': '',
            'network inspect': '[{"Containers": {}}]', 'network rm': '',
            'ps': '', 'rm': '', 'pull': ''}))
        self.docker = dockers.Docker(docker_program.HOST)

    def test_an_image_is_pulled_once(self):
        self.docker.pull('x:1@sha256:a', progress.Silent())
        self.program.answer(**{'image inspect': '[]'})
        self.docker.pull('x:1@sha256:a', progress.Silent())
        self.assertEqual(1, self.program.asked.count(
            'pull --quiet x:1@sha256:a'))

    def test_a_network_that_is_there_is_nobodys_here(self):
        self.docker.add_network('kind', '/box')
        self.program.answer(**{'network ls': 'kind\n'})
        self.docker.add_network('kind', '/box')
        self.assertEqual(
            ['network create --label io.magnum-capi.owner=/box kind'],
            [line for line in self.program.asked if 'create' in line])

    def test_containers_are_removed_and_networks_that_nobody_uses(self):
        self.program.answer(**{'ps': 'c1\nc2\n', 'network ls': 'n1\n'})
        self.docker.remove('/box')
        self.assertIn('rm --force --volumes c1 c2', self.program.asked)
        self.assertIn('network rm n1', self.program.asked)
        for question in ('ps', 'network ls'):
            self.assertTrue(any(
                line.startswith(question)
                and line.endswith('label=io.magnum-capi.owner=/box')
                for line in self.program.asked), question)

    def test_a_network_that_others_use_stays(self):
        self.program.answer(**{
            'network ls': 'n1\n',
            'network inspect': '[{"Containers": {"c9": {}}}]'})
        self.docker.remove('/box')
        self.assertNotIn('network rm n1', self.program.asked)
        self.assertFalse([w for w in self.program.asked if w[:3] == 'rm '])
