# SPDX-License-Identifier: Apache-2.0

"""Fields with invalid values, in requests that create or update something.

:mod:`.common.negative.bad_input` has the fields and the values. What is
wrongly accepted is cleaned up like everything else.
"""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest import json_types
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import images
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals

CONF = config.CONF

#: Fields that nothing reads before the template is used for a cluster.
FREE_TEXTS = ('name', 'keypair_id', 'http_proxy', 'https_proxy', 'no_proxy',
              'insecure_registry', 'docker_storage_driver', 'tags')


class ClusterTemplateFieldsNegativeTest(base.BaseMagnumCapiTest):

    attributes = ('negative',)

    def create(self, **fields: object) -> json_types.Object:
        """Create a template; a field that is None is sent as null."""
        return factories.create_template(
            CONF, self.magnum, self.addCleanup,
            {**factories.template_body(CONF), **fields})

    def update(self, uuid: str, *operations: bad_input.Operation
               ) -> json_types.Object:
        """Send a JSON patch, of (op, path, value) or less."""
        found: json_types.Object = (
            self.magnum.templates.update_cluster_template(uuid, [
                dict(zip(('op', 'path', 'value'), operation))
                for operation in operations]))
        return found

    @decorators.idempotent_id('ee507b49-3f66-4b80-910b-ef72569ab411')
    def test_every_field(self) -> None:
        unread = ['driver'] if flags.not_promised(
            factories.KEEPS_DRIVER) else []
        refusals.assert_refused_all(self, refusals.of_fields(
            'cluster template', self.create, leave_out=unread))

    @decorators.idempotent_id('eb0747a4-8b06-4b48-89b0-033897aba7c5')
    def test_free_texts_come_back_as_they_were_or_are_refused(self) -> None:
        wrong, refused = [], []
        for name, text in bad_input.TEXTS.items():
            sent: json_types.Object = {field: text for field in FREE_TEXTS}
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

    @decorators.idempotent_id('c4c416ea-0a2c-4427-8be1-736e48be11a3')
    @testtools.skipUnless(CONF.service_available.glance,
                          '[service_available] glance is false')
    def test_image_without_os_distro(self) -> None:
        image = images.create(
            self.os_primary.image_client_v2, self.addCleanup, CONF, {},
            test=self.id())

        self.assertRaises(lib_exc.BadRequest, self.create,
                          image_id=image['id'])

    @decorators.idempotent_id('2a7c2e3b-ca5f-46d9-b3bd-c5a901600a4a')
    def test_every_operation_of_an_update(self) -> None:
        uuid = self.create(labels={'one': 'two'})['uuid']
        template = self.magnum.templates.show_cluster_template(uuid)
        where = 'cluster template update'

        refusals.assert_refused_all(self, [
            *((where, kind, ' '.join(map(repr, operation)),
               lambda operation=operation: self.update(uuid, operation))
              for kind, operations in bad_input.UPDATES.items()
              for operation in operations),
            (where, 'patch', 'one good and one bad', lambda: self.update(
                uuid, ('replace', '/tags', 'one'),
                ('replace', '/colour', 'blue')))])

        self.assertEqual(
            template, self.magnum.templates.show_cluster_template(uuid))

    @decorators.idempotent_id('d401de3c-4c8b-4c3d-9bd1-6d1a21fc0db2')
    @decorators.attr(type='smoke')
    def test_member_does_not_publish_or_hide(self) -> None:
        uuid = self.create()['uuid']

        refusals.assert_refused_all(self, [
            case for field in ('public', 'hidden') for case in (
                ('cluster template', 'role', field,
                 lambda field=field: self.create(**{field: True})),
                ('cluster template update', 'role', field,
                 lambda field=field: self.update(
                     uuid, ('replace', f'/{field}', 'true'))))
        ], expected=bad_input.DENIED)


class ClusterFieldsNegativeTest(base.BaseMagnumCapiTest):

    attributes = ('negative',)

    # Up to 1.9, a template that does not exist is a 400.
    min_microversion = '1.10'

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        # Without a load balancer Magnum itself refuses two masters, whatever
        # the driver (magnum/api/attr_validator.py, validate_master_count).
        cls.template = cls.create_class_template(master_lb_enabled=True)

    def create(self, **fields: object) -> json_types.Object:
        """Request a cluster and return it."""
        uuid = self.request_cluster(self.template, **fields)
        cluster: json_types.Object = self.magnum.clusters.show_cluster(uuid)
        return cluster

    @decorators.idempotent_id('c2aa3a84-6fe7-477f-bc67-caaae6a70107')
    def test_every_field(self) -> None:
        refusals.assert_refused_all(
            self, refusals.of_fields('cluster', self.create))

    @decorators.idempotent_id('9a7028e6-3889-40cc-85a2-253f80fd7d88')
    @flags.needs('magnum.control-plane.odd-only')
    def test_two_masters(self) -> None:
        self.assertRaises(lib_exc.BadRequest, self.create, master_count=2)


class CertificateFieldsNegativeTest(base.BaseMagnumCapiTest):
    min_microversion = '1.5'
    uses_templates = False

    def sign(self, cluster: object) -> json_types.Object:
        signed: json_types.Object = (
            self.magnum.certificates.create_certificate(
                cluster_uuid=cluster, csr=kubeconfig.signing_request().csr))
        return signed

    @decorators.idempotent_id('3f74e843-95cf-48c6-97b2-6bd4200c2cb5')
    @decorators.attr(type='negative')
    def test_values_that_are_no_cluster(self) -> None:
        where = 'certificate cluster_uuid'
        refusals.assert_refused_all(self, (
            *((where, 'cluster', name, lambda value=value: self.sign(value))
              for name, value in bad_input.KINDS['cluster'].items()),
            (where, 'cluster', 'null', lambda: self.sign(None)),
            (where, 'cluster', 'an id of nobody',
             lambda: self.sign(bad_input.NOBODY)),
            (where, 'cluster', 'nothing', lambda: (
                self.magnum.certificates.create_certificate(
                    csr=kubeconfig.signing_request().csr)))))
