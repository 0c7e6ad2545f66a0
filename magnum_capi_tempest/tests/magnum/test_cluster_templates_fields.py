# SPDX-License-Identifier: Apache-2.0

"""Fields that cluster templates store, and fields that Magnum adds."""

import time

from tempest import config
from tempest.lib import decorators

from magnum_capi import waiting
from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories

CONF = config.CONF


class ClusterTemplateFieldsTest(base.BaseMagnumCapiTest):

    def create_and_show(self, **fields):
        """Create a template; return it as stored, not as answered."""
        template = self.create_template(**fields)
        return self.magnum.templates.show_cluster_template(template['uuid'])

    @decorators.idempotent_id('4c78126d-0f7c-41e6-9a7d-0069e5f6c1b8')
    def test_every_field_is_kept(self):
        wanted = {
            'keypair_id': 'a-key',
            'dns_nameserver': '192.0.2.1,192.0.2.2',
            'docker_volume_size': 7,
            'docker_storage_driver': 'overlay2',
            'apiserver_port': 6443,
            'server_type': 'vm',
            'volume_driver': 'cinder',
            'http_proxy': 'http://proxy.example.com:3128',
            'https_proxy': 'https://proxy.example.com:3128',
            'no_proxy': '192.0.2.0/24,.example.com',
            'insecure_registry': 'registry.example.com:5000',
            'labels': {**CONF.magnum_capi.labels, 'one': 'two', 'three': '4'},
            'tags': 'one,two',
            'registry_enabled': True,
            'tls_disabled': True,
            'master_lb_enabled': True,
            'floating_ip_enabled': False,
        }

        found = self.create_and_show(**wanted)

        self.assertEqual(wanted, {key: found[key] for key in wanted})

    @decorators.idempotent_id('cec39ff8-3e05-4ef3-a665-5849c63acb27')
    @decorators.attr(type='smoke')
    def test_fields_that_are_left_out_have_their_defaults(self):
        found = self.create_and_show()

        self.assertEqual(
            {'public': False, 'hidden': False, 'tls_disabled': False,
             'registry_enabled': False, 'floating_ip_enabled': True,
             'server_type': 'vm'},
            {key: found[key] for key in (
                'public', 'hidden', 'tls_disabled', 'registry_enabled',
                'floating_ip_enabled', 'server_type')})

    @decorators.idempotent_id('0abe6276-3171-432e-8c8d-d7d2c6d4e5d3')
    def test_it_belongs_to_who_made_it(self):
        found = self.create_and_show()

        credentials = self.os_primary.credentials
        self.assertEqual((credentials.project_id, credentials.user_id),
                         (found['project_id'], found['user_id']))

    @decorators.idempotent_id('01c04309-633d-48f7-afd2-3c5f936bec46')
    def test_it_gets_a_name_when_it_has_none(self):
        self.assertTrue(self.create_and_show(name=None)['name'])

    @decorators.idempotent_id('b57ce131-8a46-4fac-8fe6-25d73f4fbc01')
    def test_it_gets_the_operating_system_of_its_image(self):
        self.assertTrue(self.create_and_show()['cluster_distro'])

    @decorators.idempotent_id('3a3e19d1-0622-4fd3-9baf-0efb4b28f0ef')
    def test_values_of_labels_become_texts(self):
        found = self.create_and_show(
            labels={'one': 7, 'two': 1.5, 'three': True})

        self.assertEqual(
            {**CONF.magnum_capi.labels,
             'one': '7', 'two': '1.5', 'three': 'True'}, found['labels'])

    @decorators.idempotent_id('0fea1056-71b6-4989-b9c3-ed729bfb787e')
    def test_booleans_can_be_words(self):
        found = self.create_and_show(
            registry_enabled='yes', floating_ip_enabled='off')

        self.assertEqual((True, False), (
            found['registry_enabled'], found['floating_ip_enabled']))

    @decorators.idempotent_id('89aabbc5-4b4e-4e7d-ae9d-8d8144b92614')
    def test_its_link_leads_to_it(self):
        found = self.create_and_show()

        links = [link['href'] for link in found['links']
                 if link['rel'] == 'self']
        self.assertEqual(1, len(links))
        self.assertTrue(
            links[0].endswith(f'/v1/clustertemplates/{found["uuid"]}'),
            links[0])

    @decorators.idempotent_id('6132f4dc-6408-4a95-9168-b21617e6679b')
    def test_it_says_when_it_was_made_and_changed(self):
        made = self.create_and_show()
        # MySQL stores whole seconds, and the filter of driver discovery
        # changes a template that was just created.
        second = time.monotonic() + 1
        waiting.wait_for(time.monotonic, done=lambda now: now > second,
                         timeout=5, what='the next second')

        self.magnum.templates.update_cluster_template(made['uuid'], [
            {'op': 'replace', 'path': '/name',
             'value': self.rand_name('renamed')}])

        found = self.magnum.templates.show_cluster_template(made['uuid'])
        self.assertNotIn(found['updated_at'], (None, made['updated_at']))
        self.assertEqual(made['created_at'], found['created_at'])

    @decorators.idempotent_id('5d112636-248d-4aa8-90c7-82016eaad75d')
    def test_details_are_those_of_the_template(self):
        found = self.create_and_show()

        detailed = self.magnum.templates.list_cluster_templates_detail(
            **base_client.NEWEST_FIRST)

        self.assertIn(found, detailed['clustertemplates'])

    @decorators.idempotent_id('cbd1e638-2c9f-4285-878d-0f570aa9b595')
    def test_two_can_have_one_name(self):
        name = self.rand_name('twin')

        first, second = (factories.create_template(
            CONF, self.magnum, self.addCleanup,
            factories.template_body(CONF, name=name)) for _ in range(2))

        self.assertNotEqual(first['uuid'], second['uuid'])
