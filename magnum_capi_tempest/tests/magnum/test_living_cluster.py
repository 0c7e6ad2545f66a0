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
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals
from magnum_capi_tempest.tests.common import operations


def replace(path, value):
    """A JSON patch of one field."""
    return [{'op': 'replace', 'path': path, 'value': value}]


class LivingClusterTest(operations.BaseOperationsTest):
    """All tests share one cluster, as a refusal leaves it unchanged.

    ``uuid``: of the cluster; ``template``: uuid of its template.
    """

    shares_cluster = True

    # Groups without nodes.
    min_microversion = '1.10'

    def setUp(self):
        super().setUp()
        self.uuid = self.cluster['uuid']
        self.template = self.cluster['cluster_template_id']

    def group(self, microversion=None, **fields):
        """Request a node group that should be refused."""
        group = self.magnum.nodegroups.create_nodegroup(
            self.uuid, microversion=microversion,
            **{'name': 'refused', 'node_count': 1, **fields})
        self.addCleanup(self.remove_group, self.cluster, group)
        return group

    def assert_groups_refused(self, cases):
        """Assert that no node group of these cases is created."""
        refusals.assert_refused_all(self, cases)
        self.assert_no_new_group()

    def bodies(self, *bodies, microversion=None):
        """Yield the cases of node groups with such fields."""
        for body in bodies:
            yield ('node group', 'node group', repr(body),
                   lambda body=body: self.group(microversion, **body))

    def assert_no_new_group(self):
        listed = self.magnum.nodegroups.list_nodegroups(self.uuid)
        self.assertEqual([True, True], [
            g['is_default'] for g in listed['nodegroups']])

    @staticmethod
    def patches(where, ask, *patches):
        """Yield the cases of fields that cannot be changed.

        :param where: what is changed.
        :param ask: function that sends a JSON patch.
        :param patches: (path, value) pairs.
        """
        for path, value in patches:
            yield (where, 'patch of a cluster', f'{path} {value!r}',
                   lambda path=path, value=value: ask(replace(path, value)))

    def update_group(self, patch):
        """Send a patch of the default worker group."""
        return self.magnum.nodegroups.update_nodegroup(
            self.uuid, operations.WORKERS, patch)

    def upgrade(self, **changes):
        return self.magnum.clusters.upgrade_cluster(self.uuid, **{
            'cluster_template': self.template, 'max_batch_size': 1,
            **changes})

    def update(self, patch):
        return self.magnum.clusters.update_cluster(self.uuid, patch)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('72e7d51c-4201-4c5f-acd6-3be538121046')
    def test_every_field_of_a_node_group(self):
        self.assert_groups_refused(refusals.of_fields(
            'node group', self.group))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('dc27cc16-307d-4143-a1bc-96d6306d0d4f')
    def test_labels_and_taints_of_nodes(self):
        newer = microversions.NODE_LABELS
        self.require_microversions(newer)

        self.assert_groups_refused((
            *refusals.of_kind(
                'node group node_labels', 'labels',
                lambda value: self.group(newer, node_labels=value)),
            *self.bodies(
                # kubelet would not start with them.
                {'node_labels': {'kubernetes.io/one': 'two'}},
                {'node_labels': {'one.k8s.io/two': 'three'}},
                *({'node_taints': value} for value in (
                    'one', 7, ['one'], {'one': 'two'},
                    [{'key': 'one'}], [{'effect': 'NoSchedule'}],
                    [{'key': '', 'effect': 'NoSchedule'}],
                    [{'key': 'one', 'effect': 'Never'}],
                    [{'key': 'one', 'effect': 'NoSchedule',
                      'colour': 'blue'}],
                    [{'key': 'one', 'effect': 'NoSchedule',
                      'value': ['two']}])), microversion=newer)))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('ea8d47aa-8012-476a-96bf-8c7e1a7c9e36')
    def test_node_group_bounds(self):
        self.assert_groups_refused(self.bodies(
            {'min_node_count': 2, 'max_node_count': 1},
            {'node_count': 3, 'max_node_count': 2},
            {'node_count': 1, 'min_node_count': 2}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('54a4b90d-2217-4a0f-a062-ca782c346d12')
    def test_fields_that_stay(self):
        stay = (
            'name', 'labels', 'flavor_id', 'status', 'id', 'uuid',
            'project_id', 'stack_id', 'colour')
        of_group = (
            'cluster_id', 'docker_volume_size', 'image_id', 'node_addresses',
            'node_count', 'role', 'is_default', 'status_reason', 'version')
        of_cluster = (
            'cluster_template_id', 'keypair', 'master_count',
            'master_flavor_id', 'user_id', 'cluster_id', 'api_address',
            'created_at')
        refusals.assert_refused_all(self, (
            *self.patches('node group update', self.update_group, *(
                (f'/{field}', 'one') for field in (*stay, *of_group))),
            *self.patches('cluster update', self.update, *(
                (f'/{field}', 'one') for field in (*stay, *of_cluster)))))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('215f54a0-cfad-485b-9430-0bfb6b3af0a7')
    def test_counts_of_updates_and_resizes(self):
        resize = self.magnum.clusters.resize_cluster
        refusals.assert_refused_all(self, (
            *self.patches(
                'node group update', self.update_group,
                ('/min_node_count', 10 ** 6), ('/min_node_count', -1),
                ('/min_node_count', 'one'), ('/max_node_count', 'one'),
                ('/max_node_count', -1)),
            *self.patches(
                'cluster update', self.update,
                *(('/node_count', value) for value in (
                    -1, 'one', None, [1], {}, 1.5))),
            *refusals.of_kind(
                'resize node_count', 'count',
                lambda value: resize(self.uuid, node_count=value)),
            ('resize node_count', 'resize', 'null',
             lambda: resize(self.uuid, node_count=None)),
            ('resize node_count', 'resize', 'nothing',
             lambda: resize(self.uuid)),
            *refusals.of_kind(
                'resize nodegroup', 'slow reference',
                lambda value: resize(
                    self.uuid, node_count=1, nodegroup=value)),
            *(('resize nodes_to_remove', 'nodes', repr(value),
               lambda value=value: resize(
                   self.uuid, node_count=1, nodes_to_remove=value))
              for value in ('one', 7, {'one': 'two'}, [{}], [['one']]))))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('9d5d950d-75a2-443b-9561-176ac738df96')
    def test_node_groups_that_do_not_exist_or_stay(self):
        groups = self.magnum.nodegroups
        refusals.assert_refused_all(self, [
            ('node group', 'nothing there', what, ask) for what, ask in (
                ('show', lambda: groups.show_nodegroup(self.uuid, 'nobody')),
                ('delete', lambda: groups.delete_nodegroup(
                    self.uuid, 'nobody')),
                ('update', lambda: groups.update_nodegroup(
                    self.uuid, 'nobody', replace('/min_node_count', 1))),
                ('upgrade', lambda: self.upgrade(nodegroup='nobody')))
        ], expected=bad_input.MISSING)
        refusals.assert_refused_all(self, [
            *(('node group', 'default', f'delete {name}',
               lambda name=name: groups.delete_nodegroup(self.uuid, name))
              for name in (operations.WORKERS, 'default-master')),
            *refusals.of_parameters(
                'node groups', lambda **params: groups.list_nodegroups(
                    self.uuid, **params), (
                    ('limit', '0'), ('limit', 'one'), ('marker', 'one'),
                    ('sort_key', 'colour'), ('sort_dir', 'up'),
                    ('colour', 'blue')))])

    @decorators.attr(type='negative')
    @decorators.idempotent_id('462041d3-42aa-4e1d-99e5-7f588f9a9fac')
    @flags.needs('magnum.control-plane.odd-only')
    def test_two_masters(self):
        self.assertRaises(
            lib_exc.BadRequest, self.magnum.clusters.resize_cluster,
            self.uuid, node_count=2, nodegroup='default-master')

    @decorators.attr(type='negative')
    @decorators.idempotent_id('73d6ea3c-0926-48f2-8034-b6fa384d8e72')
    def test_templates_and_batches_of_an_upgrade(self):
        refusals.assert_refused_all(self, (
            *refusals.of_kind(
                'upgrade cluster_template', 'slow reference',
                lambda value: self.upgrade(cluster_template=value)),
            *(('upgrade max_batch_size', 'count', name,
               lambda value=value: self.upgrade(max_batch_size=value))
              for name, value in (
                  ('zero', 0), ('a negative number', -1), ('a word', 'seven'),
                  ('a list', [1]), ('an object', {'one': 1}))),
            # The resource exists, but does nothing.
            ('upgrade', 'microversion', '1.7',
             lambda: self.upgrade(microversion='1.7'))))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('ac8a641d-55f3-42d7-a97b-970bb8399ae1')
    def test_signing_requests(self):
        sign = self.magnum.certificates.create_certificate
        refusals.assert_refused_all(self, (
            *refusals.of_kind(
                'certificate csr', 'signing request',
                lambda value: sign(cluster_uuid=self.uuid, csr=value)),
            ('certificate csr', 'signing request', 'nothing',
             lambda: sign(cluster_uuid=self.uuid)),
            *refusals.of_kind(
                'certificate colour', 'unknown',
                lambda value: sign(
                    cluster_uuid=self.uuid, colour=value,
                    csr=kubeconfig.signing_request().csr))))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('d23bdab1-564c-49ec-b277-84a8cca61e5d')
    def test_its_template_is_not_changed_or_deleted(self):
        templates = self.magnum.templates
        before = templates.show_cluster_template(self.template)

        refusals.assert_refused_all(self, (
            *self.patches(
                'template of a cluster',
                lambda patch: templates.update_cluster_template(
                    self.template, patch),
                ('/flavor_id', before['master_flavor_id']),
                ('/dns_nameserver', '192.0.2.9'), ('/docker_volume_size', 9),
                ('/no_proxy', 'example.com'), ('/labels', "{'one': 'two'}"),
                ('/floating_ip_enabled', 'false')),
            ('template of a cluster', 'deletion', '',
             lambda: templates.delete_cluster_template(self.template))))

        self.assertEqual(
            before, templates.show_cluster_template(self.template))

    @decorators.idempotent_id('4668736b-3db6-49a1-b9b9-e12b9c7f04fc')
    def test_its_template_gets_another_name_and_tags(self):
        wanted = {'name': self.rand_name('renamed'), 'tags': 'one,two'}

        for field, value in wanted.items():
            self.magnum.templates.update_cluster_template(
                self.template, replace(f'/{field}', value))

        found = self.magnum.templates.show_cluster_template(self.template)
        self.assertEqual(wanted, {field: found[field] for field in wanted})
