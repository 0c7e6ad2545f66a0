# SPDX-License-Identifier: Apache-2.0

"""A deletion is done when nothing is left, and says what holds it."""

import testtools

from magnum_capi.driver.observed import deletion
from magnum_capi.driver.observed import snapshot
from magnum_capi.driver.observed import status
from magnum_capi.driver.observed import verdicts
from tests.unit.driver import objects

DELETE = 'DELETE_IN_PROGRESS'

#: A read of a management cluster where nothing is left.
NOTHING = {'cluster': None, 'control_plane': None, 'machine_deployments': {},
           'machines': (), 'leftovers': (), 'release': None,
           'templates': ()}


def judge(seen, **kwargs):
    return status.judge(
        seen, objects.desired(status=DELETE, **kwargs), objects.NOW)


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

    def test_machines_are_reported_first_and_the_cluster_last(self):
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

    def test_whose_a_template_is(self):
        for owners, expected in (((), True), (('c0',), True),
                                 (('b9',), False), (('d0',), False),
                                 (('d0', 'c0'), True)):
            self.assertEqual(expected, deletion.belongs(
                objects.as_read(template(*owners)), objects.NAME))

    def test_a_deletion_that_never_arrived_is_asked_for_again(self):
        # A delete right behind a create found no release and did nothing.
        verdict = judge(objects.complete(
            machines=(), release=snapshot.Release('deployed')))

        self.assertEqual((DELETE, verdicts.DELETE),
                         (verdict.status, verdict.action))
        self.assertIn('Cluster c0 is not being deleted yet', verdict.reason)

    def test_a_recorded_deletion_tells_of_its_machines(self):
        verdict = judge(objects.recorded(
            'deleting', objects.V1BETA2, release=None))

        self.assertEqual(DELETE, verdict.status)
        self.assertIn('Machine control-plane-', verdict.reason)
        self.assertEqual(verdicts.NOTHING, verdict.action)

    def test_a_failed_machine_that_holds_it_is_reported(self):
        machine = going(objects.failed_machine(message='volume is in use'))

        verdict = judge(snapshot.Snapshot(
            **{**NOTHING, 'machines': (machine,)}))

        self.assertIn('failed: CreateError: volume is in use',
                      verdict.reason)

    def test_each_thing_left_holds_it(self):
        release = snapshot.Release
        for left, action, said in (
                ({'cluster': going(objects.cluster(), 'waits')},
                 verdicts.NOTHING, 'Cluster c0: waits'),
                ({'machine_deployments': {'x': going(
                    objects.deployment())}}, verdicts.NOTHING, ''),
                ({'machines': (going(objects.machine(), 'drain: pod/x'),)},
                 verdicts.NOTHING, 'Machine default-worker-x1: drain: pod/x'),
                ({'leftovers': (going(objects.cluster()),)},
                 verdicts.NOTHING, ''),
                # What lost its Cluster is asked to go.
                ({'control_plane': objects.control_plane()},
                 verdicts.DELETE, ''),
                # A template is waited for if it has an owner.
                ({'templates': (template('c0'),)}, verdicts.NOTHING,
                 'OpenStackMachineTemplate t'),
                ({'templates': (going(template()),)}, verdicts.NOTHING, ''),
                ({'templates': (template(),)}, verdicts.DELETE,
                 'OpenStackMachineTemplate t is not being deleted yet'),
                *(({'release': release(objects.as_read(state))},
                   verdicts.DELETE, state) for state in (
                       'deployed', 'uninstalling', 'pending-install',
                       'unknown'))):
            verdict = judge(snapshot.Snapshot(**{**NOTHING, **left}))
            self.assertEqual((DELETE, action),
                             (verdict.status, verdict.action), left)
            self.assertIn(said, verdict.reason)

    def test_nothing_left_is_complete(self):
        # Helm may keep a release for its history.
        kept = snapshot.Release(objects.as_read('uninstalled'))
        for desired in (DELETE, 'DELETE_FAILED'):
            for release in (None, kept):
                verdict = status.judge(
                    snapshot.Snapshot(**{**NOTHING, 'release': release}),
                    objects.desired(status=desired), objects.NOW)
                self.assertEqual('DELETE_COMPLETE', verdict.status)
                self.assertTrue(all(
                    group.gone for group in verdict.groups.values()))
