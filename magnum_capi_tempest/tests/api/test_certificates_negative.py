# SPDX-License-Identifier: Apache-2.0

"""Requests for certificates of clusters that do not exist.

Requests that existing clusters must refuse are in the scenario tests.
"""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.tests.common.negative import refusals


class MissingClusterCertificateTest(refusals.BaseRefusalsTest):

    min_microversion = '1.5'
    required_options = ()

    def sign(self, cluster):
        return self.magnum.certificates.create_certificate(
            cluster_uuid=cluster, csr=kubeconfig.signing_request().csr)

    @decorators.idempotent_id('0b760a2b-b9db-48cb-a891-bfe496601fb4')
    @decorators.attr(type=['smoke', 'negative'])
    def test_a_request_is_not_signed(self):
        self.assertRaises(
            lib_exc.BadRequest, self.sign, data_utils.rand_uuid())

    @decorators.idempotent_id('3f74e843-95cf-48c6-97b2-6bd4200c2cb5')
    @decorators.attr(type='negative')
    def test_values_that_are_no_cluster(self):
        self.assert_field_refuses('cluster', self.sign)

    @decorators.idempotent_id('6ee2df24-a0f6-46ec-ae41-f55c6dea2208')
    @decorators.attr(type='negative')
    def test_no_cluster(self):
        self.assert_refused_all([
            ('cluster', 'null', lambda: self.sign(None)),
            ('cluster', 'nothing', lambda: self.magnum.certificates.
             create_certificate(csr=kubeconfig.signing_request().csr))])

    @decorators.idempotent_id('8a3dd07f-6b4d-4c3d-9440-01a82d2ba6be')
    @decorators.attr(type='negative')
    def test_show(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.certificates.show_ca_certificate,
            self.rand_name('nobody'))

    @decorators.idempotent_id('5f55dda1-b4dd-4f73-b3c9-cbbb0ac947d4')
    @decorators.attr(type='negative')
    def test_rotate(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.certificates.rotate_ca_certificate,
            data_utils.rand_uuid())
