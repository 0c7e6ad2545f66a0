# SPDX-License-Identifier: Apache-2.0

"""Updates of cluster templates that must be refused."""

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common.negative import refusals


class ClusterTemplateUpdatesTest(refusals.BaseRefusalsTest):

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        cls.template = cls.magnum.templates.show_cluster_template(
            cls.create_class_template(labels={'one': 'two'})['uuid'])

    def update(self, *operations):
        return self.magnum.templates.update_cluster_template(
            self.template['uuid'], [
                dict(zip(('op', 'path', 'value'), operation))
                for operation in operations])

    def assert_all_refused(self, *operations, kind='patch'):
        """Assert that all are refused, and the template does not change."""
        self.assert_refused_all(
            (kind, ' '.join(map(repr, operation)),
             lambda operation=operation: self.update(operation))
            for operation in operations)
        self.assertEqual(
            self.template, self.magnum.templates.show_cluster_template(
                self.template['uuid']))

    @decorators.idempotent_id('ee3760e5-3056-4ab7-ae89-ce99daef4a37')
    @decorators.attr(type='negative')
    def test_what_clusters_need_cannot_be_removed(self):
        self.assert_all_refused(
            ('remove', '/image_id'), ('remove', '/coe'),
            ('remove', '/network_driver'), ('remove', '/external_network_id'),
            ('remove', '/tls_disabled'), ('remove', '/server_type'),
            ('remove', '/registry_enabled'), ('remove', '/cluster_distro'),
            ('remove', '/public'), ('remove', '/hidden'))

    @decorators.idempotent_id('a9ec7f15-c5fb-4293-9eeb-1f44b4e8eeb5')
    @decorators.attr(type='negative')
    def test_what_magnum_says_cannot_be_changed(self):
        self.assert_all_refused(
            *((op, path, 'one') for op in ('add', 'replace', 'remove')
              for path in ('/id', '/uuid', '/project_id', '/user_id',
                           '/links', '/created_at', '/updated_at')))

    @decorators.idempotent_id('6d8b27c6-84b7-4a02-86e0-bd44555d3c06')
    @decorators.attr(type='negative')
    def test_values_that_are_none(self):
        self.assert_all_refused(
            ('replace', '/name', ''), ('replace', '/name', 7),
            ('replace', '/name', 'n' * 256),
            ('replace', '/image_id', 'nobody'),
            ('replace', '/flavor_id', 'nobody'),
            ('replace', '/master_flavor_id', 'nobody'),
            ('replace', '/external_network_id', 'nobody'),
            ('replace', '/fixed_network', 'nobody'),
            ('replace', '/fixed_subnet', 'nobody'),
            ('replace', '/coe', 'swarm'),
            ('replace', '/server_type', 'balloon'),
            ('replace', '/network_driver', 'pigeons'),
            ('replace', '/volume_driver', 'pigeons'),
            ('replace', '/dns_nameserver', 'one'),
            ('replace', '/docker_volume_size', 0),
            ('replace', '/apiserver_port', 1),
            ('replace', '/labels', 'one=two'),
            ('replace', '/labels', {'one': 'two'}))

    @decorators.idempotent_id('057c9022-f01b-409b-ab0c-300ed31b9d2e')
    @decorators.attr(type='negative')
    def test_values_of_other_types(self):
        self.assert_all_refused(
            ('replace', '/docker_volume_size', 'seven'),
            ('replace', '/apiserver_port', 'seven'),
            ('replace', '/dns_nameserver', 7),
            ('replace', '/floating_ip_enabled', 'maybe'),
            kind='patched type')

    @decorators.idempotent_id('283a83d3-0583-43e8-ab46-9f55c4c48250')
    @decorators.attr(type='negative')
    def test_paths_that_lead_nowhere(self):
        self.assert_all_refused(
            ('replace', '/colour', 'blue'), ('add', '/colour', 'blue'),
            ('remove', '/colour'), ('remove', '/labels/nobody'),
            ('replace', '/labels/one/two', 'three'),
            ('replace', 'name', 'one'), ('replace', '', 'one'),
            ('replace', '/', 'one'), ('replace', '//name', 'one'),
            ('replace', '/name/../uuid', 'one'), ('replace', 7, 'one'),
            ('replace', '/name\n', 'one'))

    @decorators.idempotent_id('a8924bb6-73f0-487e-8ce1-af5d4720780a')
    @decorators.attr(type='negative')
    def test_operations_that_are_none(self):
        self.assert_all_refused(
            ('test', '/name', 'one'), ('move', '/name', '/tags'),
            ('copy', '/name', '/tags'), ('destroy', '/name', 'one'),
            ('', '/name', 'one'), (7, '/name', 'one'),
            ('replace', '/name'), ('replace',))

    @decorators.idempotent_id('f5e75701-f9f4-4b7c-bef4-4aef8a17d073')
    @decorators.attr(type='negative')
    def test_a_field_that_is_there_cannot_be_added(self):
        self.assert_all_refused(
            ('add', '/name', 'one'), ('add', '/image_id', 'one'))

    @decorators.idempotent_id('ea693415-98b9-404f-ac8e-1295bebe4f4a')
    @decorators.attr(type='negative')
    def test_all_of_it_is_refused_when_a_part_is(self):
        self.assertRaises(
            lib_exc.BadRequest, self.update,
            ('replace', '/tags', 'one'), ('replace', '/colour', 'blue'))

        self.assertEqual(
            self.template, self.magnum.templates.show_cluster_template(
                self.template['uuid']))

    @decorators.idempotent_id('45fdd91c-85d9-448b-94be-3d88e23ed952')
    @decorators.attr(type='negative')
    def test_member_does_not_publish(self):
        self.assertRaises(
            lib_exc.Forbidden, self.update, ('replace', '/public', 'true'))

    @decorators.idempotent_id('965290fc-f862-4620-82b3-f2eb9776b13a')
    @decorators.attr(type='negative')
    def test_member_does_not_hide(self):
        self.assertRaises(
            lib_exc.Forbidden, self.update, ('replace', '/hidden', 'true'))

    @decorators.idempotent_id('d991a283-ce97-4307-9c83-b139af5ef71f')
    @decorators.attr(type='negative')
    def test_a_name_of_two_is_none(self):
        name = self.rand_name('twin')
        for _ in range(2):
            self.create_template(name=name)
        templates = self.magnum.templates

        for ask in (templates.show_cluster_template,
                    templates.delete_cluster_template,
                    lambda ident: templates.update_cluster_template(
                        ident, [{'op': 'replace', 'path': '/tags',
                                 'value': 'one'}])):
            self.assertRaises(lib_exc.Conflict, ask, name)
