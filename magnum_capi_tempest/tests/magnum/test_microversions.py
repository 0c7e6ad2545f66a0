# SPDX-License-Identifier: Apache-2.0

"""What each microversion added, tested just below and at its number.

Sources: magnum/api/rest_api_version_history.rst and the decorators
``api_version`` of magnum/api/controllers/v1 (magnum 23.0.0). On both sides of
an edge, a test requests something that does not exist: a 404 means that the
request was understood. Only whether an answer waits for the operation needs a
cluster.
"""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.negative import refusals

#: Statuses of a request that is unknown in a microversion.
UNKNOWN = (400, 404, 406)


class BaseMicroversionsTest(base.BaseMagnumCapiTest):

    required_options = ()

    def status(self, ask, *args, **kwargs):
        return refusals.answer(ask, *args, **kwargs).status


class EdgesTest(BaseMicroversionsTest):

    def setUp(self):
        super().setUp()
        self.nobody = data_utils.rand_uuid()

    def assert_added(self, microversion, before, ask, *args, unknown=406,
                     **kwargs):
        """Assert that a request exists as of a microversion only."""
        self.require_microversions(before, microversion)
        self.assertEqual(
            (unknown, 404),
            (self.status(ask, *args, microversion=before, **kwargs),
             self.status(ask, *args, microversion=microversion, **kwargs)))

    @decorators.idempotent_id('45a0c854-421d-43b2-a409-899f7ab07072')
    @decorators.attr(type='slow')
    @flags.configured(*base.TEMPLATE_OPTIONS)
    def test_1_2_answers_before_the_work_is_done(self):
        # Up to 1.1 it answered later; Magnum 23 answers at once in both.
        self.require_microversions('1.2')

        uuid = self.request_cluster(
            self.create_template(), keypair=self.create_keypair(),
            microversion='1.2')

        cluster = self.magnum.clusters.show_cluster(uuid)
        self.assertEqual('CREATE_IN_PROGRESS', cluster['status'])
        # Not every driver supports deleting a cluster during its creation.
        self.waiter.until_created(uuid)

    @decorators.idempotent_id('f81907e3-5ca7-4a94-99d3-45ff1e2df915')
    def test_1_3_rolls_back(self):
        self.assert_added(
            '1.3', '1.2', self.magnum.clusters.update_cluster, self.nobody,
            [{'op': 'replace', 'path': '/node_count', 'value': 1}],
            rollback=True, unknown=400)

    @decorators.idempotent_id('2d3f59ee-7145-4740-a5a9-412d5aac70bd')
    def test_1_4_has_stats(self):
        self.require_microversions('1.4')

        self.assertEqual(200, self.status(
            self.magnum.stats.show_stats, microversion='1.4'))

    @decorators.idempotent_id('67f30c2a-9d74-4a68-94fc-004a9133fd9d')
    def test_1_5_rotates_certificates(self):
        self.require_microversions('1.5')

        self.assertEqual(404, self.status(
            self.magnum.certificates.rotate_ca_certificate, self.nobody,
            microversion='1.5'))

    @decorators.idempotent_id('e0a55036-4ac8-4e35-931c-8b89392e7459')
    def test_1_6_has_quotas(self):
        self.require_microversions('1.6')

        self.assertEqual(200, self.status(
            self.magnum.quotas.show_quota,
            self.os_primary.credentials.project_id, microversion='1.6'))

    @decorators.idempotent_id('666c6a6b-a5b8-49e0-a6a5-e418db5df0d9')
    @decorators.attr(type='negative')
    @flags.needs('magnum.microversion.edges-checked')
    def test_those_four_do_not_exist_before(self):
        self.require_microversions('1.3', '1.13')
        project = self.os_primary.credentials.project_id

        found = [
            self.status(self.magnum.stats.show_stats, microversion='1.3'),
            self.status(self.magnum.certificates.rotate_ca_certificate,
                        self.nobody, microversion='1.4'),
            self.status(self.magnum.quotas.show_quota, project,
                        microversion='1.5'),
            self.status(self.magnum.nodegroups.create_nodegroup, self.nobody,
                        name='one', node_labels={'one': 'two'},
                        microversion='1.13')]

        self.assertEqual([406, 406, 406, 400], found)

    @decorators.idempotent_id('0ae5d972-161d-4388-a9d0-5694344c4396')
    def test_1_7_resizes(self):
        self.assert_added('1.7', '1.6', self.magnum.clusters.resize_cluster,
                          self.nobody, node_count=1)

    @decorators.idempotent_id('8a302850-f74e-4241-bd17-73caed633b12')
    def test_1_8_upgrades(self):
        self.require_microversions('1.6', '1.8')
        template = data_utils.rand_uuid()

        before, after = (self.status(
            self.magnum.clusters.upgrade_cluster, self.nobody,
            cluster_template=template, microversion=microversion)
            for microversion in ('1.6', '1.8'))

        # A filter in front of Magnum may look up the cluster first.
        self.assertIn(before, UNKNOWN)
        self.assertEqual(404, after)

    @decorators.idempotent_id('8ea14d28-566a-455d-8ca4-4ad48a37619a')
    def test_1_9_creates_node_groups(self):
        self.assert_added(
            '1.9', '1.8', self.magnum.nodegroups.create_nodegroup,
            self.nobody, name='one')

    @decorators.idempotent_id('c93a71b3-2ce9-436d-8969-eabdfd40f5aa')
    def test_1_9_lists_node_groups(self):
        self.assert_added(
            '1.9', '1.8', self.magnum.nodegroups.list_nodegroups, self.nobody)

    @decorators.idempotent_id('3a290912-e2cc-4ed8-9291-1507bbb4b235')
    def test_1_9_shows_node_groups(self):
        self.assert_added(
            '1.9', '1.8', self.magnum.nodegroups.show_nodegroup, self.nobody,
            'one')

    @decorators.idempotent_id('23dc6aa4-e483-44d7-99a3-6578f782e4db')
    def test_1_9_updates_node_groups(self):
        self.assert_added(
            '1.9', '1.8', self.magnum.nodegroups.update_nodegroup,
            self.nobody, 'one',
            [{'op': 'replace', 'path': '/min_node_count', 'value': 1}])

    @decorators.idempotent_id('5fcce669-9a2b-49c3-bc05-bd2c90b66f02')
    def test_1_9_deletes_node_groups(self):
        self.assert_added(
            '1.9', '1.8', self.magnum.nodegroups.delete_nodegroup,
            self.nobody, 'one')

    @decorators.idempotent_id('606f0040-dda2-470c-9ea4-2c9570bc4347')
    def test_1_10_resizes_to_zero(self):
        self.assert_added('1.10', '1.9', self.magnum.clusters.resize_cluster,
                          self.nobody, node_count=0, unknown=400)

    @decorators.idempotent_id('30c7d344-8682-44af-b5c1-c13d3036e403')
    def test_1_10_misses_a_template_with_404(self):
        # The decorator ct_not_found_to_bad_request is missing from then on.
        self.assert_added(
            '1.10', '1.9', self.magnum.clusters.create_cluster,
            name='one', cluster_template_id=self.nobody, unknown=400)

    @decorators.idempotent_id('0cd8e00d-ec0e-4091-bef4-030b75b81c80')
    def test_1_11_has_no_bays(self):
        self.require_microversions('1.11')

        for url in ('bays', 'baymodels'):
            self.assertEqual(404, self.status(
                self.magnum.clusters.send_text, 'GET', url, None,
                microversion='1.11'))

    @decorators.idempotent_id('fed2f1e9-e9b0-4476-825b-09d0cee0298c')
    def test_1_12_rotates_credentials(self):
        self.assert_added(
            '1.12', '1.11', self.magnum.clusters.rotate_credential,
            self.nobody)

    @decorators.idempotent_id('1057658a-658a-4939-904d-74e6df225d5c')
    def test_1_14_takes_labels_and_taints_of_nodes(self):
        self.require_microversions('1.14')

        self.assertEqual(404, self.status(
            self.magnum.nodegroups.create_nodegroup, self.nobody, name='one',
            node_labels={'one': 'two'},
            node_taints=[{'key': 'one', 'effect': 'NoSchedule'}],
            microversion='1.14'))


class ZeroNodesTest(BaseMicroversionsTest):

    required_options = base.TEMPLATE_OPTIONS

    @decorators.idempotent_id('7fe1b4ff-db58-44be-9998-1693ca920c6b')
    def test_1_10_creates_clusters_without_workers(self):
        self.require_microversions('1.9', '1.10')
        template = self.create_template()
        # Nothing is created: the key, which is checked last, does not exist.
        body = {'name': 'one', 'cluster_template_id': template['uuid'],
                'node_count': 0, 'keypair': self.rand_name('nobody')}

        found = [self.status(self.magnum.clusters.create_cluster,
                             microversion=microversion, **body)
                 for microversion in ('1.9', '1.10')]

        self.assertEqual([400, 404], found)
