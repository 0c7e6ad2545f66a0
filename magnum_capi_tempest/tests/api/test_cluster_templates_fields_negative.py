# SPDX-License-Identifier: Apache-2.0

"""Cluster templates with invalid values of their fields.

There is one test per field; :mod:`.common.negative.bad_input` has the values
for its kind.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals

CONF = config.CONF

#: Fields that nothing reads before the template is used for a cluster.
FREE_TEXTS = ('name', 'keypair_id', 'http_proxy', 'https_proxy', 'no_proxy',
              'insecure_registry', 'docker_storage_driver', 'tags')


class ClusterTemplateFieldsTest(refusals.BaseRefusalsTest):

    def create(self, **fields):
        """Create a template; a field that is None is sent as null."""
        return factories.create_template(
            CONF, self.magnum, self.addCleanup,
            {**factories.template_body(CONF), **fields})

    def assert_refuses(self, field, kind):
        self.assert_field_refuses(
            kind, lambda value: self.create(**{field: value}))

    @decorators.idempotent_id('4ae46cfc-f3f1-411f-80b7-46730b7d968d')
    @decorators.attr(type='negative')
    def test_name(self):
        self.assert_refuses('name', 'text')

    @decorators.idempotent_id('e2d2d840-33a2-48a6-b9e7-605fd9653bd4')
    @decorators.attr(type='negative')
    def test_coe(self):
        self.assert_refuses('coe', 'reference')

    @decorators.idempotent_id('7ea92a4d-0793-4bd1-af90-8d5cc0d43360')
    @decorators.attr(type='negative')
    def test_image_id(self):
        self.assert_refuses('image_id', 'image')

    @decorators.idempotent_id('acfe8f1a-64fb-4369-8bbe-2b27d4ec4f84')
    @decorators.attr(type='negative')
    def test_flavor_id(self):
        self.assert_refuses('flavor_id', 'reference')

    @decorators.idempotent_id('36dd0c32-c5b1-4239-8681-8e09a5bc2f42')
    @decorators.attr(type='negative')
    def test_master_flavor_id(self):
        self.assert_refuses('master_flavor_id', 'reference')

    @decorators.idempotent_id('c85d133d-364b-4ab1-ba3d-7cf518d546f0')
    @decorators.attr(type='negative')
    def test_dns_nameserver(self):
        self.assert_refuses('dns_nameserver', 'addresses')

    @decorators.idempotent_id('ea99f681-5f15-4320-9d3b-fdcbe9452ef2')
    @decorators.attr(type='negative')
    def test_keypair_id(self):
        self.assert_refuses('keypair_id', 'text')

    @decorators.idempotent_id('a13b4a48-117a-471b-8c41-b85277f1e227')
    @decorators.attr(type='negative')
    def test_external_network_id(self):
        self.assert_refuses('external_network_id', 'reference')

    @decorators.idempotent_id('b7d31af1-b634-4490-b844-e3333fe0a922')
    @decorators.attr(type='negative')
    def test_fixed_network(self):
        self.assert_refuses('fixed_network', 'reference')

    @decorators.idempotent_id('2477e30b-7bf7-441d-8706-2c56a32b2995')
    @decorators.attr(type='negative')
    def test_fixed_subnet(self):
        self.assert_refuses('fixed_subnet', 'reference')

    @decorators.idempotent_id('ec60ca17-9a4e-4da5-91d6-b115b89635cc')
    @decorators.attr(type='negative')
    def test_network_driver(self):
        self.assert_refuses('network_driver', 'reference')

    @decorators.idempotent_id('4d36cf75-8807-4065-9821-c52be4b33a29')
    @decorators.attr(type='negative')
    def test_volume_driver(self):
        self.assert_refuses('volume_driver', 'reference')

    @decorators.idempotent_id('549bfd65-b859-4c1d-9758-e5dcd2a41693')
    @decorators.attr(type='negative')
    def test_server_type(self):
        self.assert_refuses('server_type', 'reference')

    @decorators.idempotent_id('f6052f85-4790-4ead-a789-5ddfa42e4bed')
    @decorators.attr(type='negative')
    def test_cluster_distro(self):
        self.assert_refuses('cluster_distro', 'text')

    @decorators.idempotent_id('1d9816ff-f720-4c0b-a1a8-876044d3d1c7')
    @decorators.attr(type='negative')
    def test_http_proxy(self):
        self.assert_refuses('http_proxy', 'text')

    @decorators.idempotent_id('b4fd58ac-842e-47f6-9c7b-b95fb0448614')
    @decorators.attr(type='negative')
    def test_https_proxy(self):
        self.assert_refuses('https_proxy', 'text')

    @decorators.idempotent_id('a46dd310-85cb-4854-8bc9-143feaa60f6a')
    @decorators.attr(type='negative')
    def test_no_proxy(self):
        self.assert_refuses('no_proxy', 'text')

    @decorators.idempotent_id('31139912-4787-4dfe-9574-89575c4ede6c')
    @decorators.attr(type='negative')
    def test_insecure_registry(self):
        self.assert_refuses('insecure_registry', 'text')

    @decorators.idempotent_id('7d4426be-41e0-4cca-b420-76ccc9c6c800')
    @decorators.attr(type='negative')
    def test_docker_storage_driver(self):
        self.assert_refuses('docker_storage_driver', 'text')

    @decorators.idempotent_id('c5963d5d-1033-4151-92f5-b3b6a71c5ee7')
    @decorators.attr(type='negative')
    def test_tags(self):
        self.assert_refuses('tags', 'tags')

    @decorators.idempotent_id('9f2c840f-4090-43c0-abd8-74203b8c1df5')
    @decorators.attr(type='negative')
    def test_apiserver_port(self):
        self.assert_refuses('apiserver_port', 'number')

    @decorators.idempotent_id('cb718d89-685f-44ae-83c3-cf625d92a1d8')
    @decorators.attr(type='negative')
    def test_docker_volume_size(self):
        self.assert_refuses('docker_volume_size', 'number')

    @decorators.idempotent_id('66d29023-54f2-45ca-937a-0dff84a68ea5')
    @decorators.attr(type='negative')
    def test_registry_enabled(self):
        self.assert_refuses('registry_enabled', 'boolean')

    @decorators.idempotent_id('ab92d85b-ec15-4339-8692-38089dfe9796')
    @decorators.attr(type='negative')
    def test_tls_disabled(self):
        self.assert_refuses('tls_disabled', 'boolean')

    @decorators.idempotent_id('4814238c-be2c-48a1-a21b-c7a79e38f732')
    @decorators.attr(type='negative')
    def test_public(self):
        self.assert_refuses('public', 'boolean')

    @decorators.idempotent_id('9c4ca11d-58d2-451e-afe9-821b778dfb59')
    @decorators.attr(type='negative')
    def test_hidden(self):
        self.assert_refuses('hidden', 'boolean')

    @decorators.idempotent_id('acd73d08-7728-45b6-8bec-dca27376f4b4')
    @decorators.attr(type='negative')
    def test_master_lb_enabled(self):
        self.assert_refuses('master_lb_enabled', 'boolean')

    @decorators.idempotent_id('17071055-2884-4cd0-8256-9eb6ac480cea')
    @decorators.attr(type='negative')
    def test_floating_ip_enabled(self):
        self.assert_refuses('floating_ip_enabled', 'boolean')

    @decorators.idempotent_id('e028287d-0d3d-4954-8c6f-d777806f6cbb')
    @decorators.attr(type='negative')
    def test_labels(self):
        self.assert_refuses('labels', 'labels')

    @decorators.idempotent_id('abb884f5-c313-4381-a6f0-2c5becf8e66c')
    @decorators.attr(type='negative')
    def test_uuid(self):
        self.assert_refuses('uuid', 'reference')

    @decorators.idempotent_id('ba4e8192-ec6f-49f5-b12e-faf64c7b6394')
    @decorators.attr(type='negative')
    def test_project_id(self):
        self.assert_refuses('project_id', 'read-only')

    @decorators.idempotent_id('0f7c8f16-c046-466b-88d3-9fbbdc503ebb')
    @decorators.attr(type='negative')
    def test_user_id(self):
        self.assert_refuses('user_id', 'read-only')

    @decorators.idempotent_id('103dc8d3-5c57-4c88-a82f-5b614e067caf')
    @decorators.attr(type='negative')
    def test_links(self):
        self.assert_refuses('links', 'links')

    @decorators.idempotent_id('26fb8538-a9f2-4338-aecc-007263a5139c')
    @decorators.attr(type='negative')
    def test_created_at(self):
        self.assert_refuses('created_at', 'date')

    @decorators.idempotent_id('689cdece-c199-462c-afc4-449f9f568b64')
    @decorators.attr(type='negative')
    def test_updated_at(self):
        self.assert_refuses('updated_at', 'date')

    @decorators.idempotent_id('ba5519a6-11f8-4a14-b838-87af26c89db0')
    @decorators.attr(type='negative')
    @flags.needs('magnum.template.keeps-driver')
    def test_driver(self):
        self.assert_refuses('driver', 'reference')

    @decorators.idempotent_id('c8e690e1-ace8-4463-990d-bfca2311a736')
    @decorators.attr(type='negative')
    def test_field_that_does_not_exist(self):
        self.assert_refuses('colour', 'unknown')

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
                refused.append(
                    ('free text', name, lambda found=found: found))
        self.assert_refused_all(refused)
        self.assertEqual([], wrong)
