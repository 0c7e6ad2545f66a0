# SPDX-License-Identifier: Apache-2.0

"""Permitted updates of cluster templates that no cluster uses."""

from tempest.lib import decorators

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags


class ClusterTemplateUpdatesTest(base.BaseMagnumCapiTest):

    def update(self, template, *operations):
        """Apply a JSON patch and return the template as stored.

        :param operations: (op, path) or (op, path, value).
        """
        self.magnum.templates.update_cluster_template(template['uuid'], [
            dict(zip(('op', 'path', 'value'), operation))
            for operation in operations])
        return self.magnum.templates.show_cluster_template(template['uuid'])

    @decorators.idempotent_id('9cf29236-4e03-4fa0-a93e-f38e942cf909')
    def test_many_fields_change_at_once(self):
        template = self.create_template()

        found = self.update(
            template,
            ('replace', '/dns_nameserver', '192.0.2.9'),
            ('replace', '/docker_volume_size', 9),
            ('replace', '/apiserver_port', 6443),
            ('replace', '/no_proxy', '.example.com'),
            ('replace', '/volume_driver', 'cinder'),
            ('replace', '/floating_ip_enabled', 'false'),
            ('replace', '/tags', 'one,two'))

        self.assertEqual(
            ('192.0.2.9', 9, 6443, '.example.com', 'cinder', False,
             'one,two'),
            tuple(found[key] for key in (
                'dns_nameserver', 'docker_volume_size', 'apiserver_port',
                'no_proxy', 'volume_driver', 'floating_ip_enabled', 'tags')))

    @decorators.idempotent_id('c53812a4-337c-47ec-932a-5cdc7be7aa9a')
    def test_what_is_not_named_stays(self):
        uuid = self.create_template(labels={'one': 'two'})['uuid']
        # The answer to the creation has times with a precision that MariaDB
        # does not store.
        template = self.magnum.templates.show_cluster_template(uuid)

        found = self.update(template, ('replace', '/tags', 'one'))

        changed = {'tags', 'updated_at'}
        self.assertEqual(
            {key: template[key] for key in template if key not in changed},
            {key: found[key] for key in found if key not in changed})

    @decorators.idempotent_id('58832387-f4be-47cd-9df0-52abbb96fecb')
    def test_a_label_is_added(self):
        template = self.create_template(labels={'one': 'two'})

        found = self.update(template, ('add', '/labels/three', 'four'))

        self.assertEqual(
            {**template['labels'], 'three': 'four'}, found['labels'])

    @decorators.idempotent_id('6bea0883-4c76-4786-9960-41b7d3b7d29f')
    def test_a_label_is_removed(self):
        template = self.create_template(
            labels={'one': 'two', 'three': 'four'})

        found = self.update(template, ('remove', '/labels/one'))

        template['labels'].pop('one')
        self.assertEqual(template['labels'], found['labels'])

    @decorators.idempotent_id('4f546789-e102-41cc-a978-abdb307ecafb')
    def test_all_labels_are_replaced(self):
        template = self.create_template(labels={'one': 'two'})

        # In the format of python-magnumclient.
        found = self.update(
            template, ('replace', '/labels', "{'three': 'four'}"))

        self.assertEqual({'three': 'four'}, found['labels'])

    @decorators.idempotent_id('8298f90a-2027-461d-8a37-188e6e533e58')
    def test_an_optional_field_is_removed(self):
        template = self.create_template(dns_nameserver='192.0.2.1')

        found = self.update(template, ('remove', '/dns_nameserver'))

        self.assertIsNone(found['dns_nameserver'])

    @decorators.idempotent_id('91a86a72-8d1c-436f-8221-c98b691b6280')
    @flags.needs('magnum.template.no-flavors-updated')
    def test_it_needs_no_flavor_for_that(self):
        template = self.create_template(flavor_id=None, master_flavor_id=None)

        found = self.update(template, ('replace', '/tags', 'one'))

        self.assertEqual('one', found['tags'])
