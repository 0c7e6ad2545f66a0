# SPDX-License-Identifier: Apache-2.0

"""Programs are killed, and ``up`` brings them back."""

import time

import testscenarios

from magnum_capi import waiting
from tests.proofs.robustness import base

load_tests = testscenarios.load_tests_apply_scenarios

PROGRAMS = ('rabbitmq', 'mariadb', 'etcd', 'capi',
            'keystone')


class ProgramTest(base.RobustnessTest):
    """A program dies while a cluster exists."""

    scenarios = [(name, {'program': name}) for name in PROGRAMS]

    def test_up_repairs(self):
        (uuid, release), = self.clusters({'name': f'no-{self.program}'})
        # given: the program is dead
        self.box.kill(self.program)
        self.assertEqual({self.program}, {
            name for name, state in self.box.states().items()
            if state != 'RUNNING'})
        # when: the sandbox is repaired
        start = time.monotonic()
        self.box.up()
        repair = time.monotonic() - start
        self.assertEqual({'RUNNING'}, {*self.box.states().values()})
        # then: a resize works, and a delete leaves nothing
        self.user.answers.clear()
        start = time.monotonic()
        self.user.resize(uuid, 2)()
        self.box.wait_nodes(release, 3)
        self.tell(f'up {repair:.1f} s, resized '
                  f'{time.monotonic() - start:.1f} s, answers '
                  f'{dict(self.user.answers)}, 0 is for none')
        self.assert_deleted(uuid)


class ApiServerTest(base.RobustnessTest):
    """The API server of the management cluster dies during a resize.

    ``up`` starts the controllers again, too: see _stop_controllers_of_dead_api
    of magnum_capi_tempest/management/local.py.
    """

    def test_a_resize_goes_on(self):
        (uuid, release), = self.clusters({'name': 'api-server'})
        # given: Cluster API has the resize
        wait_resized = self.user.resize(uuid, 4)
        waiting.wait_for(
            lambda: self.user.observe(uuid).status, timeout=30,
            done=lambda status: status == 'UPDATE_IN_PROGRESS',
            what='the resize to begin', pace=waiting.Pace(0.01, 1.1, 0.03))
        # when: the API server dies and comes back
        self.box.kill('kube-apiserver')
        self.box.up()
        # then: it is finished, and a delete leaves nothing
        wait_resized()
        self.box.wait_nodes(release, 5)
        self.assert_deleted(uuid)
