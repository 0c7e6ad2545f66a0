# SPDX-License-Identifier: Apache-2.0

"""Cluster templates that Magnum must refuse, at once and with a reason.

The texts of Magnum's answers differ between releases, so tests check the
status code.
"""

from tempest import config
from tempest.lib.common.utils import data_utils
from tempest.lib.common.utils import test_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags

CONF = config.CONF


class ClusterTemplatesNegativeTest(base.BaseMagnumCapiTest):

    def assert_refused(self, **changes):
        self.assertRaises(lib_exc.BadRequest, self.create_template, **changes)

    @decorators.idempotent_id('9d17bb22-a0ec-4005-91e5-a806026f8c63')
    @decorators.attr(type=['smoke', 'negative'])
    def test_image_that_does_not_exist(self):
        self.assert_refused(image_id=data_utils.rand_uuid())

    @decorators.idempotent_id('379fd4b6-8357-4781-9774-cb3b6ef3f3bd')
    @decorators.attr(type='negative')
    def test_no_image(self):
        self.assert_refused(image_id=None)

    @decorators.idempotent_id('c4c416ea-0a2c-4427-8be1-736e48be11a3')
    @decorators.attr(type='negative')
    @testtools.skipUnless(CONF.service_available.glance,
                          '[service_available] glance is false')
    def test_image_without_os_distro(self):
        images = self.os_primary.image_client_v2
        image = images.create_image(
            name=self.rand_name('image'), container_format='bare',
            disk_format='raw', visibility='private')
        self.addCleanup(test_utils.call_and_ignore_notfound_exc,
                        images.delete_image, image['id'])

        self.assert_refused(image_id=image['id'])

    @decorators.idempotent_id('0fab5558-9576-4384-894a-be8f39165eed')
    @decorators.attr(type='negative')
    def test_flavor_that_does_not_exist(self):
        self.assert_refused(flavor_id=data_utils.rand_uuid())

    @decorators.idempotent_id('82af1a79-7766-4063-8712-10061e9d4779')
    @decorators.attr(type='negative')
    def test_master_flavor_that_does_not_exist(self):
        self.assert_refused(master_flavor_id=data_utils.rand_uuid())

    @decorators.idempotent_id('b91f284c-1222-4dcd-91cb-4a3527095ca5')
    @decorators.attr(type='negative')
    def test_external_network_that_does_not_exist(self):
        self.assert_refused(external_network_id=data_utils.rand_uuid())

    @decorators.idempotent_id('0a442fd4-cf25-4ccd-830c-1574fc036084')
    @decorators.attr(type='negative')
    def test_network_driver_that_does_not_exist(self):
        self.assert_refused(network_driver='pigeons')

    @decorators.idempotent_id('e65b4bcb-210a-4b0e-9b32-0a03bbf0923a')
    @decorators.attr(type='negative')
    @flags.needs('magnum.template.keeps-driver')
    def test_driver_that_does_not_exist(self):
        self.assert_refused(driver='k8s_nobody_wrote_it')

    @decorators.idempotent_id('f468da8b-580b-4443-90fa-60f947dc0b1d')
    @decorators.attr(type='negative')
    def test_name_of_256_characters(self):
        self.assert_refused(name='n' * 256)

    @decorators.idempotent_id('4e54e829-26a3-43cb-b51b-77ae85b78c94')
    @decorators.attr(type='negative')
    def test_unknown_field(self):
        self.assert_refused(colour='blue')

    @decorators.idempotent_id('d401de3c-4c8b-4c3d-9bd1-6d1a21fc0db2')
    @decorators.attr(type='negative')
    def test_member_cannot_publish(self):
        self.assertRaises(
            lib_exc.Forbidden, self.create_template, public=True)

    @decorators.idempotent_id('a1eb1141-4355-4254-ad65-1e7a801cff6d')
    @decorators.attr(type='negative')
    def test_patch_of_a_field_that_does_not_exist(self):
        template = self.create_template()

        self.assertRaises(
            lib_exc.BadRequest,
            self.magnum.templates.update_cluster_template, template['uuid'],
            [{'op': 'replace', 'path': '/colour', 'value': 'blue'}])


class MissingClusterTemplateTest(base.BaseMagnumCapiTest):

    required_options = ()

    @decorators.idempotent_id('8d9cff3f-5cc4-4dc9-9721-77e331ae2b80')
    @decorators.attr(type=['smoke', 'negative'])
    def test_show(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.templates.show_cluster_template,
            data_utils.rand_uuid())

    @decorators.idempotent_id('53de5e6e-0e12-4845-98aa-71918cd62b82')
    @decorators.attr(type='negative')
    def test_show_by_name(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.templates.show_cluster_template,
            self.rand_name('nobody'))

    @decorators.idempotent_id('81a7511a-d2a9-43f2-957a-4098314bf418')
    @decorators.attr(type='negative')
    def test_update(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.templates.update_cluster_template,
            data_utils.rand_uuid(),
            [{'op': 'replace', 'path': '/name', 'value': 'other'}])

    @decorators.idempotent_id('08ac387f-8f8c-4370-9f3a-91a726fc2853')
    @decorators.attr(type='negative')
    def test_delete(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.templates.delete_cluster_template,
            data_utils.rand_uuid())

    @decorators.idempotent_id('bee19296-f042-4264-8783-35c035ed6a08')
    @decorators.attr(type='negative')
    def test_delete_by_name(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.templates.delete_cluster_template,
            self.rand_name('nobody'))
