# SPDX-License-Identifier: Apache-2.0


"""Attributes of Magnum's API for which Cluster API has nothing."""

from magnum_capi.driver.desired import spec
from tests.unit.driver import small_world
from tests.unit.driver import test_gather


class UnsupportedAttributesTest(test_gather.Base):

    def assert_refused(self, *, says, template=None, cluster=None):
        self.store.templates[small_world.TEMPLATE].update(template or {})
        self.store.clusters[small_world.CLUSTER].update(cluster or {})
        e = self.assertRaises(spec.InvalidSpec, self.plan, creating=True)
        self.assertIn(says, str(e))

    def test_volume_for_docker(self):
        self.assert_refused(cluster={'docker_volume_size': 5},
                            says='docker_volume_size is 5')

    def test_no_tls(self):
        self.assert_refused(template={'tls_disabled': True},
                            says='tls_disabled is True')

    def test_insecure_registry(self):
        self.assert_refused(
            template={'insecure_registry': 'registry.example:5000'},
            says='insecure_registry is registry.example:5000')

    def test_registry_of_the_cluster(self):
        self.assert_refused(template={'registry_enabled': True},
                            says='registry_enabled is True')

    def test_volume_driver(self):
        self.assert_refused(template={'volume_driver': 'rexray'},
                            says='volume_driver is rexray')

    def test_port_of_the_api(self):
        self.assert_refused(template={'apiserver_port': 8443},
                            says='apiserver_port is 8443')

    def test_cluster_that_does_without_the_load_balancer_of_its_template(self):
        self.assert_refused(template={'master_lb_enabled': True},
                            cluster={'master_lb_enabled': False},
                            says='master_lb_enabled is False')

    def test_all_are_told_at_once(self):
        self.assert_refused(
            template={'tls_disabled': True, 'registry_enabled': True},
            says='registry_enabled is True')
        self.assert_refused(says='tls_disabled is True')

    def test_what_cluster_api_does_anyway_is_taken(self):
        self.store.templates[small_world.TEMPLATE].update(
            volume_driver='cinder', apiserver_port=6443,
            master_lb_enabled=False, tls_disabled=False)
        self.assertTrue(self.plan(creating=True).values)

    def test_cluster_that_lives_can_be_changed(self):
        # It was made when these were ignored.
        self.store.templates[small_world.TEMPLATE].update(
            docker_volume_size=5, registry_enabled=True)
        self.assertTrue(self.plan().values)
