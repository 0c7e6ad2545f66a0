# SPDX-License-Identifier: Apache-2.0

"""Server groups that a cluster needs, and their places in its values."""

import dataclasses

import testtools

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import labels
from magnum_capi.driver.desired import placement
from tests.unit.driver.desired import test_values

PLANE = placement.CONTROL_PLANE
WORKER = test_values.GROUP.kube_name
RELEASE = test_values.SPEC.release


def wanted(given=None, group=None, chart=test_values.CHART, values=None):
    given = given or {}
    spec = dataclasses.replace(test_values.SPEC, labels=given, node_groups=(
        dataclasses.replace(test_values.GROUP, labels=(
            given if group is None else group)),))
    return placement.wanted(spec, labels.parse(given), labels.Policy(),
                            chart, values or {'controlPlane': {}})


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
        for part, expected in (('controlPlane', WORKER),
                               ('nodeGroupDefaults', PLANE)):
            values = {'controlPlane': {}, part: {'serverGroupId': 'x'}}
            self.assertEqual([expected], list(wanted(given, values=values)))

    def test_chart_without_them_refuses_the_label(self):
        chart = charts.Features((), None, (), False, server_groups=False)
        for given, number in (('none', 0), ('affinity', 1)):
            self.assertEqual(number, len([
                text for text in charts.refusals(labels.parse({
                    'server_group_policies': given}), chart)
                if 'server_group_policies' in text]))


class PlacedTest(testtools.TestCase):

    def test_ids_are_in_the_values(self):
        values = {'controlPlane': {}, 'nodeGroups': [
            {'name': WORKER}, {'name': 'other'}]}
        self.assertEqual(
            {'controlPlane': {'serverGroupId': 'a'}, 'nodeGroups': [
                {'name': WORKER, 'serverGroupId': 'b'}, {'name': 'other'}]},
            placement.placed(values, {PLANE: 'a', WORKER: 'b'}))
        self.assertEqual({}, values['controlPlane'])
