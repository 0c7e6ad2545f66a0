# SPDX-License-Identifier: Apache-2.0

import pathlib
import types

import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox import machines
from magnum_capi_sandbox import nodes
from tests.unit import docker_program
from tests.unit.sandbox import samples

BOX = pathlib.Path('/box')
LABEL = 'label=io.magnum-capi.owner=/box/management'


class MachinesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.docker = self.useFixture(docker_program.Docker(**{
            'network ls': '', 'network create': '', 'ps': '', 'rm': '',
            'pull': ''}))
        self.stopped = []

    def machines(self, stand_ins=False):
        return nodes.Nodes(nodes.DOCKER, docker_program.HOST,
                           tuple(nodes.PUBLISHED), stand_ins)

    def up(self, found=None, **changes):
        machines.up(BOX, samples.a_spec(
            machines=found or self.machines(), **changes),
            types.SimpleNamespace(stop=self.stopped.append),
            progress.Silent())

    def pulled(self):
        return [line.split()[-1] for line in self.docker.asked
                if line.startswith('pull')]

    def test_nodes_in_memory_need_no_docker(self):
        self.up(nodes.Nodes())
        machines.down(BOX, nodes.Nodes(), progress.Silent())
        self.assertEqual(([], []), (self.docker.asked, self.stopped))

    def test_published_images_are_pulled_by_digest(self):
        self.up()
        self.assertEqual([*nodes.PUBLISHED.values()], self.pulled())
        self.assertIn('network create --label '
                      f'{LABEL.partition("=")[2]} kind', self.docker.asked)

    def test_stand_ins_are_there(self):
        self.up(self.machines(stand_ins=True))
        self.assertEqual([], self.pulled())

    def test_servers_have_the_networks_of_the_cloud(self):
        self.up(infrastructure='openstack')
        self.assertFalse([x for x in self.docker.asked if 'create' in x])

    def test_who_makes_containers_looks_again_when_all_have_gone(self):
        for infrastructure, stopped in (
                ('memory', ['capi']), ('openstack', ['capi', 'nova'])):
            self.stopped.clear()
            self.up(infrastructure=infrastructure)
            self.assertEqual(stopped, self.stopped)
        self.stopped.clear()
        self.docker.answer(ps='c1')
        self.up()
        self.assertEqual([], self.stopped)

    def test_docker_has_ended(self):
        self.docker.answer(version=None)
        e = self.assertRaises(errors.EnvironmentProblem, self.up)
        self.assertIn(docker_program.HOST, str(e))
        machines.down(BOX, self.machines(), progress.Silent())
        self.assertFalse([x for x in self.docker.asked if 'rm' in x])

    def test_down_removes_the_containers_of_this_sandbox(self):
        self.docker.answer(ps='c1\n')
        machines.down(BOX, self.machines(), progress.Silent())
        self.assertIn(f'ps --all --quiet --filter {LABEL}', self.docker.asked)
        self.assertIn('rm --force --volumes c1', self.docker.asked)
