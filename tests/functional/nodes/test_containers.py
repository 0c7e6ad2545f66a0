# SPDX-License-Identifier: Apache-2.0

"""The container engine, with a real dockerd; needs root and Linux."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import types
import urllib.request

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest import dockers
from magnum_capi_tempest import listeners
from magnum_capi_tempest import runmarks
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins
from tools.offline import containers
from tools.offline.containers import cgroups
from tools.offline.containers import engine
from tools.offline.containers import host
from tools.offline.images import archive
from tools.offline.images import layer
from tools.offline.images import loading
from tools.offline.images import recipes
from tools.offline import pins as offline

#: In the folder of the repository.
SCRIPT = ('-m', 'tools.offline.containers')

#: A published port that no program of this project uses.
PORT = 29876


class EngineTest(testtools.TestCase):
    """One folder with an image for all tests of a class."""

    IMAGE = 'example.org/listener:1'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        problem = containers.problem()
        if problem:
            raise cls.skipException(problem)
        temporary = fixtures.TempDir(rootdir='/tmp')
        temporary.setUp()
        cls.addClassCleanup(temporary.cleanUp)
        cls.folder = pathlib.Path(temporary.path)
        cls.listener = cls.folder / 'listener'
        found = go.find_go()
        processes.run(
            [found, 'build', '-trimpath', '-o', cls.listener, '.'],
            timeout=900, env=go.environment(found),
            cwd=pathlib.Path(__file__).with_name('listener'))
        cls.archive = cls.make_archive()
        cls.engine = containers.Engine(
            cls.folder / 'run', images=cls.folder / 'images')
        cls.addClassCleanup(cls.engine.down)

    @classmethod
    def make_archive(cls):
        recipe = recipes.Recipe('listener', (cls.IMAGE,), '1',
                                entrypoint=('/listener',),
                                command=('serve',))
        inside, out = cls.folder / 'layer.tar', cls.folder / 'listener.tar'
        layer.write(inside, [layer.Entry('/listener', cls.listener),
                             layer.Entry('/tmp', mode=0o1777)])
        layers = [archive.layer(inside)]
        image_id = archive.write(
            out, archive.config(recipe, layers, pins.architecture()),
            layers, recipe.references)
        return types.SimpleNamespace(
            name='listener', path=out, image_id=image_id,
            references=recipe.references)

    @classmethod
    def up(cls):
        access = cls.engine.up(progress.Silent())
        cls.load(access)
        return access

    @classmethod
    def load(cls, access):
        loading.load([cls.archive], dockers.Docker(access.docker_host),
                     progress.Silent())

    def client(self, access):
        client = access.client()
        self.addCleanup(client.close)
        return client

    def run_container(self, access, **kwargs):
        client = self.client(access)
        container = client.containers.run(
            self.IMAGE, detach=True, network='kind', **kwargs)
        container.reload()
        return container

    def address(self, container):
        networks = container.attrs['NetworkSettings']['Networks']
        return networks['kind']['IPAddress']

    def ask(self, container):
        """What a container's program reports about itself, by key."""
        url = f'http://{self.address(container)}:8080/'
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}))

        def answer():
            try:
                with opener.open(url, timeout=5) as response:
                    return response.read().decode()
            except OSError:
                return None
        text = waiting.wait_for(answer, done=bool, timeout=120, what=url)
        return dict(line.split(':', 1) for line in text.splitlines())

    def traces(self):
        """Traces that an engine may leave on this machine."""
        layout = self.engine.layout
        interfaces = [
            i['ifname'] for i in json.loads(processes.run(
                ['ip', '-json', 'link'], timeout=120)) if 'ifname' in i]
        mounts = pathlib.Path('/proc/mounts').read_text()
        return {
            'interfaces': [i for i in interfaces if i == layout.link],
            'mounts': [line for line in mounts.splitlines()
                       if str(self.folder) in line],
            'control groups': cgroups.find(layout.cgroup),
            'processes': runmarks.marked(self.engine.supervisor.directory),
            'files': sorted(layout.directory.rglob('*')),
            'containerd': pathlib.Path('/opt/containerd').exists()}


class RunningTest(EngineTest):
    """One engine for all tests of the class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.access = cls.up()

    def setUp(self):
        super().setUp()
        self.addCleanup(self._remove_containers)

    def _remove_containers(self):
        client = self.access.client()
        for container in client.containers.list(all=True):
            container.remove(force=True, v=True)
        client.close()

    def test_host_reaches_a_privileged_container(self):
        container = self.run_container(self.access, privileged=True)
        said = self.ask(container)
        held = int(said['CapBnd'], 16)
        self.assertTrue(held >> host.CAPABILITIES['CAP_SYS_ADMIN'] & 1)
        self.assertEqual(0, held & ~host.inspect().capabilities)
        self.assertEqual('1', said['Pid'].strip())

    def test_what_this_host_refuses_is_lowered(self):
        container = self.run_container(
            self.access, oom_score_adj=-500, cap_add=['ALL'])
        self.assertEqual('1', self.ask(container)['Pid'].strip())

    def test_containers_reach_each_other(self):
        one = self.run_container(self.access)
        other = self.run_container(self.access)
        self.ask(one)
        code, said = other.exec_run(
            ['/listener', 'get', f'http://{self.address(one)}:8080/'])
        self.assertEqual(0, code, said)

    def test_nothing_listens_on_the_host(self):
        container = self.run_container(
            self.access, ports={'8080/tcp': PORT})
        self.ask(container)
        self.assertEqual([], [found for found in listeners.listening()
                              if found.port == PORT])
        said = processes.run(
            self.access.run_in([self.listener, 'get',
                                f'http://127.0.0.1:{PORT}/']), timeout=120)
        self.assertIn('Pid:', said)

    def test_containers_do_not_get_out(self):
        container = self.run_container(self.access)
        self.ask(container)
        # TEST-NET-2 of RFC 5737 does not exist anywhere.
        code, said = container.exec_run(
            ['/listener', 'get', 'http://198.51.100.1/'])
        self.assertEqual(1, code)
        self.assertRegex(said.decode(), 'unreachable|no route')

    def test_second_up_changes_nothing(self):
        container = self.run_container(self.access)
        again = self.engine.up(progress.Silent())
        self.assertEqual(self.access, again)
        container.reload()
        self.assertEqual('running', container.status)

    def test_api_is_the_owners(self):
        self.assertEqual(
            0o600, self.engine.layout.socket.stat().st_mode & 0o777)
        self.assertEqual(
            0, self.engine.layout.directory.stat().st_mode & 0o077)

    def test_nodes_count_for_more_than_one_process(self):
        shares = [(folder / name).read_text().strip()
                  for folder in cgroups.find(self.engine.layout.cgroup)
                  for name in ('cpu.shares', 'cpu.weight')
                  if (folder / name).exists()]
        self.assertIn(shares, (['20480'], ['2000']))

    def test_store_has_one_engine(self):
        other = containers.Engine(
            self.folder / 'other', images=self.folder / 'images')
        self.addCleanup(other.down)
        e = self.assertRaises(errors.EnvironmentProblem, other.up,
                              progress.Silent())
        self.assertIn(str(self.folder / 'run'), str(e))

    def test_two_engines_side_by_side(self):
        other = containers.Engine(
            self.folder / 'other', images=self.folder / 'more')
        self.addCleanup(shutil.rmtree, self.folder / 'more')
        self.addCleanup(other.down)
        access = other.up(progress.Silent())
        self.assertNotEqual(self.access.network, access.network)
        self.load(access)
        self.assertEqual('1', self.ask(
            self.run_container(access))['Pid'].strip())


class LifeTest(EngineTest):

    def setUp(self):
        super().setUp()
        self.addCleanup(self.engine.down)

    def test_down_leaves_nothing_but_images(self):
        before = self.traces()
        self.assertEqual([], before['control groups'])
        self.ask(self.run_container(self.up(), privileged=True,
                                    volumes=['/data']))
        self.engine.down()
        self.assertEqual(before, self.traces())
        containers_of = self.engine.layout.data / 'containers'
        self.assertEqual([], list(containers_of.iterdir()))
        self.assertFalse(self.engine.layout.directory.exists())

    def test_after_a_kill_the_next_one_repairs(self):
        before = self.traces()
        access = self.up()
        self.ask(self.run_container(
            access, privileged=True, restart_policy={'Name': 'always'}))
        self.assertNotEqual([], runmarks.sweep(
            self.engine.supervisor.directory))
        left = self.traces()
        # Linux has ended everything else.
        for kind in ('mounts', 'processes'):
            self.assertEqual([], left[kind])
        self.assertIsNone(self.engine.access())
        again = self.engine.up(progress.Silent())
        client = self.client(again)
        self.assertEqual([], client.containers.list(all=True))
        self.assertEqual([self.IMAGE], client.images.list()[0].tags)
        self.engine.down()
        self.assertEqual(before, self.traces())

    def test_ctrl_c_in_the_middle_of_a_start(self):
        before = self.traces()
        command = subprocess.Popen(
            [sys.executable, *SCRIPT, 'up', '--directory',
             self.engine.layout.directory],
            env={**os.environ, engine.STORE_VARIABLE:
                 str(self.engine.layout.store)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(command.communicate)
        self.addCleanup(command.kill)
        waiting.wait_for(
            lambda: runmarks.marked(self.engine.supervisor.directory),
            done=bool, timeout=600, what='a process of the engine',
            # The engine is ready within a second of its first process.
            pace=waiting.Pace(first=0.02, factor=1, most=0.02))
        command.send_signal(signal.SIGINT)
        self.assertNotEqual(0, command.wait(timeout=600))
        self.assertEqual(before, self.traces())


class RuntimeTest(testtools.TestCase):
    """The Go program that runs runc."""

    def test_go(self):
        found = go.find_go()
        env = go.environment(found)
        folder = offline.load().programs['runc-nores'].build.path
        for command in (['vet', './...'], ['test', './...']):
            processes.run([found, *command], timeout=600, env=env,
                          cwd=folder, merge=True)
        listed = processes.run([found.parent / 'gofmt', '-l', '.'],
                               timeout=600, env=env, cwd=folder)
        self.assertEqual('', listed)
