# SPDX-License-Identifier: Apache-2.0

"""A deletion is done when nothing is left, and says what holds it."""

import testtools

from magnum_capi.driver.observed import deletion
from magnum_capi.driver.observed import snapshot
from magnum_capi.driver.observed import status
from magnum_capi.driver.observed import verdicts
from tests.unit.driver import objects

DELETE = 'DELETE_IN_PROGRESS'

#: A look at a management cluster where nothing is left.
NOTHING = {'cluster': None, 'control_plane': None, 'machine_deployments': {},
           'machines': (), 'leftovers': (), 'release': None,
           'templates': ()}


def judge(seen, **kwargs):
    return status.judge(
        seen, objects.wanted(status=DELETE, **kwargs), objects.NOW)


def going(obj, message=None):
    obj['metadata']['deletionTimestamp'] = '2026-11-21T14:59:00Z'
    if message:
        obj['status']['conditions'].append({
            'type': 'Deleting', 'status': 'True', 'message': message})
    return obj


def template(*owners):
    return {'kind': 'OpenStackMachineTemplate', 'metadata': {
        'name': 't', 'ownerReferences': [
            {'kind': 'Cluster', 'name': owner} for owner in owners]}}


class DeletionTest(testtools.TestCase):

    def test_nothing_left_is_complete(self):
        verdict = judge(snapshot.Snapshot(**NOTHING))

        self.assertEqual('DELETE_COMPLETE', verdict.status)
        self.assertTrue(all(g.gone for g in verdict.groups.values()))

    def test_machines_are_told_first_and_the_cluster_last(self):
        def named(kind):
            return {'kind': objects.as_read(kind),
                    'metadata': {'name': 'x', 'deletionTimestamp': 'now'}}

        for kind in ('OpenStackCluster', 'Bastion'):
            verdict = judge(snapshot.Snapshot(**{
                **NOTHING, 'cluster': named('Cluster'),
                'leftovers': (named(kind),),
                'machines': (named('Machine'),)}))

            self.assertEqual(
                f'Waiting for: Machine x; {kind} x; Cluster x',
                verdict.reason)

    def test_release_that_helm_keeps_for_its_history_is_gone(self):
        for state, status_ in (('uninstalled', 'DELETE_COMPLETE'),
                               ('uninstalling', DELETE), ('deployed', DELETE),
                               ('unknown', DELETE)):
            verdict = judge(snapshot.Snapshot(**{
                **NOTHING,
                'release': snapshot.Release(objects.as_read(state))}))
            self.assertEqual(status_, verdict.status)

    def test_whose_a_template_is(self):
        for owners, expected in (((), True), (('c0',), True),
                                 (('b9',), False), (('d0',), False),
                                 (('d0', 'c0'), True)):
            self.assertEqual(expected, deletion.belongs(
                objects.as_read(template(*owners)), objects.NAME))

    def test_who_is_being_deleted_is_told_so(self):
        verdict = judge(
            snapshot.Snapshot(going(objects.cluster())),
            groups=(objects.group(key='a', status='DELETE_FAILED'),
                    objects.group(key='b', status='UPDATE_COMPLETE')))
        self.assertEqual({'a': DELETE, 'b': 'UPDATE_COMPLETE'}, {
            key: found.status for key, found in verdict.groups.items()})

    def test_each_thing_left_holds_it(self):
        release = snapshot.Release('deployed')
        for left in ({'cluster': going(objects.cluster())},
                     {'control_plane': going(objects.control_plane())},
                     {'machine_deployments': {'x': objects.deployment()}},
                     {'machines': (objects.machine(),)},
                     {'leftovers': (objects.cluster(),)},
                     {'templates': (template(),)},
                     {'release': release}):
            verdict = judge(snapshot.Snapshot(**{**NOTHING, **left}))
            self.assertEqual(DELETE, verdict.status, left)

    def test_a_deletion_that_never_arrived_is_asked_for_again(self):
        # A delete right behind a create found no release and did nothing.
        verdict = judge(objects.complete(
            machines=(), release=snapshot.Release('deployed')))

        self.assertEqual((DELETE, verdicts.DELETE),
                         (verdict.status, verdict.action))
        self.assertIn('Cluster c0 is not being deleted yet', verdict.reason)

    def test_what_lost_its_cluster_is_asked_to_go(self):
        verdict = judge(snapshot.Snapshot(
            **{**NOTHING, 'control_plane': objects.control_plane()}))

        self.assertEqual((DELETE, verdicts.DELETE),
                         (verdict.status, verdict.action))

    def test_a_template_that_nobody_owns_is_asked_to_go(self):
        verdict = judge(snapshot.Snapshot(
            **{**NOTHING, 'templates': (template(),)}))

        self.assertEqual((DELETE, verdicts.DELETE),
                         (verdict.status, verdict.action))
        self.assertIn('OpenStackMachineTemplate t is not being deleted yet',
                      verdict.reason)

    def test_a_template_with_an_owner_is_waited_for(self):
        for left in (template('c0'), going(template())):
            verdict = judge(snapshot.Snapshot(
                **{**NOTHING, 'templates': (left,)}))

            self.assertEqual((DELETE, status.NOTHING),
                             (verdict.status, verdict.action))
            self.assertIn('Waiting for: OpenStackMachineTemplate t',
                          verdict.reason)

    def test_a_template_of_another_cluster_is_left_alone(self):
        self.assertTrue(deletion.belongs(template(), 'c0'))
        self.assertTrue(deletion.belongs(template('other', 'c0'), 'c0'))
        self.assertFalse(deletion.belongs(template('other'), 'c0'))

    def test_a_release_that_is_left_is_to_be_removed(self):
        for state in ('deployed', 'uninstalling', 'pending-install'):
            verdict = judge(snapshot.Snapshot(
                **{**NOTHING, 'release': snapshot.Release(state)}))
            self.assertEqual(verdicts.DELETE, verdict.action)

    def test_a_release_kept_as_history_is_gone(self):
        verdict = judge(snapshot.Snapshot(
            **{**NOTHING, 'release': snapshot.Release('uninstalled')}))

        self.assertEqual('DELETE_COMPLETE', verdict.status)

    def test_what_holds_it_is_told_machines_first(self):
        verdict = judge(objects.complete(
            cluster=going(objects.cluster(), 'waits for its parts'),
            machines=(going(objects.machine(), 'drain: pod/x evicted'),)))

        self.assertIn('Waiting for: Machine default-worker-x1: drain: pod/x '
                      'evicted; ', verdict.reason)

    def test_a_recorded_deletion_tells_of_its_machines(self):
        verdict = judge(objects.recorded(
            'deleting', objects.V1BETA2, release=None))

        self.assertEqual(DELETE, verdict.status)
        self.assertIn('Machine control-plane-', verdict.reason)
        self.assertEqual(status.NOTHING, verdict.action)

    def test_a_failed_machine_that_holds_it_is_told(self):
        machine = going(objects.failed_machine(message='volume is in use'))

        verdict = judge(snapshot.Snapshot(
            **{**NOTHING, 'machines': (machine,)}))

        self.assertIn('failed: CreateError: volume is in use',
                      verdict.reason)

    def test_a_stuck_deletion_goes_on_with_the_reason(self):
        seen = snapshot.Snapshot(going(objects.cluster(), 'waits for LBs'))

        verdict = judge(seen, since=objects.ago(days=61))

        self.assertEqual(DELETE, verdict.status)
        self.assertEqual('Waiting for: Cluster c0: waits for LBs',
                         verdict.reason)

    def test_one_that_ends_after_its_failure_is_complete(self):
        verdict = status.judge(
            snapshot.Snapshot(**NOTHING),
            objects.wanted(status='DELETE_FAILED'), objects.NOW)

        self.assertEqual('DELETE_COMPLETE', verdict.status)
