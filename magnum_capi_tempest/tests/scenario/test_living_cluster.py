# SPDX-License-Identifier: Apache-2.0

"""Requests that an existing cluster must refuse, without any change to it.

They are about its node groups, resizes, upgrades and certificates, and about
its template, which cannot be changed or deleted while the cluster exists.
"""

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common.negative import refused_updates
from magnum_capi_tempest.tests.common import operations


class LivingClusterTest(refused_updates.BaseLivingClusterTest):

    def shown_template(self):
        return self.magnum.templates.show_cluster_template(self.template)

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('6646f5b4-076b-45ec-b4d6-d980a574d4dd')
    def test_node_group_name(self):
        self.assert_group_refuses('name', 'text')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('d01864c4-a531-4000-879c-2c2c90c43118')
    def test_node_group_flavor_id(self):
        self.assert_group_refuses('flavor_id', 'text')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('c2f4e2b9-9d2a-4f41-a79c-38bd869efac5')
    def test_node_group_image_id(self):
        self.assert_group_refuses('image_id', 'text')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('7e78e80d-25c9-4eab-83b1-e4f3cf350c12')
    def test_node_group_role(self):
        self.assert_group_refuses('role', 'text')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('dec506d2-d2e2-47b4-9cc0-ac5d193235ef')
    def test_node_group_node_count(self):
        self.assert_group_refuses('node_count', 'count')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('6b9ee6ce-3ecf-45a0-8f1c-73a0b2f09e23')
    def test_node_group_min_node_count(self):
        self.assert_group_refuses('min_node_count', 'count')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('0e5c505f-6ed7-4a54-a627-ceb37440297b')
    def test_node_group_max_node_count(self):
        self.assert_group_refuses('max_node_count', 'count')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('2c02b11e-8ab7-473d-a667-d1cbe4b33d3e')
    def test_node_group_docker_volume_size(self):
        self.assert_group_refuses('docker_volume_size', 'count')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('000e590e-c0bf-4fed-a518-81bb283df3b4')
    def test_node_group_labels(self):
        self.assert_group_refuses('labels', 'labels')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('f5f0127f-b561-40f7-9c40-caa2c5a89330')
    def test_node_group_node_labels(self):
        self.require_microversions(microversions.NODE_LABELS)

        self.assert_group_refuses(
            'node_labels', 'labels', microversions.NODE_LABELS)

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('a47f79fa-939c-43c5-964f-dd74110bb525')
    def test_node_group_merge_labels(self):
        self.assert_group_refuses('merge_labels', 'boolean')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('d3bb7269-8128-4deb-9acc-29edf4adaa85')
    def test_node_group_is_default(self):
        self.assert_group_refuses('is_default', 'boolean')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('e64258fb-beff-47c2-9771-7ac989c00dfc')
    def test_node_group_project_id(self):
        self.assert_group_refuses('project_id', 'read-only')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('a1935da8-bc9e-4cdd-b409-806edcefe300')
    def test_node_group_stack_id(self):
        self.assert_group_refuses('stack_id', 'read-only')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('8d5c16f1-9f91-46ae-a13b-5648925900ac')
    def test_node_group_node_addresses(self):
        self.assert_group_refuses('node_addresses', 'read-only')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('278e81a1-9c6c-40db-b4b7-e5209179c38c')
    def test_node_group_field_that_does_not_exist(self):
        self.assert_group_refuses('colour', 'unknown')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('ea8d47aa-8012-476a-96bf-8c7e1a7c9e36')
    def test_node_group_bounds(self):
        self.assert_groups_refused(
            {'min_node_count': 2, 'max_node_count': 1},
            {'node_count': 3, 'max_node_count': 2},
            {'node_count': 1, 'min_node_count': 2})

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('12c75b86-cc7e-4cab-b5f4-2db8157c2a6e')
    def test_node_group_of_masters(self):
        self.assert_groups_refused({'role': 'master'})

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('80710853-fbd3-4e35-ab9b-c1c23fcf35cd')
    def test_node_group_of_a_name_that_is_there(self):
        self.assert_groups_refused({'name': operations.WORKERS})

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('ddef46c5-d4d5-4520-add5-ac199152c45a')
    def test_node_group_labels_of_kubernetes(self):
        self.require_microversions(microversions.NODE_LABELS)

        # kubelet would not start with them.
        self.assert_groups_refused(
            {'node_labels': {'kubernetes.io/one': 'two'}},
            {'node_labels': {'one.k8s.io/two': 'three'}},
            microversion=microversions.NODE_LABELS)

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('aeb8d990-f085-4d07-b77d-47695c3a237d')
    def test_node_group_taints(self):
        self.require_microversions(microversions.NODE_LABELS)

        self.assert_groups_refused(*({'node_taints': value} for value in (
            'one', 7, ['one'], {'one': 'two'},
            [{'key': 'one'}], [{'effect': 'NoSchedule'}],
            [{'key': '', 'effect': 'NoSchedule'}],
            [{'key': 'one', 'effect': 'Never'}],
            [{'key': 'one', 'effect': 'NoSchedule', 'colour': 'blue'}],
            [{'key': 'one', 'effect': 'NoSchedule', 'value': ['two']}])),
            microversion=microversions.NODE_LABELS)

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('95dd5748-1584-4bf8-8cdf-218ba02787a7')
    def test_node_group_fields_that_stay(self):
        self.assert_patches_refused(self.update_group, *(
            (f'/{field}', 'one') for field in (
                'name', 'cluster_id', 'project_id', 'docker_volume_size',
                'labels', 'flavor_id', 'image_id', 'node_addresses',
                'node_count', 'role', 'is_default', 'stack_id', 'status',
                'status_reason', 'version', 'id', 'uuid', 'colour')))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('ab9d68b4-b447-4fc4-a687-ac813f6ab284')
    def test_node_group_bounds_of_an_update(self):
        self.assert_patches_refused(
            self.update_group,
            ('/min_node_count', 10 ** 6), ('/min_node_count', -1),
            ('/min_node_count', 'one'), ('/max_node_count', 'one'),
            ('/max_node_count', -1))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('1afdee0a-4f90-4d8d-8856-ec23316ab57d')
    def test_node_group_that_is_a_default_one_stays(self):
        for name in (operations.WORKERS, 'default-master'):
            self.assertRaises(
                lib_exc.BadRequest, self.magnum.nodegroups.delete_nodegroup,
                self.uuid, name)

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('9d5d950d-75a2-443b-9561-176ac738df96')
    def test_node_group_that_does_not_exist(self):
        groups = self.magnum.nodegroups
        for ask, *args in (
                (groups.show_nodegroup,), (groups.delete_nodegroup,),
                (groups.update_nodegroup,
                 refused_updates.replace('/min_node_count', 1))):
            self.assertRaises(
                lib_exc.NotFound, ask, self.uuid, 'nobody', *args)

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('56f19425-2e98-4aac-b1a7-2e60d6a02a62')
    def test_node_group_lists(self):
        self.assert_refused_all(
            ('parameter', f'{key}={value}', lambda key=key, value=value:
             self.magnum.nodegroups.list_nodegroups(
                 self.uuid, **{key: value}))
            for key, value in (
                ('limit', '0'), ('limit', 'one'), ('marker', 'one'),
                ('sort_key', 'colour'), ('sort_dir', 'up'),
                ('colour', 'blue')))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('88dbb531-21c0-40de-a5ea-f4aa53eedf65')
    def test_fields_of_the_cluster_that_stay(self):
        self.assert_patches_refused(
            lambda patch: self.magnum.clusters.update_cluster(
                self.uuid, patch),
            *((f'/{field}', 'one') for field in (
                'name', 'cluster_template_id', 'keypair', 'master_count',
                'labels', 'flavor_id', 'master_flavor_id', 'uuid', 'id',
                'project_id', 'user_id', 'stack_id', 'cluster_id', 'status',
                'api_address', 'created_at', 'colour')))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('ca2caa40-a210-4ce7-9f15-d01c3c2e6af7')
    def test_node_counts_of_an_update(self):
        self.assert_patches_refused(
            lambda patch: self.magnum.clusters.update_cluster(
                self.uuid, patch),
            ('/node_count', -1), ('/node_count', 'one'),
            ('/node_count', None), ('/node_count', [1]),
            ('/node_count', {}), ('/node_count', 1.5))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('5707e590-835c-4ac0-a623-e060e41fb1db')
    def test_node_counts_of_a_resize(self):
        self.assert_field_refuses(
            'count', lambda value: self.magnum.clusters.resize_cluster(
                self.uuid, node_count=value))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('5a0901db-9ef4-4409-90f0-b2441c689f31')
    def test_resize_without_a_count(self):
        self.assert_refused_all([
            ('resize', 'null', lambda: self.magnum.clusters.resize_cluster(
                self.uuid, node_count=None)),
            ('resize', 'nothing', lambda: (
                self.magnum.clusters.resize_cluster(self.uuid)))])

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('a15806cf-2b51-4642-98ea-a3c8b633f04e')
    def test_resize_of_groups_that_are_none(self):
        self.assert_field_refuses(
            'slow reference',
            lambda value: self.magnum.clusters.resize_cluster(
                self.uuid, node_count=1, nodegroup=value))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('6557cf6b-f434-42b6-bd38-75b6437f3e5e')
    def test_nodes_to_remove_that_are_none(self):
        self.assert_refused_all(
            ('nodes', repr(value), lambda value=value: (
                self.magnum.clusters.resize_cluster(
                    self.uuid, node_count=1, nodes_to_remove=value)))
            for value in ('one', 7, {'one': 'two'}, [{}], [['one']]))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('462041d3-42aa-4e1d-99e5-7f588f9a9fac')
    @flags.needs('magnum.control-plane.odd-only')
    def test_two_masters(self):
        self.assertRaises(
            lib_exc.BadRequest, self.magnum.clusters.resize_cluster,
            self.uuid, node_count=2, nodegroup='default-master')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('9106e30e-f188-475e-9986-2f863eb6f06e')
    def test_templates_of_an_upgrade_that_are_none(self):
        self.assert_field_refuses(
            'slow reference',
            lambda value: self.magnum.clusters.upgrade_cluster(
                self.uuid, cluster_template=value, max_batch_size=1))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('55b97d9a-d5ab-4b80-bc77-3a93935534f4')
    def test_batches_of_an_upgrade(self):
        self.assert_refused_all(
            ('count', name, lambda value=value: (
                self.magnum.clusters.upgrade_cluster(
                    self.uuid, cluster_template=self.template,
                    max_batch_size=value)))
            for name, value in (
                ('zero', 0), ('a negative number', -1), ('a word', 'seven'),
                ('a list', [1]), ('an object', {'one': 1})))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('a0d75d10-ca2d-4baa-9f75-9deac9f9205a')
    def test_upgrade_of_a_group_that_does_not_exist(self):
        self.assertRaises(
            lib_exc.NotFound, self.magnum.clusters.upgrade_cluster,
            self.uuid, cluster_template=self.template, max_batch_size=1,
            nodegroup='nobody')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('ea98767a-5782-4282-88fc-ae5862503c97')
    def test_upgrade_of_microversion_1_7(self):
        # The resource exists, but does nothing.
        self.assertRaises(
            lib_exc.BadRequest, self.magnum.clusters.upgrade_cluster,
            self.uuid, cluster_template=self.template, max_batch_size=1,
            microversion='1.7')

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('35c63579-cba9-414a-900a-66470cf26ce7')
    def test_signing_requests_that_are_none(self):
        self.assert_field_refuses(
            'signing request',
            lambda value: self.magnum.certificates.create_certificate(
                cluster_uuid=self.uuid, csr=value))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('838bcc6b-f874-4a48-aaa4-e7ebfa4eb4ff')
    def test_no_signing_request(self):
        self.assert_refused_all([
            ('signing request', 'nothing', lambda: (
                self.magnum.certificates.create_certificate(
                    cluster_uuid=self.uuid)))])

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('92739a77-8450-47ef-b7fd-eb6f7aa8893c')
    def test_certificates_have_no_other_fields(self):
        self.assert_field_refuses(
            'unknown',
            lambda value: self.magnum.certificates.create_certificate(
                cluster_uuid=self.uuid, colour=value,
                csr=kubeconfig.signing_request().csr))

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('674a137d-932f-4404-aae1-1a5b04627c39')
    def test_its_template_is_not_deleted(self):
        self.assertRaises(
            lib_exc.BadRequest,
            self.magnum.templates.delete_cluster_template, self.template)

    @decorators.attr(type=['slow', 'negative'])
    @decorators.idempotent_id('d23bdab1-564c-49ec-b277-84a8cca61e5d')
    def test_its_template_is_not_changed(self):
        before = self.magnum.templates.show_cluster_template(self.template)

        self.assert_patches_refused(
            lambda patch: self.magnum.templates.update_cluster_template(
                self.template, patch),
            ('/flavor_id', before['master_flavor_id']),
            ('/dns_nameserver', '192.0.2.9'), ('/docker_volume_size', 9),
            ('/no_proxy', 'example.com'), ('/labels', "{'one': 'two'}"),
            ('/floating_ip_enabled', 'false'))

        self.assertEqual(before, self.magnum.templates.show_cluster_template(
            self.template))

    @decorators.attr(type='slow')
    @decorators.idempotent_id('4668736b-3db6-49a1-b9b9-e12b9c7f04fc')
    def test_its_template_is_renamed(self):
        name = self.rand_name('renamed')

        self.magnum.templates.update_cluster_template(
            self.template, refused_updates.replace('/name', name))

        found = self.magnum.templates.show_cluster_template(self.template)
        self.assertEqual(name, found['name'])

    @decorators.attr(type='slow')
    @decorators.idempotent_id('0b2863be-f0fc-4491-8006-e169068c466c')
    def test_its_template_gets_tags(self):
        self.magnum.templates.update_cluster_template(
            self.template, refused_updates.replace('/tags', 'one,two'))

        found = self.magnum.templates.show_cluster_template(self.template)
        self.assertEqual('one,two', found['tags'])

    @decorators.attr(type='slow')
    @decorators.idempotent_id('034bdf11-6719-48ac-9dc8-a8abf3118aae')
    def test_its_template_is_hidden_and_shown_again(self):
        if self.shown_template()['public']:
            # All projects would see it.
            self.skipTest('The template is public and stays hidden')
        for word, wanted in (('true', True), ('false', False)):
            self.project_admin.templates.update_cluster_template(
                self.template, refused_updates.replace('/hidden', word))

            self.assertIs(wanted, self.shown_template()['hidden'])

    @decorators.attr(type='slow')
    @decorators.idempotent_id('f60613f7-4518-4e2d-800b-b05ee68589cf')
    def test_its_template_is_published_for_good(self):
        # Hidden first, and until it is deleted: it is in no list of the other
        # projects, which may be those of somebody else's users.
        self.project_admin.templates.update_cluster_template(
            self.template, refused_updates.replace('/hidden', 'true'))
        self.assertIs(True, self.shown_template()['hidden'])

        self.project_admin.templates.update_cluster_template(
            self.template, refused_updates.replace('/public', 'true'))

        found = self.shown_template()
        self.assertEqual((True, True), (found['public'], found['hidden']))
        # Another project may have created a cluster from it meanwhile.
        self.assertRaises(
            lib_exc.BadRequest,
            self.project_admin.templates.update_cluster_template,
            self.template, refused_updates.replace('/public', 'false'))
