# SPDX-License-Identifier: Apache-2.0

"""Server groups that are wanted, and those that stay as they were."""

import dataclasses

import testtools

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import labels
from magnum_capi.driver.desired import pins
from magnum_capi.driver.desired import placement
from tests.unit.driver.desired import test_values

PLANE = placement.CONTROL_PLANE
WORKER = test_values.GROUP.uuid
RELEASE = test_values.SPEC.release


def wanted(given=None, group=None, chart=test_values.CHART, overlays=()):
    given = given or {}
    spec = dataclasses.replace(test_values.SPEC, labels=given, node_groups=(
        dataclasses.replace(test_values.GROUP, labels=(
            given if group is None else group)),))
    return placement.wanted(spec, labels.parse(given), labels.Policy(),
                            chart, overlays)


class WantedTest(testtools.TestCase):

    def test_control_plane_alone_by_default(self):
        self.assertEqual({PLANE: placement.Wanted(
            f'{RELEASE}-control-plane', 'soft-anti-affinity', False)},
            wanted())

    def test_all_parts_as_the_cluster_asks(self):
        found = wanted({'server_group_policies': 'anti-affinity'})
        self.assertEqual({PLANE, WORKER}, set(found))
        self.assertEqual({('anti-affinity', True)}, {
            (group.policy, group.asked) for group in found.values()})
        self.assertEqual(2, len({group.name for group in found.values()}))

    def test_node_group_asks_by_itself(self):
        found = wanted({'server_group_policies': 'none'},
                       {'server_group_policies': 'affinity'})
        self.assertEqual([WORKER], list(found))

    def test_none_and_charts_without_any(self):
        self.assertEqual({}, wanted({'server_group_policies': 'none'}))
        self.assertEqual({}, wanted(chart=dataclasses.replace(
            test_values.CHART, server_groups=False)))

    def test_overlay_that_names_one_has_taken_care(self):
        given = {'server_group_policies': 'affinity'}
        overlay = {'controlPlane': {'serverGroupId': 'x'}}
        self.assertEqual([WORKER], list(wanted(
            given, overlays=[('o', overlay)])))
        overlay = {'nodeGroupDefaults': {'serverGroupId': 'x'}}
        self.assertEqual([PLANE], list(wanted(
            given, overlays=[('o', overlay)])))

    def test_chart_without_them_refuses_the_label(self):
        chart = charts.Features((), None, (), False, server_groups=False)
        for given, number in (('none', 0), ('affinity', 1)):
            self.assertEqual(number, len([
                text for text in charts.refusals(labels.parse({
                    'server_group_policies': given}), chart)
                if 'server_group_policies' in text]))


class KnownTest(testtools.TestCase):

    def test_what_is_decided_is_not_asked_again(self):
        found = wanted({'server_group_policies': 'affinity'})
        self.assertEqual({WORKER}, set(placement.missing(found, {PLANE: ''})))
        self.assertEqual({PLANE, WORKER}, set(placement.missing(found, None)))

    def test_cluster_of_which_nothing_is_known(self):
        """A resize makes none."""
        known = pins.Pins(server_groups=placement.NOBODY)
        self.assertEqual({}, placement.missing(wanted(), known.server_groups))
        # An upgrade decides anew.
        self.assertEqual({PLANE}, set(placement.missing(
            wanted(), known.kept_in_upgrade().server_groups)))

    def test_pins_are_read_as_they_were_written(self):
        made = pins.Pins(server_groups={PLANE: 'id', WORKER: ''})
        self.assertEqual(made.server_groups, pins.load(
            pins.dump(made)).server_groups)

    def test_that_a_part_has_none_is_a_decision_too(self):
        spec = test_values.SPEC
        self.assertEqual({PLANE: '', WORKER: ''},
                         placement.decided(spec, (), None))
        self.assertEqual({WORKER: ''},
                         placement.decided(spec, {PLANE}, None))
        self.assertEqual({PLANE: 'id', WORKER: '', 'gone': 'g'},
                         placement.decided(spec, (), {
                             PLANE: 'id', 'gone': 'g'}))

    def test_ids_are_in_the_cluster(self):
        spec = placement.with_group_ids(
            test_values.SPEC, {PLANE: 'a', WORKER: ''})
        self.assertEqual(('a', None), (
            spec.server_group, spec.node_groups[0].server_group))
