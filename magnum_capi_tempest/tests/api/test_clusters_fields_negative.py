# SPDX-License-Identifier: Apache-2.0

"""Clusters with invalid values of their fields.

There is one test per field; :mod:`.common.negative.bad_input` has the values
for its kind. A wrongly accepted value creates a cluster, which is deleted like
all others.
"""

from tempest.lib import decorators

from magnum_capi_tempest.tests.common.negative import refusals


class ClusterFieldsTest(refusals.BaseRefusalsTest):

    # Up to 1.9, a template that does not exist is a 400.
    min_microversion = '1.10'

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        cls.template = cls.create_class_template()

    def create(self, **fields):
        """Request a cluster; a wrongly accepted one is cleaned up."""
        uuid = self.request_cluster(self.template, **fields)
        return self.magnum.clusters.show_cluster(uuid)

    def assert_refuses(self, field, kind):
        self.assert_field_refuses(
            kind, lambda value: self.create(**{field: value}))

    @decorators.idempotent_id('e466e431-b715-433c-bfba-c88273fe4185')
    @decorators.attr(type='negative')
    def test_name(self):
        self.assert_refuses('name', 'reference')

    @decorators.idempotent_id('ef027648-7cf4-4cb0-805f-3241e87c7191')
    @decorators.attr(type='negative')
    def test_cluster_template_id(self):
        self.assert_refuses('cluster_template_id', 'template')

    @decorators.idempotent_id('3e4b0597-158d-4004-ace7-2845a46e449f')
    @decorators.attr(type='negative')
    def test_keypair(self):
        self.assert_refuses('keypair', 'slow reference')

    @decorators.idempotent_id('c1d22580-3d8c-47dc-9ce7-f473f9db3ff5')
    @decorators.attr(type='negative')
    def test_flavor_id(self):
        self.assert_refuses('flavor_id', 'slow reference')

    @decorators.idempotent_id('fa68eb73-59bc-46aa-be6e-7c9c3df36901')
    @decorators.attr(type='negative')
    def test_master_flavor_id(self):
        self.assert_refuses('master_flavor_id', 'slow reference')

    @decorators.idempotent_id('bba62c24-b94f-4ab9-be92-f374c4daf554')
    @decorators.attr(type='negative')
    def test_fixed_network(self):
        self.assert_refuses('fixed_network', 'slow reference')

    @decorators.idempotent_id('f302dae4-f28e-4e85-a098-650295752f3e')
    @decorators.attr(type='negative')
    def test_fixed_subnet(self):
        self.assert_refuses('fixed_subnet', 'slow reference')

    @decorators.idempotent_id('2069423b-9f23-4d6e-8dd2-52be1a35c17d')
    @decorators.attr(type='negative')
    def test_node_count(self):
        self.assert_refuses('node_count', 'count')

    @decorators.idempotent_id('0c52750f-e766-4e17-af2a-e8654dc88116')
    @decorators.attr(type='negative')
    def test_master_count(self):
        self.assert_refuses('master_count', 'count')

    @decorators.idempotent_id('92c4e7f5-63fa-4a7d-80c3-2a4d445c3951')
    @decorators.attr(type='negative')
    def test_docker_volume_size(self):
        self.assert_refuses('docker_volume_size', 'count')

    @decorators.idempotent_id('bd3f088a-dc7f-4c87-af98-8d1698a42d14')
    @decorators.attr(type='negative')
    def test_create_timeout(self):
        self.assert_refuses('create_timeout', 'count')

    @decorators.idempotent_id('e82d045e-0875-409a-b53b-a602267a8ce8')
    @decorators.attr(type='negative')
    def test_labels(self):
        self.assert_refuses('labels', 'labels')

    @decorators.idempotent_id('17e8a1a1-5482-4754-991c-446a934ed3c8')
    @decorators.attr(type='negative')
    def test_merge_labels(self):
        self.assert_refuses('merge_labels', 'boolean')

    @decorators.idempotent_id('61af65da-b6c2-456f-9733-7bedcad100ca')
    @decorators.attr(type='negative')
    def test_floating_ip_enabled(self):
        self.assert_refuses('floating_ip_enabled', 'boolean')

    @decorators.idempotent_id('a2340e24-0ea4-4029-ad9c-f47ca324c62e')
    @decorators.attr(type='negative')
    def test_master_lb_enabled(self):
        self.assert_refuses('master_lb_enabled', 'boolean')

    @decorators.idempotent_id('5a234bee-0c79-438f-b7ce-6529162b9467')
    @decorators.attr(type='negative')
    def test_status(self):
        self.assert_refuses('status', 'read-only')

    @decorators.idempotent_id('3729a740-523f-460b-919d-1a2510221a9d')
    @decorators.attr(type='negative')
    def test_health_status(self):
        self.assert_refuses('health_status', 'read-only')

    @decorators.idempotent_id('bf3a0257-d3a3-44e2-b0df-bd2df3ee1dbd')
    @decorators.attr(type='negative')
    def test_stack_id(self):
        self.assert_refuses('stack_id', 'read-only')

    @decorators.idempotent_id('f4d3aaf2-ac86-412d-82b9-79398c7de3ae')
    @decorators.attr(type='negative')
    def test_cluster_id(self):
        self.assert_refuses('cluster_id', 'read-only')

    @decorators.idempotent_id('cc921dd7-3882-4490-a9e4-35e3e697ebda')
    @decorators.attr(type='negative')
    def test_project_id(self):
        self.assert_refuses('project_id', 'read-only')

    @decorators.idempotent_id('21e55433-9e93-4452-8004-5e9d72c55d73')
    @decorators.attr(type='negative')
    def test_user_id(self):
        self.assert_refuses('user_id', 'read-only')

    @decorators.idempotent_id('e1c9d38e-0629-4c79-ac2c-2f963bb1f127')
    @decorators.attr(type='negative')
    def test_api_address(self):
        self.assert_refuses('api_address', 'read-only')

    @decorators.idempotent_id('9407a8d5-f782-4494-b78e-70ac69ecb639')
    @decorators.attr(type='negative')
    def test_coe_version(self):
        self.assert_refuses('coe_version', 'read-only')

    @decorators.idempotent_id('69993994-eff1-4a58-91b2-91c32a099857')
    @decorators.attr(type='negative')
    def test_container_version(self):
        self.assert_refuses('container_version', 'read-only')

    @decorators.idempotent_id('9ad3b0a8-e168-43ab-9b2d-118e357bc62c')
    @decorators.attr(type='negative')
    def test_node_addresses(self):
        self.assert_refuses('node_addresses', 'read-only')

    @decorators.idempotent_id('c31237fe-fbff-4bb2-805c-cdb3594e0a5d')
    @decorators.attr(type='negative')
    def test_master_addresses(self):
        self.assert_refuses('master_addresses', 'read-only')

    @decorators.idempotent_id('801147e2-f69c-4425-bb12-51c0d9a04671')
    @decorators.attr(type='negative')
    def test_links(self):
        self.assert_refuses('links', 'links')

    @decorators.idempotent_id('ba967d7c-567e-420a-a187-7bdf310a64d4')
    @decorators.attr(type='negative')
    def test_created_at(self):
        self.assert_refuses('created_at', 'date')

    @decorators.idempotent_id('e89fad9d-77ed-4f6d-b1be-e77dc94bccc7')
    @decorators.attr(type='negative')
    def test_updated_at(self):
        self.assert_refuses('updated_at', 'date')

    @decorators.idempotent_id('1a664f85-a2ec-4a5b-9b27-6435ce364091')
    @decorators.attr(type='negative')
    def test_no_masters(self):
        self.assert_refused_all([
            ('count', 'zero', lambda: self.create(master_count=0))])

    @decorators.idempotent_id('1df72ec3-f167-44d4-804c-a8cc18498592')
    @decorators.attr(type='negative')
    def test_field_that_does_not_exist(self):
        self.assert_refuses('colour', 'unknown')
