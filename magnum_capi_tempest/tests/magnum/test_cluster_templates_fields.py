# SPDX-License-Identifier: Apache-2.0

"""Fields that cluster templates store, that Magnum adds, and updates."""

import time
import typing

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi import waiting
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.negative import bad_input

CONF = config.CONF


class ClusterTemplateFieldsTest(base.BaseMagnumCapiTest):

    def create_and_show(self, **fields: typing.Any) -> json_types.Object:
        """Create a template; return it as stored, not as answered."""
        template = self.create_template(**fields)
        return self.show(template)

    def show(self, template: json_types.Object) -> json_types.Object:
        found: json_types.Object = self.magnum.templates.show_cluster_template(
            template['uuid'])
        return found

    def update(self, template: json_types.Object,
               *operations: bad_input.Operation) -> json_types.Object:
        """Apply a JSON patch and return the template as stored.

        :param operations: (op, path) or (op, path, value).
        """
        self.magnum.templates.update_cluster_template(template['uuid'], [
            dict(zip(('op', 'path', 'value'), operation))
            for operation in operations])
        return self.show(template)

    @decorators.idempotent_id('4c78126d-0f7c-41e6-9a7d-0069e5f6c1b8')
    def test_every_field_is_kept(self) -> None:
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
    def test_fields_that_are_left_out_have_their_defaults(self) -> None:
        found = self.create_and_show()

        self.assertEqual(
            {'public': False, 'hidden': False, 'tls_disabled': False,
             'registry_enabled': False, 'floating_ip_enabled': True,
             'server_type': 'vm'},
            {key: found[key] for key in (
                'public', 'hidden', 'tls_disabled', 'registry_enabled',
                'floating_ip_enabled', 'server_type')})

    @decorators.idempotent_id('0abe6276-3171-432e-8c8d-d7d2c6d4e5d3')
    def test_fields_that_magnum_adds(self) -> None:
        found = self.create_and_show(name=None)

        credentials = self.os_primary.credentials
        self.assertEqual((credentials.project_id, credentials.user_id),
                         (found['project_id'], found['user_id']))
        # That of its image.
        self.assertTrue(found['cluster_distro'])
        self.assertTrue(found['name'])

    @decorators.idempotent_id('3a3e19d1-0622-4fd3-9baf-0efb4b28f0ef')
    def test_values_of_labels_become_texts_and_words_booleans(self) -> None:
        found = self.create_and_show(
            labels={'one': 7, 'two': 1.5, 'three': True},
            registry_enabled='yes', floating_ip_enabled='off')

        self.assertEqual(
            {**CONF.magnum_capi.labels,
             'one': '7', 'two': '1.5', 'three': 'True'}, found['labels'])
        self.assertEqual((True, False), (
            found['registry_enabled'], found['floating_ip_enabled']))

    @decorators.idempotent_id('6132f4dc-6408-4a95-9168-b21617e6679b')
    def test_it_says_when_it_was_made_and_changed(self) -> None:
        made = self.create_and_show()
        # MySQL stores whole seconds, and the filter of driver discovery
        # changes a template that was just created.
        second = time.monotonic() + 1
        waiting.wait_for(time.monotonic, done=lambda now: now > second,
                         timeout=5, what='the next second')

        found = self.update(made, ('replace', '/tags', 'one'))

        self.assertNotIn(found['updated_at'], (None, made['updated_at']))
        self.assertEqual(made['created_at'], found['created_at'])

    @decorators.idempotent_id('9cf29236-4e03-4fa0-a93e-f38e942cf909')
    def test_updates_change_what_they_name(self) -> None:
        labels = CONF.magnum_capi.labels
        name = self.rand_name('renamed')
        for operations, changes in (
                ((('replace', '/name', name),
                  ('replace', '/dns_nameserver', '192.0.2.9'),
                  ('replace', '/docker_volume_size', 9),
                  ('replace', '/apiserver_port', 6443),
                  ('replace', '/no_proxy', '.example.com'),
                  ('replace', '/volume_driver', 'cinder'),
                  ('replace', '/floating_ip_enabled', 'false'),
                  ('replace', '/tags', 'one,two')),
                 {'name': name, 'dns_nameserver': '192.0.2.9',
                  'docker_volume_size': 9, 'apiserver_port': 6443,
                  'no_proxy': '.example.com', 'volume_driver': 'cinder',
                  'floating_ip_enabled': False, 'tags': 'one,two'}),
                ([('remove', '/dns_nameserver')], {'dns_nameserver': None}),
                ([('replace', '/labels/one', '3')],
                 {'labels': {**labels, 'one': '3'}}),
                ([('add', '/labels/three', 'four')],
                 {'labels': {**labels, 'one': '2', 'three': 'four'}}),
                ([('remove', '/labels/one')], {'labels': labels}),
                # In the format of python-magnumclient.
                ([('replace', '/labels', "{'three': 'four'}")],
                 {'labels': {'three': 'four'}})):
            # The answer to the creation has times with a precision that
            # MariaDB does not store.
            before = self.create_and_show(
                labels={'one': '2'}, dns_nameserver='192.0.2.1')

            found = self.update(before, *operations)

            self.assertEqual(
                {**before, **changes, 'updated_at': found['updated_at']},
                {**found}, operations)

    @decorators.idempotent_id('91a86a72-8d1c-436f-8221-c98b691b6280')
    @flags.needs('magnum.template.no-flavors-updated')
    def test_an_update_needs_no_flavor(self) -> None:
        template = self.create_template(flavor_id=None, master_flavor_id=None)

        found = self.update(template, ('replace', '/tags', 'one'))

        self.assertEqual('one', found['tags'])

    @decorators.idempotent_id('cbd1e638-2c9f-4285-878d-0f570aa9b595')
    def test_two_can_have_one_name(self) -> None:
        name = self.rand_name('twin')

        first, second = (factories.create_template(
            CONF, self.magnum, self.addCleanup,
            factories.template_body(CONF, name=name)) for _ in range(2))

        self.assertNotEqual(first['uuid'], second['uuid'])
        # It is the name of none.
        templates = self.magnum.templates
        for ask in (templates.show_cluster_template,
                    templates.delete_cluster_template,
                    lambda ident: templates.update_cluster_template(
                        ident, [{'op': 'replace', 'path': '/tags',
                                 'value': 'one'}])):
            self.assertRaises(lib_exc.Conflict, ask, name)
