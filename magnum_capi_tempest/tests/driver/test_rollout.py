# SPDX-License-Identifier: Apache-2.0

"""An upgrade replaces machines a few at a time, while the API stays up.

The tests follow the specs md_rollout and kcp_md_rollout of Cluster API's own
end-to-end tests, with Magnum's max_batch_size.
"""

import collections.abc
import contextlib
import dataclasses
import time
import typing

from tempest import config
from tempest.lib import decorators

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import machine_watch
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common.management import upgrade_order
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import versions
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

WORKERS = operations.WORKERS

#: Nodes that may be replaced at once, out of twice as many.
BATCH = 2

#: Seconds for which the API of a cluster may not answer. A load balancer
#: notices after 30 that a node is gone: it asks every 10, and is certain after
#: three failures (cluster-api-provider-openstack,
#: pkg/cloud/services/loadbalancer/loadbalancer.go, getOrCreateMonitor).
OUTAGE = 60

#: Most seconds for an answer of that API.
ANSWER = 5

#: Whether it answered, at times of a monotonic clock.
Answers: typing.TypeAlias = list[tuple[float, bool]]


NEEDS = ('management_kubeconfig', 'upgrade_image_id')


@dataclasses.dataclass(frozen=True)
class Rollout:
    """An upgrade of a cluster, observed from its begin to its end.

    :param cluster: its body before the upgrade.
    :param upgraded: its body afterwards.
    :param before: the machines before the upgrade.
    :param seen: the machines after each change during the upgrade.
    :param early: versions that Magnum showed too early meanwhile, a line each.
    :param answers: of the cluster's API meanwhile; empty: it was not asked.
    """

    cluster: json_types.Object
    upgraded: json_types.Object
    machines: remediation.Machines
    before: list[capi_objects.Machine]
    seen: list[list[capi_objects.Machine]]
    early: list[str]
    answers: Answers


def outage(answers: Answers) -> float:
    """Return for how many seconds an API did not answer, at most.

    An outage lasts from the first request that fails to the next that does
    not, or to the last one.
    """
    longest, since = 0.0, None
    for now, answered in answers:
        if since is not None:
            longest = max(longest, now - since)
        since = None if answered else now if since is None else since
    return longest


def roll_out(case: type[operations.BaseOperationsTest], node_count: int,
             groups: collections.abc.Sequence[json_types.Object] = ()
             ) -> Rollout:
    """Create a cluster for a class and upgrade it: Rollout.

    :param node_count: number of default workers.
    :param groups: bodies of additional node groups.
    """
    old = case.create_class_template()
    new = case.create_class_template(**factories.upgrade_changes(CONF))
    cluster = case.create_class_cluster(old, node_count=node_count)
    machines = remediation.Machines(cluster)
    with case.explained([cluster['uuid']]):
        for group in groups:
            made = case.magnum.nodegroups.create_nodegroup(
                cluster['uuid'], **group)
            case.new_waiter().until_group_created(
                cluster['uuid'], made['uuid'])
        before = _in_service(machines, node_count + sum(
            group['node_count'] for group in groups))
        with _asked(case, cluster) as (ask, answers):
            upgraded, seen, early = _upgrade(
                case, cluster, new, machines, before, ask)
    return Rollout(cluster, upgraded, machines, before, seen, early, answers)


def most_replaced(seen: collections.abc.Iterable[
        collections.abc.Sequence[capi_objects.Machine]], workers: int) -> int:
    """Return how many workers were replaced at the same time, at most.

    Either they go first, and fewer are in service; or their replacements come
    first, and are more than all.

    :param seen: the machines after each change.
    :param workers: how many there are to be.
    """
    return max(max(
        workers - capi_objects.in_service(machines, False),
        sum(m.phase != 'Running' and not (m.going or m.control_plane)
            for m in machines)) for machines in seen)


@contextlib.contextmanager
def _asked(case: type[operations.BaseOperationsTest],
           cluster: json_types.Object) -> collections.abc.Iterator[
               tuple[collections.abc.Callable[[], object], Answers]]:
    """Yield a function that asks a cluster's API, and what it answered.

    The nodes are asked for: an in-memory API has no health check.
    """
    answers: Answers = []
    if not CONF.magnum_capi_feature_enabled.workload_api:
        yield lambda: None, answers
        return
    # Some drivers report complete clusters before they have an address.
    cluster = case.magnum.clusters.show_cluster(cluster['uuid'])
    with access.kubeconfig_of(case.magnum.certificates, cluster) as path:
        client = kube.Client(path, ANSWER)
        yield lambda: answers.append((
            time.monotonic(), client.answers('/api/v1/nodes'))), answers


def _in_service(machines: remediation.Machines, workers: int
                ) -> list[capi_objects.Machine]:
    """Wait until all machines are in service, and return them.

    Some drivers report complete clusters before that, which is left to the
    tests of complete-means-ready.
    """
    wanted = CONF.magnum_capi.master_count, workers
    return waiters.until(
        machines.all, lambda found: wanted == tuple(
            capi_objects.in_service(found, control_plane)
            for control_plane in (True, False)),
        f'{sum(wanted)} machines of {machines.stack_id} to be running',
        describe=operations.listed)


def _upgrade(case: type[operations.BaseOperationsTest],
             cluster: json_types.Object, template: json_types.Object,
             machines: remediation.Machines,
             before: list[capi_objects.Machine],
             ask: collections.abc.Callable[[], object]
             ) -> tuple[json_types.Object, list[list[capi_objects.Machine]],
                        list[str]]:
    """Upgrade a cluster and observe it.

    :param ask: is called again and again meanwhile.
    :returns: the cluster, the machines after each change, and the versions
        that Magnum showed too early.
    """
    uuid, waiter = cluster['uuid'], case.new_waiter()
    early: list[str] = []
    watch = machine_watch.MachineWatch(
        machines.api, before[0].path.rpartition('/')[0], machines.stack_id)
    shown = waiter.before(uuid, WORKERS)
    case.magnum.clusters.upgrade_cluster(
        uuid, cluster_template=template['uuid'], max_batch_size=BATCH)

    def observe() -> observations.Observation:
        ask()
        watch.read()
        try:
            return waiter.observe(uuid, WORKERS)
        except versions.ShownTooEarly as e:
            # It is judged by a test of its own.
            early.append(str(e))
            if waiter.versions:
                waiter.versions.ignore(uuid)
            return waiter.observe(uuid, WORKERS)

    def over(update: observations.Update) -> bool:
        # Some drivers report COMPLETE before anything has happened, which
        # is left to the tests of complete-means-ready.
        now = watch.moments[-1]
        return update.is_over() and len(now) == len(before) and not (
            {m.name for m in now} & {m.name for m in before})

    try:
        # The watch itself waits.
        update = waiting.wait_for(
            waiter.update(shown, cluster['node_count']).poll(observe, time),
            done=over, failed=observations.Update.failure,
            timeout=CONF.magnum_capi.build_timeout, describe=str,
            what=f'cluster {uuid} to be upgraded, and its machines replaced',
            pace=waiting.Pace(first=0.2, most=0.5))
    except errors.WaitTimeout as e:
        # Which machines have not been replaced is judged by the tests.
        update = e.state
        if not update.is_over():
            raise
    return waiter.outcome(update), watch.moments, early


class RolloutTest(operations.BaseOperationsTest):

    needs = NEEDS

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.rollout = roll_out(cls, 2 * BATCH)
        cls.cluster = cls.rollout.cluster

    @flags.promise('upgrade.rollout.complete')
    @decorators.idempotent_id('a5c1c1c8-b1a0-4923-a188-3596d95242ef')
    def test_all_machines_are_replaced(self) -> None:
        before, after = self.rollout.before, self.rollout.machines.all()

        self.assertEqual(
            set(), {m.name for m in after} & {m.name for m in before},
            'these machines are still those from before the upgrade')
        self.assertEqual(len(before), len(after))
        cluster = self.with_new_version(self.rollout.upgraded)
        self.assertEqual({cluster['coe_version']}, {m.version for m in after})
        self.assert_usable(cluster, 2 * BATCH)

    @flags.promise('upgrade.rollout.control-plane-stays')
    @decorators.idempotent_id('31886a27-00f9-48e0-8b10-f85bd2afad8f')
    def test_the_control_plane_goes_on(self) -> None:
        fewest = min(capi_objects.in_service(machines, True)
                     for machines in self.rollout.seen)
        # Of three, one may go before its replacement comes.
        self.assertGreaterEqual(
            fewest, max(1, CONF.magnum_capi.master_count - 1),
            'too few control plane nodes were in service at one time')
        answers = self.rollout.answers
        if not answers:
            self.not_checked('whether the API answers during an upgrade',
                             'workload_api')
        self.assertLessEqual(
            outage(answers), OUTAGE,
            f'seconds without an answer of the API, asked {len(answers)} '
            'times during the upgrade')

    @flags.promise('upgrade.rollout.batch-kept')
    @decorators.idempotent_id('f6908894-7fb1-486f-816d-104627a01c2e')
    def test_no_more_workers_are_away_than_the_batch(self) -> None:
        self.assertLessEqual(BATCH, min(
            capi_objects.in_service(machines, False)
            for machines in self.rollout.seen))

    @flags.promise('upgrade.rollout.in-order')
    @decorators.idempotent_id('1698f242-6bf6-45db-84db-fc855e4aea70')
    def test_no_worker_is_newer_than_the_control_plane(self) -> None:
        self.assertEqual([], upgrade_order.skew(self.rollout.seen))

    @flags.promise('upgrade.rollout.batch-used')
    @decorators.idempotent_id('d7f8709a-4cb8-4829-8350-66ec2d08e3b6')
    def test_as_many_workers_are_away_as_the_batch(self) -> None:
        self.assertEqual(
            BATCH, most_replaced(self.rollout.seen, 2 * BATCH),
            'workers that were replaced at the same time, at most')

    @flags.needs('workload_api')
    @flags.promise(versions.PROMISE)
    @decorators.idempotent_id('f7e28b0b-3de7-477e-b86c-9a8263b5a339')
    def test_no_version_is_shown_too_early(self) -> None:
        self.assertEqual([], self.rollout.early)


@flags.promise('upgrade.rollout.in-order')
class InOrderTest(operations.BaseOperationsTest):
    """Node groups of one node each, so any disorder interrupts workloads."""

    needs = NEEDS

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.rollout = roll_out(cls, 1, [{'name': 'second', 'node_count': 1}])
        cls.cluster = cls.rollout.cluster

    @decorators.idempotent_id('0b3582be-e257-4917-947f-059af325365c')
    def test_control_plane_first_then_group_by_group(self) -> None:
        self.assertEqual([], upgrade_order.disorder(
            self.rollout.before, self.rollout.seen))

    @decorators.idempotent_id('4302eeb2-35b2-4479-9b32-40d0e333dc33')
    def test_no_group_is_without_a_node(self) -> None:
        fewest = upgrade_order.fewest(self.rollout.seen)

        self.assertEqual([1, 1], sorted(fewest.values()), fewest)

    @decorators.idempotent_id('54348b06-764b-4b08-97fe-85ad2d050b8e')
    def test_all_nodes_are_new_in_the_end(self) -> None:
        cluster = self.with_new_version(self.rollout.upgraded)

        self.assertEqual({cluster['coe_version']}, {
            machine.version for machine in self.rollout.machines.all()})
        self.assert_usable(cluster, 2)
