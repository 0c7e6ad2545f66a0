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
    return placement.server_groups(
        spec, labels.parse(given), labels.Policy(), chart,
        values or {'controlPlane': {}})


class WantedTest(testtools.TestCase):

    def test_as_the_cluster_and_its_node_groups_ask(self):
        soft = (f'{RELEASE}-control-plane', 'soft-anti-affinity', False)
        for given, group, expected in (
                ({}, {}, {PLANE: soft}),
                ({'server_group_policies': 'none'}, None, {}),
                ({'server_group_policies': 'anti-affinity'}, None, {
                    PLANE: (f'{RELEASE}-control-plane', 'anti-affinity',
                            True),
                    WORKER: (f'{RELEASE}-{WORKER}', 'anti-affinity', True)}),
                ({'server_group_policies': 'none'},
                 {'server_group_policies': 'affinity'},
                 {WORKER: (f'{RELEASE}-{WORKER}', 'affinity', True)})):
            self.assertEqual(
                {key: placement.ServerGroup(*one)
                 for key, one in expected.items()}, wanted(given, group))
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
