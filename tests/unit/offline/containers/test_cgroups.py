# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import subprocess

import fixtures
import testtools

from tools.offline.containers import cgroups


class CgroupsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MonkeyPatch(
            'tools.offline.containers.host.mounts',
            lambda text: [(str(self.top / name), 'cgroup', frozenset([name]))
                          for name in ('cpu', 'memory')]))
        for name in ('cpu', 'memory'):
            (self.top / name / 'mine/node/kubelet').mkdir(parents=True)
            (self.top / name / 'other').mkdir()

    def test_removes_a_tree_in_all_hierarchies(self):
        cgroups.remove('mine')
        for name in ('cpu', 'memory'):
            self.assertEqual(['other'], os.listdir(self.top / name))

    def test_kills_what_is_in_it(self):
        process = subprocess.Popen(['sleep', '60'])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        file = self.top / 'cpu/mine/node/cgroup.procs'
        file.write_text(f'{process.pid}\n')
        # The kernel removes such files with the folder.
        self.useFixture(fixtures.MonkeyPatch(
            'tools.offline.containers.cgroups._kill',
            self._kill_and_empty(cgroups._kill)))
        cgroups.remove('mine')
        self.assertEqual(-9, process.wait(timeout=60))

    def _kill_and_empty(self, kill):
        def both(folder):
            kill(folder)
            (folder / 'cgroup.procs').unlink(missing_ok=True)
        return both

    def test_nodes_count_for_more_than_one_process(self):
        # The kernel makes this file with the folder.
        (self.top / 'cpu/mine/cpu.shares').write_text('1024\n')
        cgroups.make('mine')
        self.assertEqual(
            '20480', (self.top / 'cpu/mine/cpu.shares').read_text())
        self.assertEqual(['node'], os.listdir(self.top / 'memory/mine'))
