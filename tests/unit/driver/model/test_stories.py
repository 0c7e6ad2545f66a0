# SPDX-License-Identifier: Apache-2.0

"""Short stories, one of each kind of defect that drivers have had.

Those that hypothesis makes are others each time the model changes; these are
played in each run. A story that has failed there is added here.
"""

from tests.lib import doors
from tests.unit.driver.model import base

_MINUTE, _DAY = 60, 24 * 60 * 60
_SCALED = {'auto_scaling_enabled': 'true'}


class StoriesTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.model = self.new_model()
        # At the end, all must be as it was asked for.
        self.addCleanup(self._end)

    def _end(self):
        self.model.holds()
        self.model.quiet()

    def _first(self, **labels):
        self.model.first('alice', 2, labels, {}, 0, cached=True)

    def _group(self, bounds=None, **labels):
        self.model.add_group(0, 'one', 2, 'bob', bounds, labels, None, 0)

    def _resize(self, count, disturbance=None):
        self.model.resize(0, 1, count, 'alice', disturbance, 0, False)
        self.model.holds()

    def test_bounds_of_a_group_are_its_own(self):
        self._first(**_SCALED)
        self._group((1, 4))

    def test_version_is_that_of_the_oldest_node(self):
        self._first()
        self.model.upgrade(0, 'alice', None, None, 0)
        self.model.work(8, 1)

    def test_upgrade_by_another_conductor(self):
        self._first()
        self.model.poll(1, None)
        self.model.upgrade(0, 'alice', None, None, 0)
        self.model.quiet()
        self.model.resize(0, 1, 3, 'alice', None, 1, False)

    def test_options_reach_nobody_before_an_upgrade(self):
        self._first()
        self._group()
        self.model.quiet()
        self.model.operator_changes_options('az1', '40', 'false')
        self._resize(3)

    def test_server_group_goes_with_its_node_group(self):
        self._first()
        self._group(server_group_policies='anti-affinity')
        self.model.quiet()
        self.model.remove_group(0, 'one', 'alice', None, 0)

    def test_machine_that_waits_for_more_than_a_day(self):
        self._first()
        self.model.machine_waits(0, _DAY + _MINUTE, 0)

    def test_creation_may_take_more_than_a_day(self):
        self._first()
        self.model.creation_ends(24 * 60 + 30, 0)

    def test_update_may_take_more_than_a_day(self):
        self._first()
        self.model.update_ends(0, 0, 24 * 60 + 30)

    def test_failure_may_last_for_more_than_a_day(self):
        self._first()
        self.model.failure_lasts(0, 0, _DAY + 30 * _MINUTE)

    def test_update_waits_for_nodes(self):
        self._first()
        self.model.goes_wrong(0, 'stuck')
        self._resize(3)
        self.model.work(8, 0)

    def test_update_waits_for_addons(self):
        self._first()
        self.model.goes_wrong(0, 'waiting')
        self._resize(3)
        self.model.work(8, 0)

    def test_request_while_another_one_ends(self):
        self._first()
        for after in (7, 10):
            self._resize(3)
            self.model.w.controllers.settle()
            self.model.w.clock.sleep(40)
            self.model.interrupted(
                0, 1, 2, 0, False, 0, doors.KUBE, after, 'resize', 0)
            self.model.holds()
            self.model.quiet()

    def test_process_stands_still(self):
        self._first()
        for after in (3, 12):
            self._resize(3)
            self.model.interrupted(
                0, 1, 2, 0, False, 1, doors.KUBE, after, 'resize', 61)
            self.model.holds()
            self.model.quiet()

    def test_owner_is_disabled_and_enabled(self):
        self._first()
        self.model.owner_is_away(0, {0, 1}, _MINUTE)

    def test_ill_node_of_a_fixed_group_beside_a_scaled_one(self):
        self._first(**_SCALED)
        self._group()
        self.model.quiet()
        self.model.node_is_ill(0, 1, 0, young=True)

    def test_state_is_unreadable(self):
        self._first()
        self.model.state_is_unreadable(0, 0, '{')
        self.model.state_is_unreadable(0, 1, '{"schema": 1000}')

    def test_workers_made_by_hand(self):
        self._first()
        self.model.made_by_hand(0)
        self._resize(3)
        self.model.quiet()
        self.model.delete(0, 'bob', None, 0)

    def test_others_of_the_same_names(self):
        self._first()
        self.model.service(0, True)
        self.model.holds()
        self.model.delete(0, 'alice', None, 0)

    def test_node_to_remove(self):
        self._first()
        self.model.resize(0, 1, 1, 'alice', None, 0, False, remove=True)
