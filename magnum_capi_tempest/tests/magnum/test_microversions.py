# SPDX-License-Identifier: Apache-2.0

"""What each microversion added, tested just below and at its number.

Sources: magnum/api/rest_api_version_history.rst and the decorators
``api_version`` of magnum/api/controllers/v1 (magnum 23.0.0). On both sides of
an edge, a test requests something that does not exist: a 404 means that the
request was understood. Only whether an answer waits for the operation needs a
cluster.
"""

from tempest.lib import decorators

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals

_NOBODY = bad_input.NOBODY


def _replace(path):
    return [{'op': 'replace', 'path': path, 'value': 1}]


#: (microversion, statuses just below and from it on, what it added, request
#: of a test with options of a client).
EDGES = (
    ('1.3', (400,), 404, 'rollback', lambda test, **its: (
        test.magnum.clusters.update_cluster(
            _NOBODY, _replace('/node_count'), rollback=True, **its))),
    ('1.7', (406,), 404, 'resize', lambda test, **its: (
        test.magnum.clusters.resize_cluster(_NOBODY, node_count=1, **its))),
    # In 1.7 it exists, but does nothing; and a filter in front of Magnum may
    # look up the cluster first.
    ('1.8', (400, 404, 406), 404, 'upgrade', lambda test, **its: (
        test.magnum.clusters.upgrade_cluster(
            _NOBODY, cluster_template=_NOBODY, **its))),
    ('1.9', (406,), 404, 'create node group', lambda test, **its: (
        test.magnum.nodegroups.create_nodegroup(_NOBODY, name='one', **its))),
    ('1.9', (406,), 404, 'list node groups', lambda test, **its: (
        test.magnum.nodegroups.list_nodegroups(_NOBODY, **its))),
    ('1.9', (406,), 404, 'show node group', lambda test, **its: (
        test.magnum.nodegroups.show_nodegroup(_NOBODY, 'one', **its))),
    ('1.9', (406,), 404, 'update node group', lambda test, **its: (
        test.magnum.nodegroups.update_nodegroup(
            _NOBODY, 'one', _replace('/min_node_count'), **its))),
    ('1.9', (406,), 404, 'delete node group', lambda test, **its: (
        test.magnum.nodegroups.delete_nodegroup(_NOBODY, 'one', **its))),
    ('1.10', (400,), 404, 'resize to zero', lambda test, **its: (
        test.magnum.clusters.resize_cluster(_NOBODY, node_count=0, **its))),
    # The decorator ct_not_found_to_bad_request is missing from then on.
    ('1.10', (400,), 404, 'template not found', lambda test, **its: (
        test.magnum.clusters.create_cluster(
            name='one', cluster_template_id=_NOBODY, **its))),
    *(('1.11', (), 404, f'no {url}', lambda test, url=url, **its: (
        test.magnum.clusters.send_text('GET', url, None, **its)))
      for url in ('bays', 'baymodels')),
    ('1.12', (406,), 404, 'rotate credential', lambda test, **its: (
        test.magnum.clusters.rotate_credential(_NOBODY, **its))),
)

#: An unmodified Magnum 23 has them in all microversions.
UNCHECKED = (
    ('1.4', (406,), 200, 'stats', lambda test, **its: (
        test.magnum.stats.show_stats(**its))),
    ('1.5', (406,), 404, 'rotate certificate', lambda test, **its: (
        test.magnum.certificates.rotate_ca_certificate(_NOBODY, **its))),
    ('1.6', (406,), 200, 'quotas', lambda test, **its: (
        test.magnum.quotas.show_quota(
            test.os_primary.credentials.project_id, **its))),
    ('1.14', (400,), 404, 'labels and taints of nodes', lambda test, **its: (
        test.magnum.nodegroups.create_nodegroup(
            _NOBODY, name='one', node_labels={'one': 'two'},
            node_taints=[{'key': 'one', 'effect': 'NoSchedule'}], **its))),
)


class EdgesTest(base.BaseMagnumCapiTest):

    uses_templates = False

    def status(self, ask, *args, **kwargs):
        return refusals.answer(ask, *args, **kwargs).status

    def assert_statuses(self, asked):
        """Assert the statuses of requests, except those that are too new.

        :param asked: (microversion, allowed statuses, what, request) each.
        """
        self.assertEqual([], [
            f'{what} of {microversion}: {status}'
            for microversion, allowed, what, ask in asked
            if self.has_microversion(microversion)
            and (status := self.status(
                ask, self, microversion=microversion)) not in allowed])

    @staticmethod
    def below(rows):
        """Yield the requests of rows just below their microversion."""
        for microversion, allowed, _, what, ask in rows:
            if allowed:
                minor = int(microversion.partition('.')[2]) - 1
                yield f'1.{minor}', allowed, what, ask

    @decorators.idempotent_id('0ae5d972-161d-4388-a9d0-5694344c4396')
    def test_each_adds_something(self):
        self.assert_statuses([
            *self.below(EDGES),
            *((microversion, (status,), what, ask) for
              microversion, _, status, what, ask in (*EDGES, *UNCHECKED))])

    @decorators.idempotent_id('666c6a6b-a5b8-49e0-a6a5-e418db5df0d9')
    @decorators.attr(type='negative')
    @flags.needs('magnum.microversion.edges-checked')
    def test_those_four_do_not_exist_before(self):
        self.assert_statuses(self.below(UNCHECKED))

    @decorators.idempotent_id('45a0c854-421d-43b2-a409-899f7ab07072')
    @decorators.attr(type='slow')
    @flags.needs(*base.TEMPLATE_OPTIONS)
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

    @decorators.idempotent_id('7fe1b4ff-db58-44be-9998-1693ca920c6b')
    @flags.needs(*base.TEMPLATE_OPTIONS)
    def test_1_10_creates_clusters_without_workers(self):
        template = self.create_template()
        # Nothing is created: the key, which is checked last, does not exist.
        body = {'name': 'one', 'cluster_template_id': template['uuid'],
                'node_count': 0, 'keypair': self.rand_name('nobody')}

        self.assert_statuses(
            (microversion, (status,), 'no workers', lambda test, **its: (
                test.magnum.clusters.create_cluster(**body, **its)))
            for microversion, status in (('1.9', 400), ('1.10', 404)))
