# SPDX-License-Identifier: Apache-2.0

"""Fields with invalid values, in requests that create something.

:mod:`.common.negative.bad_input` has the fields and the values. Those of node
groups are in :mod:`.test_living_cluster`, which has a cluster. What is wrongly
accepted is cleaned up like everything else.
"""

from tempest import config
from tempest.lib.common.utils import data_utils
from tempest.lib.common.utils import test_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals
from magnum_capi_tempest.tests.common import quotas

CONF = config.CONF

#: Fields that nothing reads before the template is used for a cluster.
FREE_TEXTS = ('name', 'keypair_id', 'http_proxy', 'https_proxy', 'no_proxy',
              'insecure_registry', 'docker_storage_driver', 'tags')


class ClusterTemplateFieldsNegativeTest(base.BaseMagnumCapiTest):

    def create(self, **fields):
        """Create a template; a field that is None is sent as null."""
        return factories.create_template(
            CONF, self.magnum, self.addCleanup,
            {**factories.template_body(CONF), **fields})

    @decorators.idempotent_id('ee507b49-3f66-4b80-910b-ef72569ab411')
    @decorators.attr(type='negative')
    def test_every_field(self):
        unread = ['driver'] if flags.not_promised(
            factories.KEEPS_DRIVER) else []
        refusals.assert_refused_all(self, refusals.of_fields(
            'cluster template', self.create, leave_out=unread))

    @decorators.idempotent_id('eb0747a4-8b06-4b48-89b0-033897aba7c5')
    @decorators.attr(type='negative')
    def test_free_texts_come_back_as_they_were_or_are_refused(self):
        wrong, refused = [], []
        for name, text in bad_input.TEXTS.items():
            sent = {field: text for field in FREE_TEXTS}
            sent['labels'] = {text: text}
            found = refusals.answer(self.create, **sent)
            if found.status < 400:
                template = self.magnum.templates.show_cluster_template(
                    found.body['uuid'])
                wrong += [f'{name}: {field} became {ascii(template[field])}'
                          for field in sent if template[field] != sent[field]]
            else:
                refused.append(('cluster template texts', 'free text', name,
                                lambda found=found: found))
        refusals.assert_refused_all(self, refused)
        self.assertEqual([], wrong)

    @decorators.idempotent_id('9d17bb22-a0ec-4005-91e5-a806026f8c63')
    @decorators.attr(type=['smoke', 'negative'])
    def test_image_that_does_not_exist(self):
        self.assertRaises(lib_exc.BadRequest, self.create,
                          image_id=data_utils.rand_uuid())

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

        self.assertRaises(lib_exc.BadRequest, self.create,
                          image_id=image['id'])

    @decorators.idempotent_id('d401de3c-4c8b-4c3d-9bd1-6d1a21fc0db2')
    @decorators.attr(type='negative')
    def test_member_cannot_publish(self):
        self.assertRaises(lib_exc.Forbidden, self.create, public=True)


class ClusterFieldsNegativeTest(base.BaseMagnumCapiTest):

    # Up to 1.9, a template that does not exist is a 400.
    min_microversion = '1.10'

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        # Without a load balancer Magnum itself refuses two masters, whatever
        # the driver (magnum/api/attr_validator.py, validate_master_count).
        cls.template = cls.create_class_template(master_lb_enabled=True)

    def create(self, template=None, **fields):
        """Request a cluster and return it."""
        uuid = self.request_cluster(template or self.template, **fields)
        return self.magnum.clusters.show_cluster(uuid)

    @decorators.idempotent_id('c2aa3a84-6fe7-477f-bc67-caaae6a70107')
    @decorators.attr(type='negative')
    def test_every_field(self):
        refusals.assert_refused_all(
            self, refusals.of_fields('cluster', self.create))

    @decorators.idempotent_id('9bb2fde5-2b84-4ce0-bf5b-e91cab6b7e80')
    @decorators.attr(type=['smoke', 'negative'])
    def test_template_that_does_not_exist(self):
        self.assertRaises(lib_exc.NotFound, self.create,
                          {'uuid': data_utils.rand_uuid()})

    @decorators.idempotent_id('9a7028e6-3889-40cc-85a2-253f80fd7d88')
    @decorators.attr(type='negative')
    @flags.needs('magnum.control-plane.odd-only')
    def test_two_masters(self):
        self.assertRaises(lib_exc.BadRequest, self.create, master_count=2)


class CertificateFieldsNegativeTest(base.BaseMagnumCapiTest):
    """Signing requests of existing clusters are in test_living_cluster."""

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
        where = 'certificate cluster_uuid'
        refusals.assert_refused_all(self, (
            *refusals.of_kind(where, 'cluster', self.sign),
            (where, 'cluster', 'null', lambda: self.sign(None)),
            (where, 'cluster', 'nothing', lambda: (
                self.magnum.certificates.create_certificate(
                    csr=kubeconfig.signing_request().csr)))))


class QuotaFieldsNegativeTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']
    min_microversion = '1.6'
    required_options = ()

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.project = cls.os_primary.credentials.project_id

    def create(self, **fields):
        """Create a quota; a wrongly accepted one is cleaned up."""
        return quotas.create(
            self.admin_magnum, self.addCleanup, self.project, **fields)

    def create_own(self):
        quotas.create_own(self.admin_magnum, self.addCleanup, self.project)

    @decorators.idempotent_id('5d2e431c-f9c9-4b19-8a56-4743c2c5d257')
    @decorators.attr(type='negative')
    def test_every_field(self):
        refusals.assert_refused_all(
            self, refusals.of_fields('quota', self.create))

    @decorators.idempotent_id('47134ad3-6af0-41db-8280-0b7d0efca6b0')
    @decorators.attr(type='negative')
    def test_hard_limit_of_an_update(self):
        self.create_own()

        refusals.assert_refused_all(self, refusals.of_kind(
            'quota update hard_limit', 'count',
            lambda value: self.admin_magnum.quotas.update_quota(
                self.project, hard_limit=value)))

        found = self.magnum.quotas.show_quota(self.project)
        self.assertEqual(quotas.PLENTY, found['hard_limit'])

    @decorators.idempotent_id('fe681427-eac1-413b-8ab8-77440194d0bd')
    @decorators.attr(type='negative')
    def test_a_second_one(self):
        self.create_own()

        self.assertRaises(lib_exc.Conflict, self.create, hard_limit=8)

    @decorators.idempotent_id('cd9e875d-77b1-42ff-9fa5-e2795dbda35c')
    @decorators.attr(type='negative')
    def test_resource_in_the_path(self):
        self.create_own()

        for ask in (self.admin_magnum.quotas.update_quota,
                    self.admin_magnum.quotas.delete_quota):
            self.assertRaises(
                lib_exc.NotFound, ask, self.project, resource='Balloon')

    @decorators.idempotent_id('54911d29-c21a-42d9-80d0-22e6f67f912f')
    @decorators.attr(type='negative')
    def test_project_of_others(self):
        self.assertRaises(
            lib_exc.Forbidden, self.magnum.quotas.show_quota,
            data_utils.rand_uuid_hex())

    @decorators.idempotent_id('5c61fba5-819d-40e1-a4a4-12d6d75e7385')
    @decorators.attr(type='negative')
    def test_member_sets_none(self):
        # If members could, they would change and delete this one.
        self.create_own()

        own = self.magnum.quotas
        refusals.assert_refused_all(self, [
            ('quota', 'role', 'create', lambda: own.create_quota(
                project_id=self.project, resource='Cluster', hard_limit=99)),
            ('quota', 'role', 'update', lambda: own.update_quota(
                self.project, hard_limit=99)),
            ('quota', 'role', 'delete', lambda: own.delete_quota(
                self.project)),
        ], expected=bad_input.DENIED)
