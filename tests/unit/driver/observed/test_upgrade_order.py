# SPDX-License-Identifier: Apache-2.0

"""Whose turn it is in an upgrade, and when it is nobody's.

The order itself is in operations/test_upgrade_order.
"""

import testtools

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import snapshot
from magnum_capi.driver.observed import status
from magnum_capi.driver.observed import verdicts
from tests.unit.driver import objects

UPDATE = 'UPDATE_IN_PROGRESS'
NEW = 'v1.35.0'


def master(name='m1', version=NEW, node='n1', **metadata):
    found = objects.machine(name, 'control-plane', node=node)
    found['spec']['version'] = version
    found['metadata'].update(metadata)
    found['metadata']['labels'] = {machines.CONTROL_PLANE: ''}
    return found


def seen(version=objects.V1BETA2, **kwargs):
    """A cluster whose control plane is upgraded, and whose workers wait."""
    return objects.complete(version, **{
        'control_plane': objects.control_plane(version, kube=NEW),
        'machine_deployments': {
            'default-worker': objects.deployment(version),
            'pool': objects.deployment(version, key='pool')},
        'machine_sets': (objects.machine_set(version),
                         objects.machine_set(version, key='pool')),
        'machines': (master(), *objects.workers(version=version),
                     *objects.workers('pool', version=version)),
        'release': snapshot.Release('deployed', digest='d'), **kwargs})


def desired(*groups, **kwargs):
    groups = groups or (deferred('default-worker'), deferred('pool'))
    return objects.desired(objects.master(status=UPDATE), *groups, **{
        'status': UPDATE, 'digest': 'd', **kwargs})


def deferred(key, **kwargs):
    return objects.group(key=key, name=key, status=UPDATE,
                         **{'deferred': True, **kwargs})


def judge(snapshot_, wanted_=None):
    return status.judge(snapshot_, wanted_ or desired(), objects.NOW)


class TurnTest(testtools.TestCase):

    def assert_waits(self, verdict):
        self.assertEqual((UPDATE, verdicts.NOTHING, ''), (
            verdict.status, verdict.action, verdict.turn), verdict.reason)

    def test_nobody_while_a_machine_of_the_control_plane_is_behind(self):
        for found in (
                (), (master(version='v1.34.2'),), (master(node=None),),
                (master(deletionTimestamp='now'),),
                (master(), master('m2', version='v1.34.2'))):
            self.assert_waits(judge(seen(machines=found)))

    def test_size_that_did_not_arrive_is_applied_first(self):
        verdict = judge(seen(), desired(
            deferred('default-worker', count=5), deferred('pool')))

        self.assertEqual(verdicts.APPLY, verdict.action)

    def test_failure_before_it_ends_the_upgrade(self):
        seen_ = seen()
        seen_.control_plane['status']['phase'] = 'Failed'

        verdict = judge(seen_)

        self.assertEqual(('UPDATE_FAILED', ''),
                         (verdict.status, verdict.turn))

    def test_failure_of_who_waits_does_not(self):
        verdict = judge(seen(
            machines=(master(), objects.failed_machine(key='pool'))))

        self.assertEqual('default-worker', verdict.turn)

    def test_time_is_over_for_who_waits_in_vain_only(self):
        late = {'limit': 60, 'progress': goal.Progress(
            objects.ago(minutes=61), objects.NOW, {})}
        verdict = judge(seen(), desired(**late))
        self.assertEqual((UPDATE, 'default-worker'),
                         (verdict.status, verdict.turn))
        self.assertEqual('UPDATE_FAILED', judge(
            seen(machines=()), desired(**late)).status)
