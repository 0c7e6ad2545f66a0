# SPDX-License-Identifier: Apache-2.0


"""Attributes of Magnum's API for which Cluster API has nothing."""

from magnum_capi.driver.desired import spec
from tests.unit.driver import small_world
from tests.unit.driver import test_gather


class UnsupportedAttributesTest(test_gather.Base):

    def given(self, template=None, cluster=None):
        self.w.rows.templates[small_world.TEMPLATE].update(template or {})
        self.w.rows.clusters[small_world.CLUSTER].update(cluster or {})

    def test_each_is_refused(self):
        for cluster, template, says in (
                ({'docker_volume_size': 5}, {}, 'docker_volume_size is 5'),
                ({}, {'tls_disabled': True}, 'tls_disabled is True'),
                ({}, {'insecure_registry': 'r.example:5000'},
                 'insecure_registry is r.example:5000'),
                ({}, {'registry_enabled': True}, 'registry_enabled is True'),
                ({}, {'volume_driver': 'rexray'}, 'volume_driver is rexray'),
                ({}, {'apiserver_port': 8443}, 'apiserver_port is 8443'),
                # A cluster that does without that of its template.
                ({'master_lb_enabled': False}, {'master_lb_enabled': True},
                 'master_lb_enabled is False')):
            with self.subTest(says):
                self.setUpWorld()
                self.given(template, cluster)
                e = self.assertRaises(spec.InvalidSpec, self.plan,
                                      creating=True)
                self.assertIn(says, str(e))

    def test_what_cluster_api_does_anyway_is_taken(self):
        self.given({'volume_driver': 'cinder', 'apiserver_port': 6443,
                    'master_lb_enabled': False, 'tls_disabled': False})
        self.assertTrue(self.plan(creating=True).values)

    def test_cluster_that_lives_can_be_changed(self):
        # It was made when these were ignored.
        self.given({'docker_volume_size': 5, 'registry_enabled': True})
        self.assertTrue(self.plan().values)
