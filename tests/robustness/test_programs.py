# SPDX-License-Identifier: Apache-2.0
"""Single programs are killed while a cluster exists; ``up`` repairs."""

import time
import unittest

from tests.robustness import base
from tests.robustness import figures

TABLE = figures.Table(
    'kill -9 of one program while a cluster exists',
    'program', 'run', 'up/s', 'resized/s', '5xx or none', 'gone/s', 'left')

PROGRAMS = ('rabbitmq', 'mariadb', 'etcd', 'kube-controller-manager', 'capi',
            'keystone')


def setUpModule():
    unittest.addModuleCleanup(TABLE.show)


class ProgramsTest(base.SandboxTest):

    profile = 'full'

    def test_up_repairs(self):
        for name in PROGRAMS:
            for run in range(1, figures.RUNS + 1):
                with self.subTest(program=name, run=run):
                    self.once(name, run)

    def once(self, name, run):
        before = self.cloud.credentials()
        with self.cluster(f'without-{name}-{run}') as (uuid, stack_id):
            # given: the program is dead
            self.kill(name)
            dead = {s.name for s in self.box.status()
                    if s.state != 'RUNNING'}
            self.assertEqual({name}, dead)
            # when: the sandbox is repaired
            repair = self.up()
            self.assertEqual({'RUNNING'},
                             {s.state for s in self.box.status()})
            # then: a resize works
            self.cloud.answers.clear()
            start = time.monotonic()
            self.cloud.resize(uuid, 2)()
            self.assert_nodes(stack_id, 3)
            resized = time.monotonic() - start
            # and: a delete leaves nothing
            gone = self.delete(uuid)
            left = self.wait_nothing_left([stack_id], uuid, before)
            wrong = sum(n for code, n in self.cloud.answers.items()
                        if code == 0 or code >= 500)
            TABLE.add(name, run, repair, resized, wrong, gone,
                      len(left) or 'nothing')
            self.assertEqual([], left)
