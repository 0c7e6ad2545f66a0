# SPDX-License-Identifier: Apache-2.0

"""Numbers of clusters and nodes."""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common.negative import refusals

NOTHING = {'clusters': 0, 'nodes': 0}


class StatsTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']
    min_microversion = '1.4'
    required_options = ()

    def require_no_clusters(self):
        """Skip if the project has clusters, as those of accounts.yaml may."""
        found = self.magnum.clusters.list_clusters()['clusters']
        if found:
            self.skipTest(f'The project has {len(found)} clusters already')

    @decorators.idempotent_id('4185c45f-e47d-49ca-83e1-9dae83e5d9f3')
    @decorators.attr(type='smoke')
    def test_member_of_a_project_without_clusters_sees_none(self):
        self.require_no_clusters()

        self.assertEqual(NOTHING, self.magnum.stats.show_stats())

    @decorators.idempotent_id('166e02da-0d66-462e-b0b9-ebfb8775d590')
    def test_the_own_project_can_be_named(self):
        self.require_no_clusters()
        project = self.os_primary.credentials.project_id

        self.assertEqual(
            NOTHING, self.magnum.stats.show_stats(project_id=project))

    @decorators.idempotent_id('7c8d8cd5-fa0b-478d-b53f-4e75a51cdd41')
    def test_admin_sees_those_of_a_project(self):
        self.require_no_clusters()
        project = self.os_primary.credentials.project_id

        self.assertEqual(
            NOTHING, self.admin_magnum.stats.show_stats(project_id=project))

    @decorators.idempotent_id('8cccb1eb-fa5f-47f3-bb07-0748719e7893')
    def test_admin_sees_those_of_all_projects(self):
        found = self.admin_magnum.stats.show_stats()

        self.assertGreaterEqual(found['clusters'], 0)
        self.assertGreaterEqual(found['nodes'], 0)

    @decorators.idempotent_id('da123687-8268-4c7a-a656-3e21d9593019')
    @decorators.attr(type='negative')
    def test_member_does_not_see_those_of_others(self):
        self.assertRaises(
            lib_exc.Forbidden, self.magnum.stats.show_stats,
            project_id=data_utils.rand_uuid_hex())


class BadStatsTest(base.BaseMagnumCapiTest):

    min_microversion = '1.4'
    required_options = ()

    @decorators.idempotent_id('f1ddd7ec-8e75-4ab4-9b93-af7c020aa6f1')
    @decorators.attr(type='negative')
    def test_types_that_do_not_exist(self):
        refusals.assert_refused_all(self, [
            ('stats', 'parameter', f'type={value!a}',
             lambda value=value: self.magnum.stats.show_stats(type=value))
            for value in ('balloon', '', "' OR 1=1 --", '\0', 'n' * 1000)])

    @decorators.idempotent_id('d659abd3-8bf9-4176-bd0d-3d4ce5af1db5')
    @decorators.attr(type='negative')
    def test_parameters_that_do_not_exist(self):
        refusals.assert_refused_all(self, [
            ('stats', 'parameter', 'colour',
             lambda: self.magnum.stats.show_stats(colour='blue'))])
