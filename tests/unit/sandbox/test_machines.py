# SPDX-License-Identifier: Apache-2.0

import pathlib
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox import machines
from magnum_capi_sandbox import nodes
from magnum_capi_tempest import containers
from magnum_capi_tempest import images
from tests.unit.sandbox import archives
from tests.unit.sandbox import samples


class Engine:
    """The engine, on paper."""

    def __init__(self, directory, done):
        self.directory = directory
        self.done = done
        self.there = []
        self.layout = types.SimpleNamespace(store=directory)

    def access(self):
        return self if 'up' in self.done else None

    def up(self, progress):
        self.done.append('up')
        return self

    def load(self, wanted, progress):
        self.done.append([a.name for a in wanted])
        self.there += wanted

    def missing(self, wanted):
        return [a for a in wanted if a not in self.there]

    def down(self):
        self.done.append('down')


class MachinesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.done, self.free = [], 1 << 50
        self.wanted = archives.inventory(
            archives.node('v1.34.9', size=1 << 30),
            archives.image('haproxy', 'kindest/haproxy:v1', size=1 << 20))
        for thing, name, value in (
                (containers, 'Engine', lambda d, s: self.engine),
                (images, 'inventory', archives.Reader(lambda: self.wanted)),
                (machines.disk, 'require', self.require)):
            self.useFixture(fixtures.MockPatchObject(thing, name, value))
        self.engine = Engine(self.directory, self.done)
        self.asked, self.stopped = [], []
        self.supervisor = types.SimpleNamespace(stop=self.stopped.append)

    def require(self, need, paths, what, moved_by):
        self.asked.append(need)
        if need > self.free:
            raise errors.EnvironmentProblem('No disk space', hint=moved_by)

    def up(self, kind=nodes.DOCKER):
        return machines.up(self.directory, samples.a_spec(
            nodes=kind, images='/images',
            machines=nodes.Nodes(kind, '/images')), self.supervisor,
            progress.Silent())

    def test_nodes_in_memory_need_no_engine(self):
        self.assertIsNone(self.up(nodes.MEMORY))
        machines.down(self.directory, None)
        self.assertEqual([], self.done)

    def test_machines_and_load_balancer_are_loaded(self):
        self.assertEqual(
            f'unix://{self.directory}/containers/docker.sock', self.up())
        self.assertEqual(['up', ['node-v1.34.9', 'haproxy']], self.done)

    def test_controllers_look_again_at_clusters_of_a_lost_engine(self):
        self.up()
        self.up()
        self.assertEqual(['capi'], self.stopped)
        self.done.clear()
        self.up()
        self.assertEqual(['capi', 'capi'], self.stopped)

    def test_nothing_is_loaded_without_room(self):
        self.free = 1 << 30
        error = self.assertRaises(errors.EnvironmentProblem, self.up)
        self.assertEqual('MAGNUM_CAPI_CONTAINERS_DIR', error.hint)
        self.assertEqual(['up'], self.done)

    def test_less_room_is_needed_for_images_that_are_there(self):
        self.up()
        self.up()
        self.assertEqual(
            [machines.CLUSTER, True],
            [self.asked[1], self.asked[0] > self.asked[1] + (1 << 30)])

    def test_down_ends_the_engine_that_is_there(self):
        (self.directory / 'containers').mkdir()
        machines.down(self.directory, None)
        self.assertEqual(['down'], self.done)
