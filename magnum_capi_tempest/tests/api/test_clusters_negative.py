# SPDX-License-Identifier: Apache-2.0

"""Clusters that Magnum must refuse before anything is created.

All requests go through the factory of the base class, so that clusters that
are accepted by mistake are cleaned up.
"""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags


class ClustersNegativeTest(base.BaseMagnumCapiTest):

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        # Without a load balancer Magnum itself refuses two masters, whatever
        # the driver (magnum/api/attr_validator.py, validate_master_count).
        cls.template = cls.create_class_template(master_lb_enabled=True)

    def assert_refused(self, error=lib_exc.BadRequest, template=None,
                       **changes):
        self.assertRaises(error, self.request_cluster,
                          template or self.template, **changes)

    @decorators.idempotent_id('9bb2fde5-2b84-4ce0-bf5b-e91cab6b7e80')
    @decorators.attr(type=['smoke', 'negative'])
    def test_template_that_does_not_exist(self):
        # 400 up to microversion 1.9, 404 from 1.10 on, where the decorator
        # ct_not_found_to_bad_request is missing
        # (magnum/api/controllers/v1/cluster.py, post).
        self.assert_refused((lib_exc.BadRequest, lib_exc.NotFound),
                            template={'uuid': data_utils.rand_uuid()})

    @decorators.idempotent_id('9a7028e6-3889-40cc-85a2-253f80fd7d88')
    @decorators.attr(type='negative')
    @flags.needs('magnum.control-plane.odd-only')
    def test_two_masters(self):
        self.assert_refused(master_count=2)

    @decorators.idempotent_id('df2beb23-2ec5-492c-afd1-cf3141c6e9b9')
    @decorators.attr(type='negative')
    def test_zero_masters(self):
        self.assert_refused(master_count=0)

    @decorators.idempotent_id('8833fab2-74f6-49ec-8ac9-84864887b69e')
    @decorators.attr(type='negative')
    def test_negative_node_count(self):
        self.assert_refused(node_count=-1)

    @decorators.idempotent_id('e6420bd4-2e42-47c5-a3f0-40567dbf2e8f')
    @decorators.attr(type='negative')
    def test_keypair_that_does_not_exist(self):
        self.assert_refused(lib_exc.NotFound, keypair=self.rand_name('key'))

    @decorators.idempotent_id('dd9fb789-5f4b-4393-9cc1-da5510a18e99')
    @decorators.attr(type='negative')
    def test_flavor_that_does_not_exist(self):
        self.assert_refused(flavor_id=data_utils.rand_uuid())

    @decorators.idempotent_id('63c5401a-248a-4df7-bf45-0949e2187188')
    @decorators.attr(type='negative')
    def test_name_that_starts_with_a_digit(self):
        self.assert_refused(name='1-cluster')

    @decorators.idempotent_id('bfff48ab-26c5-4b4e-8487-dc7394d1ed85')
    @decorators.attr(type='negative')
    def test_name_of_243_characters(self):
        self.assert_refused(name='n' * 243)


class MissingClusterTest(base.BaseMagnumCapiTest):

    # Resize came with 1.7.
    min_microversion = '1.7'
    required_options = ()

    @decorators.idempotent_id('6f44a07b-6714-4151-b973-601250e83f06')
    @decorators.attr(type=['smoke', 'negative'])
    def test_show(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.clusters.show_cluster,
            data_utils.rand_uuid())

    @decorators.idempotent_id('00293a96-0c8e-4b6c-89b7-f02b1c75b868')
    @decorators.attr(type='negative')
    def test_update(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.clusters.update_cluster,
            data_utils.rand_uuid(),
            [{'op': 'replace', 'path': '/node_count', 'value': 2}])

    @decorators.idempotent_id('fe39241d-24a3-4cc9-96a3-5093407f7f68')
    @decorators.attr(type='negative')
    def test_resize(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.clusters.resize_cluster,
            data_utils.rand_uuid(), node_count=2)

    @decorators.idempotent_id('46c9450d-ff4a-4240-b6ac-fd3262336b32')
    @decorators.attr(type='negative')
    def test_delete(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.clusters.delete_cluster,
            data_utils.rand_uuid())

    @decorators.idempotent_id('ebd61a1c-b78b-401c-814e-094c89f70d56')
    @decorators.attr(type='negative')
    def test_ca_certificate(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.certificates.show_ca_certificate,
            data_utils.rand_uuid())
