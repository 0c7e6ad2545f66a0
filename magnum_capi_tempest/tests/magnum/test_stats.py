# SPDX-License-Identifier: Apache-2.0

"""Numbers of clusters and nodes, and Magnum's own services."""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base

NOTHING = {'clusters': 0, 'nodes': 0}


class StatsTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']
    min_microversion = '1.4'
    uses_templates = False

    @decorators.idempotent_id('4185c45f-e47d-49ca-83e1-9dae83e5d9f3')
    @decorators.attr(type='smoke')
    def test_a_project_without_clusters_has_none(self):
        # Those of accounts.yaml may have some.
        found = self.magnum.clusters.list_clusters()['clusters']
        if found:
            self.skipTest(f'The project has {len(found)} clusters already')
        project = self.os_primary.credentials.project_id

        self.assertEqual(NOTHING, self.magnum.stats.show_stats())
        for magnum in (self.magnum, self.admin_magnum):
            self.assertEqual(
                NOTHING, magnum.stats.show_stats(project_id=project))

    @decorators.idempotent_id('8cccb1eb-fa5f-47f3-bb07-0748719e7893')
    def test_only_admins_see_those_of_others(self):
        found = self.admin_magnum.stats.show_stats()

        self.assertGreaterEqual(found['clusters'], 0)
        self.assertGreaterEqual(found['nodes'], 0)
        self.assertRaises(
            lib_exc.Forbidden, self.magnum.stats.show_stats,
            project_id=data_utils.rand_uuid_hex())

    @decorators.idempotent_id('eb1dc3cf-0f92-49e2-8a55-b71f5d70905c')
    @decorators.attr(type='smoke')
    def test_only_admins_see_that_a_conductor_is_up(self):
        services = self.admin_magnum.mservices.list_mservices()['mservices']

        states = [s['state'] for s in services
                  if s['binary'] == 'magnum-conductor']
        self.assertIn('up', states)
        self.assertRaises(lib_exc.Forbidden,
                          self.magnum.mservices.list_mservices)
