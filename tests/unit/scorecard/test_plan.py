# SPDX-License-Identifier: Apache-2.0

"""What a run takes, from what its tests ask for."""

import io
from unittest import mock

from docutils import core
import testtools

from magnum_capi_tempest.cli import tempest_plan
from magnum_capi_tempest.scorecard import plan
from magnum_capi_tempest.scorecard import rst
from tests import suite_table

COSTS = (plan.Cost('api.test_x.ATest', 1, 0),
         plan.Cost('api.test_x.ATest.test_a', 0, 2),
         plan.Cost('api.test_x.ATest.test_b', 2, 0),
         plan.Cost('api.test_x.BTest.test_a', 1, 1))


class PlanTest(testtools.TestCase):

    def test_a_class_has_its_own_clusters_and_those_of_a_test(self):
        self.assertEqual({'api.test_x.ATest': 3, 'api.test_x.BTest': 1},
                         plan.classes(COSTS))

    def test_workers_take_the_largest_classes(self):
        found = [plan.plan(COSTS, workers=workers) for workers in (1, 2, 3)]

        self.assertEqual([3, 4, 4], [one.at_once for one in found])
        self.assertEqual([6 + 5, 8 + 10, 8 + 10],
                         [one.nodes for one in found])

    def test_time(self):
        one, two = (plan.plan(COSTS, workers=workers, minutes=60)
                    for workers in (1, 2))

        # Four clusters that come and go, and three changes.
        self.assertEqual((4, 3, 8.4, 4.2), (
            one.clusters, one.changes, one.hours, two.hours))

    def test_sizes(self):
        self.assertEqual(3 * (3 + 2) + 5, plan.plan(
            COSTS, workers=1, masters=3, nodes=2).nodes)


class RecordedTest(testtools.TestCase):

    def test_costs_are_those_of_the_classes(self):
        names = suite_table.operations()

        self.assertEqual(
            tuple(cost for cost in suite_table.costs(names)
                  if cost.clusters or cost.changes), plan.costs(),
            '"python -m tests.suite_table" writes the tables anew')

    def test_what_runs_have_made(self):
        # Written down by a run: leaks.files.read_made.
        found = {cost.id: cost.clusters for cost in plan.costs()}

        for ident, clusters in (
                ('scenario.test_cluster_upgrade.UpgradeTest', 1),
                ('scenario.test_strangers.StrangersTest', 2),
                ('scenario.test_cluster_lifecycle.ClusterLifecycleTest.'
                 'test_create_use_resize_delete', 1)):
            self.assertEqual(clusters, found[ident], ident)

    def test_what_is_refused_takes_nothing(self):
        for cost in plan.costs():
            self.assertNotIn('negative', cost.id)


class ShownTest(testtools.TestCase):

    def test_in_words(self):
        out = io.StringIO()
        command = tempest_plan.Plan(mock.Mock(stdout=out), None)

        code = command.run(command.get_parser('x').parse_args(
            ['--minutes', '7.5', '-c', '1', '--nodes', '2']))

        self.assertEqual(0, code)
        self.assertIn('If a cluster takes 7.5 min', out.getvalue())
        self.assertIn('With 1 workers, at most ', out.getvalue())
        self.assertIn('floating IPs', out.getvalue())

    def test_in_the_documentation(self):
        tree = core.publish_doctree(rst.plans(COSTS), settings_overrides={
            'report_level': 1, 'halt_level': 2})

        self.assertIn('15 min', tree.astext())
