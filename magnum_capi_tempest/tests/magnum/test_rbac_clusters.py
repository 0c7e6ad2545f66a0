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
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import personas
from magnum_capi_tempest.tests.common import rbac

#: Personas whose request would be granted, and who are not tried.
ALLOWED = frozenset((
    personas.MEMBER, personas.PROJECT_ADMIN, personas.ADMIN))


class ClustersTest(rbac.BaseRbacTest, operations.BaseOperationsTest):
    shares_cluster = True

    def setUp(self):
        super().setUp()
        self.uuid = self.cluster['uuid']

    def listed(self, answer):
        """Return whether the cluster is in a list, as an answer."""
        found = self.uuid in [c['uuid'] for c in answer['clusters']]
        return bad_input.Answer(200 if found else 404)

    @decorators.idempotent_id('4623cec4-dde7-4d70-99f6-7de39eea3afe')
    def test_show(self):
        self.assert_rule('show cluster', lambda magnum: (
            magnum.clusters.show_cluster(self.uuid)))

    @decorators.idempotent_id('01af016f-68d4-4139-885b-57df30425e75')
    def test_show_by_name(self):
        self.assert_rule('show cluster', lambda magnum: (
            magnum.clusters.show_cluster(self.cluster['name'])))

    @decorators.idempotent_id('c1885297-7760-452a-915b-def11029be8e')
    def test_list(self):
        self.assert_rule('list clusters', lambda magnum: self.listed(
            magnum.clusters.list_clusters(**base_client.NEWEST_FIRST)))

    @decorators.idempotent_id('dbfae1b5-eaa8-4d1a-af14-799eb6488040')
    def test_list_in_detail(self):
        self.assert_rule('list clusters in detail', lambda magnum: (
            self.listed(magnum.clusters.list_clusters_detail(
                **base_client.NEWEST_FIRST))))

    @decorators.idempotent_id('e65c74a9-8db3-48c9-9941-40b448abdaab')
    def test_update(self):
        self.assert_rule('update cluster', lambda magnum: (
            magnum.clusters.update_cluster(self.uuid, [
                {'op': 'replace', 'path': '/name', 'value': 'other'}])))

    @decorators.idempotent_id('0e1c930a-74dc-4fef-aeff-c257e4abc5cf')
    @flags.needs('magnum.control-plane.odd-only')
    def test_resize(self):
        self.assert_rule('resize cluster', lambda magnum: (
            magnum.clusters.resize_cluster(
                self.uuid, node_count=2, nodegroup='default-master')))

    @decorators.idempotent_id('4624f7be-895e-4fa7-b619-e1b781d58cbf')
    def test_upgrade(self):
        self.assert_rule('upgrade cluster', lambda magnum: (
            magnum.clusters.upgrade_cluster(
                self.uuid, max_batch_size=1,
                cluster_template=self.cluster['cluster_template_id'])),
            leave_out=ALLOWED)

    @decorators.idempotent_id('9e3f2d8b-7184-4103-b289-ca205b447c45')
    def test_delete(self):
        self.assert_rule('delete cluster', lambda magnum: (
            magnum.clusters.delete_cluster(self.uuid)), leave_out=ALLOWED)

    @decorators.idempotent_id('bc7ff381-3126-48a9-93cb-c0d52bafd2e2')
    def test_show_ca_certificate(self):
        self.assert_rule('show CA certificate', lambda magnum: (
            magnum.certificates.show_ca_certificate(self.uuid)))

    @decorators.idempotent_id('469b3e22-98d3-4a3c-bbd4-c51fd1545ba6')
    def test_sign_certificate(self):
        csr = kubeconfig.signing_request().csr

        self.assert_rule('sign certificate', lambda magnum: (
            magnum.certificates.create_certificate(
                cluster_uuid=self.uuid, csr=csr)))

    @decorators.idempotent_id('233a0639-65dd-478d-a22b-1b995e28caf5')
    def test_rotate_ca_certificate(self):
        self.assert_rule('rotate CA certificate', lambda magnum: (
            magnum.certificates.rotate_ca_certificate(self.uuid)),
            leave_out=ALLOWED)

    @decorators.idempotent_id('3eb78703-24d2-47c8-99cf-2c95c49497c8')
    def test_rotate_credential(self):
        self.require_microversions(microversions.CREDENTIALS)

        self.assert_rule('rotate credential', lambda magnum: (
            magnum.clusters.rotate_credential(
                self.uuid, microversion=microversions.CREDENTIALS)),
            leave_out=ALLOWED)

    @decorators.idempotent_id('b40d0f32-b13a-4f17-ad33-d7eb5748b4fd')
    def test_list_node_groups(self):
        self.assert_rule('list node groups', lambda magnum: (
            magnum.nodegroups.list_nodegroups(self.uuid)))

    @decorators.idempotent_id('925eea5e-72da-4605-8e52-8cd848289cd1')
    def test_show_node_group(self):
        self.assert_rule('show node group', lambda magnum: (
            magnum.nodegroups.show_nodegroup(self.uuid, operations.WORKERS)))

    @decorators.idempotent_id('f52ac605-af66-45ac-b6ed-31eadcb52048')
    def test_create_node_group(self):
        # There is one with this name already.
        self.assert_rule('create node group', lambda magnum: (
            magnum.nodegroups.create_nodegroup(
                self.uuid, name=operations.WORKERS)))

    @decorators.idempotent_id('95bc57fc-20da-452d-a9b7-bdb7334ccba6')
    def test_update_node_group(self):
        # It has fewer nodes than that.
        self.assert_rule('update node group', lambda magnum: (
            magnum.nodegroups.update_nodegroup(
                self.uuid, operations.WORKERS, [
                    {'op': 'replace', 'path': '/min_node_count',
                     'value': 10 ** 6}])))

    @decorators.idempotent_id('993d78da-1cd7-47d4-b94f-cf823509dfa7')
    def test_delete_node_group(self):
        # It is a default group.
        self.assert_rule('delete node group', lambda magnum: (
            magnum.nodegroups.delete_nodegroup(
                self.uuid, operations.WORKERS)))
