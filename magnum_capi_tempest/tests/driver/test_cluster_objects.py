# SPDX-License-Identifier: Apache-2.0

"""A cluster's Cluster API objects heal, and are left alone when idle.

The tests follow the spec quick_start of Cluster API's own end-to-end tests,
with a driver of Magnum on top.
"""

import collections.abc

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import graph
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

#: Seconds in which Cluster API must repair the damage; its own tests allow
#: five minutes.
REPAIRED = 300

#: An API version that never existed.
_NO_VERSION = 'v1alpha1'


@flags.promise('resilience.objects.come-back')
class ObjectsTest(operations.BaseOperationsTest):
    """All tests share a cluster; the damage they do is temporary."""

    shares_cluster = True
    needs = remediation.NEEDS

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.cluster_api = remediation.management()
        cls.stack_id = observations.stack_id(cls.cluster)

    def objects(self) -> list[capi_objects.Found]:
        """Return the Cluster API objects, and the Secrets they own.

        Without OpenStackServers: their provider writes their owners only once
        (getOrCreateMachineServer in 0.14).
        """
        return [obj for obj in self.cluster_api.objects(self.stack_id)
                if obj.kind != 'OpenStackServer'] + [
            secret for secret in self.cluster_api.secrets(self.stack_id)
            if {kind for _, kind, *_ in graph.owners(secret.body)}
            & graph.SECRET_OWNERS]

    def damage(
            self, objects: list[capi_objects.Found],
            operation: collections.abc.Callable[
                [json_types.Object], json_types.Object | None]) -> None:
        """Change objects while Cluster API is paused, as upstream does.

        :param operation: function of a body; returns an operation of a JSON
            patch, or None.
        """
        self.cluster_api.pause(self.stack_id, True)
        self.addCleanup(self.cluster_api.pause, self.stack_id, False)
        for obj in objects:
            wanted = operation(obj.body)
            if wanted:
                self.cluster_api.patch(obj.path, wanted)
        self.cluster_api.pause(self.stack_id, False)

    def assert_repaired(
            self, before: list[capi_objects.Found],
            wrong: collections.abc.Callable[
                [list[capi_objects.Found]], list[str]]) -> None:
        """Wait until nothing is wrong; assert that Magnum was not affected.

        :param wrong: function of the objects: list of sentences.
        """
        waiters.until(
            lambda: wrong(self.objects()), lambda found: not found,
            f'Cluster API to repair {len(before)} objects of {self.stack_id}',
            timeout=REPAIRED, describe='; '.join)
        self.assert_unaffected(self.cluster)

    @decorators.idempotent_id('686c0d8e-b2bd-4289-b1ee-07331b0ea8b6')
    def test_owner_references_come_back(self) -> None:
        before = self.objects()
        self.assertEqual([], graph.misowned(before))

        self.damage(before, lambda body: {
            'op': 'remove', 'path': '/metadata/ownerReferences'
        } if graph.owners(body) else None)

        self.assert_repaired(before, lambda after: [
            *graph.misowned(after),
            *graph.lost(before, self.with_secrets(before, after),
                        graph.owners)])

    def with_secrets(self, before: list[capi_objects.Found],
                     after: list[capi_objects.Found]
                     ) -> list[capi_objects.Found]:
        """Add the Secrets that nothing owns now."""
        known = {obj.path for obj in after}
        return after + [
            secret for secret in self.cluster_api.secrets(self.stack_id)
            if secret.path in {obj.path for obj in before} - known]

    @decorators.idempotent_id('8700121f-a3c3-4f4c-9b5b-7348e10136a0')
    def test_owner_references_get_their_version_back(self) -> None:
        before = self.objects()

        def outdated(body: json_types.Object) -> json_types.Object | None:
            return {
                'op': 'replace', 'path': '/metadata/ownerReferences',
                'value': [{**ref, 'apiVersion': '{}/{}'.format(
                    ref['apiVersion'].partition('/')[0], _NO_VERSION)}
                    for ref in body['metadata']['ownerReferences']]
            } if graph.owners(body) else None

        self.damage(before, outdated)

        self.assert_repaired(before, lambda after: [
            *graph.misowned(after),
            *graph.lost(before, after, graph.owners)])

    @decorators.idempotent_id('5f25913b-0fc9-43be-a0ec-1522397286b6')
    def test_finalizers_come_back(self) -> None:
        before = self.objects()
        self.assertEqual([], graph.unfinalized(before))

        self.damage(before, lambda body: {
            'op': 'remove', 'path': '/metadata/finalizers'
        } if graph.finalizers(body) else None)

        self.assert_repaired(before, lambda after: [
            *graph.unfinalized(after),
            *graph.lost(before, after, graph.finalizers)])

    @flags.promise('resilience.objects.rest')
    @decorators.idempotent_id('86103017-6bdc-43bf-9222-a3e7df7380f2')
    def test_nothing_is_written_when_nothing_happens(self) -> None:
        remediation.assert_rests(self.stack_id, base.rest_seconds())

    @flags.promise('resilience.objects.move')
    @decorators.idempotent_id('c486aa56-0d0b-422d-b2d7-93a002e03d18')
    def test_clusterctl_move_takes_each_secret(self) -> None:
        self.assertEqual([], graph.left_by_move(
            self.cluster_api.secrets(self.stack_id), self.stack_id))


@flags.promise('resilience.objects.rest')
class WaitingTest(operations.BaseOperationsTest):
    """A driver only reads while it watches an incomplete cluster."""

    needs = ('management_kubeconfig', 'fault_flavors.stuck')

    @decorators.idempotent_id('75235c2c-c852-41e7-a304-0324a6f2ff85')
    def test_nothing_is_written_while_nodes_do_not_come(self) -> None:
        uuid = self.request_cluster(
            self.create_template(
                flavor_id=flags.value('fault_flavors.stuck')),
            keypair=self.create_keypair())
        stack_id = self.wait_for_stack_id(uuid)
        self.wait_for_workers(stack_id)

        # A few status ticks of 10 s.
        remediation.assert_rests(stack_id, 25)

    def wait_for_stack_id(self, uuid: str) -> str:
        return observations.stack_id(self.until(
            uuid, lambda state: state.stack_id,
            f'cluster {uuid} to have a stack',
            failed=observations.creation_failure()).body)

    def wait_for_workers(self, stack_id: str) -> None:
        """Wait until only the readiness of the nodes is missing."""
        wanted = CONF.magnum_capi.node_count
        waiters.until(
            lambda: [m for m in remediation.management().machines(stack_id)
                     if m.node and not m.control_plane],
            lambda found: len(found) == wanted,
            f'{wanted} workers of {stack_id} to join',
            describe=operations.listed)
