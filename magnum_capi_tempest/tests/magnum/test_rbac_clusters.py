# SPDX-License-Identifier: Apache-2.0

"""Who may do what with a cluster, its certificates and its node groups.

Every test tries all personas of :mod:`.common.personas`. Requests of allowed
personas are invalid, so that the cluster refuses them and survives; other
personas are denied before that.
"""

from tempest.lib import decorators

from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import personas
from magnum_capi_tempest.tests.common import rbac

WORKERS = operations.WORKERS

#: Personas whose request would be granted, and who are not tried.
ALLOWED = frozenset((
    personas.MEMBER, personas.PROJECT_ADMIN, personas.ADMIN))


def replace(path, value):
    return [{'op': 'replace', 'path': path, 'value': value}]


class ClustersTest(rbac.BaseRbacTest, operations.BaseOperationsTest):
    shares_cluster = True

    @decorators.idempotent_id('4623cec4-dde7-4d70-99f6-7de39eea3afe')
    def test_look(self):
        uuid = self.cluster['uuid']
        self.assert_rules(
            ('show cluster', lambda magnum: (
                magnum.clusters.show_cluster(uuid))),
            ('show cluster', lambda magnum: (
                magnum.clusters.show_cluster(self.cluster['name']))),
            ('list clusters', lambda magnum: rbac.listed(
                uuid, magnum.clusters.list_clusters(
                    **base_client.NEWEST_FIRST)['clusters'])),
            ('list clusters in detail', lambda magnum: rbac.listed(
                uuid, magnum.clusters.list_clusters_detail(
                    **base_client.NEWEST_FIRST)['clusters'])),
            ('show CA certificate', lambda magnum: (
                magnum.certificates.show_ca_certificate(uuid))),
            ('list node groups', lambda magnum: (
                magnum.nodegroups.list_nodegroups(uuid))),
            ('show node group', lambda magnum: (
                magnum.nodegroups.show_nodegroup(uuid, WORKERS))))

    @decorators.idempotent_id('e65c74a9-8db3-48c9-9941-40b448abdaab')
    def test_change(self):
        uuid, csr = self.cluster['uuid'], kubeconfig.signing_request().csr
        self.assert_rules(
            ('update cluster', lambda magnum: magnum.clusters.update_cluster(
                uuid, replace('/name', 'other'))),
            ('sign certificate', lambda magnum: (
                magnum.certificates.create_certificate(
                    cluster_uuid=uuid, csr=csr))),
            # There is one with this name already.
            ('create node group', lambda magnum: (
                magnum.nodegroups.create_nodegroup(uuid, name=WORKERS))),
            # It has fewer nodes than that.
            ('update node group', lambda magnum: (
                magnum.nodegroups.update_nodegroup(
                    uuid, WORKERS, replace('/min_node_count', 10 ** 6)))),
            # It is a default group.
            ('delete node group', lambda magnum: (
                magnum.nodegroups.delete_nodegroup(uuid, WORKERS))))

    @decorators.idempotent_id('4624f7be-895e-4fa7-b619-e1b781d58cbf')
    def test_change_that_nothing_refuses(self):
        uuid = self.cluster['uuid']
        self.assert_rules(
            ('upgrade cluster', lambda magnum: (
                magnum.clusters.upgrade_cluster(
                    uuid, max_batch_size=1,
                    cluster_template=self.cluster['cluster_template_id']))),
            ('delete cluster', lambda magnum: (
                magnum.clusters.delete_cluster(uuid))),
            ('rotate CA certificate', lambda magnum: (
                magnum.certificates.rotate_ca_certificate(uuid))),
            *([('rotate credential', lambda magnum: (
                magnum.clusters.rotate_credential(
                    uuid, microversion=microversions.CREDENTIALS)))]
              if self.has_microversion(microversions.CREDENTIALS) else ()),
            leave_out=ALLOWED)

    @decorators.idempotent_id('034bdf11-6719-48ac-9dc8-a8abf3118aae')
    def test_its_template_is_hidden_and_shown_again(self):
        ident = self.cluster['cluster_template_id']

        def shown():
            return self.magnum.templates.show_cluster_template(ident)

        if shown()['public']:
            # All projects would see it.
            self.skipTest('The template is public and stays hidden')
        for word, wanted in (('true', True), ('false', False)):
            self.by[personas.PROJECT_ADMIN].templates.update_cluster_template(
                ident, replace('/hidden', word))

            self.assertIs(wanted, shown()['hidden'])

    @decorators.idempotent_id('0e1c930a-74dc-4fef-aeff-c257e4abc5cf')
    @flags.needs('magnum.control-plane.odd-only')
    def test_resize(self):
        self.assert_rules(('resize cluster', lambda magnum: (
            magnum.clusters.resize_cluster(
                self.cluster['uuid'], node_count=2,
                nodegroup='default-master'))))
