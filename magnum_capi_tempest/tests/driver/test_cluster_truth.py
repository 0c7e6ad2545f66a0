# SPDX-License-Identifier: Apache-2.0

"""Magnum reports the truth about clusters, and refuses the impossible."""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

TIMEOUT = 'lifecycle.cluster.create-timeout'


@flags.promise('lifecycle.cluster.complete-means-ready')
class CompleteTest(operations.BaseOperationsTest):
    """All tests share a cluster with slow workers."""

    needs = ('fault_flavors.slow', 'workload_api')

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        # Templates first: they are deleted last.
        slow = {'flavor_id': flags.value('fault_flavors.slow')}
        old = cls.create_class_template(**slow)
        cls.newer = CONF.magnum_capi.upgrade_image_id and (
            cls.create_class_template(
                **slow, **factories.upgrade_changes(CONF)))
        cls.cluster = cls.create_class_cluster(old)
        cls.when_created = cls.read_nodes(cls.cluster)

    def setUp(self) -> None:
        super().setUp()
        self.before = self.waiter.before(
            self.cluster['uuid'], operations.WORKERS)

    def workers_to_come(self) -> int:
        """Return one node more than there are; later, as many as there are."""
        workers: int = self.before.group['node_count']
        self.addCleanup(self.resize_cluster, self.cluster, workers,
                        operations.WORKERS)
        return workers + 1

    @decorators.idempotent_id('f8817ce7-dc5c-4f16-ad0d-a8d9c7e4323a')
    def test_create(self) -> None:
        self.assert_nodes_now(self.cluster, state=self.when_created)

    @flags.needs(flags.RESIZE)
    @decorators.idempotent_id('a479980f-2412-4fb3-9c9a-8fea6951adf9')
    def test_resize(self) -> None:
        workers = self.workers_to_come()

        cluster = self.resize_cluster(
            self.cluster, workers, operations.WORKERS)

        self.assert_nodes_now(cluster, workers)

    @flags.needs(flags.RESIZE, 'lifecycle.credential.rotation')
    @decorators.idempotent_id('a6f7d9e2-b73e-4239-b714-f1880872af87')
    def test_rotation_does_not_end_a_resize(self) -> None:
        self.require_microversions(microversions.CREDENTIALS)
        workers = self.workers_to_come()
        self.magnum.clusters.resize_cluster(
            self.cluster['uuid'], node_count=workers,
            nodegroup=operations.WORKERS)
        self.waiter.until_counted(
            self.cluster['uuid'], operations.WORKERS, workers)

        self.magnum.clusters.rotate_credential(
            self.cluster['uuid'], microversion=microversions.CREDENTIALS)

        cluster = self.waiter.until_updated(
            self.cluster['uuid'], self.before, workers)
        self.assert_nodes_now(cluster, workers)

    @flags.needs('upgrade_image_id')
    @decorators.idempotent_id('87442cd1-2b47-440e-98d7-44e4e68d5a1c')
    def test_upgrade(self) -> None:
        cluster = self.upgrade_cluster(self.cluster, self.newer)

        self.assertNotEqual(
            self.cluster['coe_version'], cluster['coe_version'])
        self.assert_nodes_now(cluster, self.before.group['node_count'])


@flags.promise('lifecycle.cluster.failure-reported')
class FailureTest(operations.BaseOperationsTest):
    """Clusters that cannot become ready are reported as failed.

    The minute of create_timeout passes while the other tests run.
    """

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        stuck_flavor = flags.value('fault_flavors.stuck')
        if stuck_flavor and not flags.not_promised(TIMEOUT):
            # A minute is the minimum.
            cls.stuck = cls.request_class_cluster(
                cls.create_class_template(flavor_id=stuck_flavor),
                create_timeout=1)
            # Resources created for it are not a leak of the current test.
            with cls.explained([cls.stuck]):
                cls.new_waiter().until_handed_over(cls.stuck)

    def assert_creation_fails(self, uuid: str) -> None:
        state = self.waiter.until_settled(uuid)
        self.assertEqual('CREATE_FAILED', state.status)
        self.assertTrue(state.status_reason,
                        'There is no status_reason for CREATE_FAILED')

    @flags.needs('fault_flavors.failing')
    @decorators.idempotent_id('601ac9e9-e84c-4634-8a01-117daecc74c2')
    def test_a_new_node_group(self) -> None:
        cluster = self.create_cluster(self.create_template())

        group = self.magnum.nodegroups.create_nodegroup(
            cluster['uuid'], name='failing', node_count=1,
            flavor_id=flags.value('fault_flavors.failing'))

        state = self.waiter.until_settled(cluster['uuid'], group['uuid'])
        self.assertEqual(('UPDATE_FAILED', 'CREATE_FAILED'),
                         (state.status, state.group_status))
        self.assertTrue(state.status_reason,
                        'There is no status_reason for UPDATE_FAILED')

    @flags.needs('fault_flavors.failing')
    @decorators.idempotent_id('47f92ea8-77d2-4245-afe3-28e5b37a5666')
    def test_workers_of_a_new_cluster(self) -> None:
        template = self.create_template(
            flavor_id=flags.value('fault_flavors.failing'))

        # A driver may try until then. Magnum's default is an hour, for which
        # the test does not wait.
        minutes = max(1, CONF.magnum_capi.build_timeout // 120)
        self.assert_creation_fails(self.request_cluster(
            template, keypair=self.create_keypair(), create_timeout=minutes))

    # Last by name.
    @flags.needs('fault_flavors.stuck')
    @flags.promise(TIMEOUT)
    @decorators.idempotent_id('adb34558-732f-4131-bf3d-fe2237cc952a')
    def test_workers_that_never_come(self) -> None:
        self.explain({'uuid': self.stuck})

        self.assert_creation_fails(self.stuck)


class RefusalTest(operations.BaseOperationsTest):

    @decorators.attr(type='negative')
    @flags.promise('lifecycle.refusal.network-driver')
    @decorators.idempotent_id('d9d7482d-25ac-4275-b156-98cd9e32f80e')
    def test_network_driver(self) -> None:
        # Magnum's own default, which no chart of a Cluster API driver
        # supports.
        self.assertIn('flannel', self.refusal(network_driver='flannel'))

    @decorators.attr(type='negative')
    @flags.promise('lifecycle.refusal.image-version')
    @decorators.idempotent_id('2367c682-a51f-496f-8de4-06cb766265a4')
    def test_image_without_a_version(self) -> None:
        image = self.create_image_of_version(None)

        self.assertIn('kube_version', self.refusal(image_id=image['id']))

    @decorators.attr(type='negative')
    @flags.promise('lifecycle.refusal.labels')
    @decorators.idempotent_id('a987e204-f517-4459-818d-f75bee6edd75')
    def test_malformed_label(self) -> None:
        self.assertIn('auto_healing_enabled', self.refusal(labels={
            **CONF.magnum_capi.labels, 'auto_healing_enabled': 'flase'}))

    @decorators.attr(type='negative')
    @flags.promise('lifecycle.refusal.labels')
    @decorators.idempotent_id('44326193-cb5b-4b94-8cf3-a0cb674492ca')
    def test_unknown_label(self) -> None:
        self.assertIn('auto_haeling_enabled', self.refusal(labels={
            **CONF.magnum_capi.labels, 'auto_haeling_enabled': 'true'}))

    @decorators.attr(type='negative')
    @flags.promise('lifecycle.refusal.attributes')
    @decorators.idempotent_id('c5a0b9d7-1e64-4f0c-b7d3-6a2f8e9c4b10')
    def test_attribute_without_effect(self) -> None:
        registry = 'registry.example.org:5000'

        try:
            reason = self.refusal(insecure_registry=registry)
        except operations.NotRefused as e:
            # It has an effect, and so need not be refused.
            if not self.is_used(registry, e.cluster):
                raise
        else:
            self.assertIn('insecure_registry', reason)

    def is_used(self, text: str, cluster: json_types.Object) -> bool:
        """Whether what a cluster is made of contains a text."""
        if not self.management:
            self.not_checked('whether attributes of clusters have an effect',
                             'management_kubeconfig')
            return False
        # Metadata only says what was requested.
        return any(contains(value, text) for _, obj in self.management.bodies(
            stack_id=observations.stack_id(cluster))
            for key, value in obj.items() if key != 'metadata')


def contains(value: object, text: str) -> bool:
    """Return whether a text is in a value of JSON, also encoded in Base64.

    Secrets are, and the files of nodes may be.
    """
    if isinstance(value, dict):
        return any(contains(one, text) for one in value.values())
    if isinstance(value, list):
        return any(contains(one, text) for one in value)
    return isinstance(value, str) and (
        text in value or text in (kube.secret_text(value) or ''))
