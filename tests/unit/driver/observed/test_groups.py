# SPDX-License-Identifier: Apache-2.0

"""One node group at a time: what it is said to wait for.

That each part which is not well blocks is in test_status.
"""

import json

import testtools

from magnum_capi.driver.observed import groups
from tests.unit.driver import objects


def observe(group=None, *, deployment=None, **kwargs):
    """What is observed of the group default-worker."""
    deployment = deployment or objects.deployment()
    seen = objects.complete(
        machine_deployments={'default-worker': deployment}, **kwargs)
    for part in (seen.machine_deployments, *seen.machine_sets):
        # Numbers of their own, as from JSON.
        part.update(json.loads(json.dumps(part)))
    return groups.observe(seen, group or objects.group(), objects.desired())


def plane(found):
    return groups.observe(objects.complete(control_plane=found),
                          objects.master(), objects.desired())


def deleting(obj):
    obj['metadata']['deletionTimestamp'] = 'now'
    return obj


class WorkersTest(testtools.TestCase):

    def test_three_hundred_nodes(self):
        for ready, state, why in (
                (300, groups.State.READY, ''),
                (299, groups.State.WAITING,
                 'node group default-worker: 299 of 300 machines ready')):
            deployment = objects.deployment(count=300)
            deployment['status']['readyReplicas'] = ready
            found = observe(objects.group(count=300), deployment=deployment,
                            machine_sets=(objects.machine_set(count=300),))
            self.assertEqual((state, why), (found.state, found.why))

    def test_counts_are_reported_where_they_differ(self):
        for counts, told in (
                ({'readyReplicas': 1, 'upToDateReplicas': 1},
                 '1 of 2 machines ready, 1 up to date'),
                ({'replicas': 3, 'upToDateReplicas': 0, 'readyReplicas': 1},
                 '1 of 2 machines ready, 0 up to date, 3 there')):
            deployment = objects.deployment()
            deployment['status'].update(counts)
            self.assertEqual(f'node group default-worker: {told}',
                             observe(deployment=deployment).why)

    def test_the_most_telling_problem_is_enough(self):
        deployment = objects.deployment()
        for kind in ('MachinesReady', 'Available'):
            objects.condition(deployment, kind, status='False')

        self.assertEqual(
            'node group default-worker: MachinesReady is False (Because)',
            observe(deployment=deployment).why)

    def test_a_problem_that_is_none_of_ours_does_not_block(self):
        deployment = objects.deployment()
        deployment['status']['conditions'] += objects.conditions(
            ['Other'], 'False')

        self.assertEqual(groups.State.READY,
                         observe(deployment=deployment).state)

    def test_machines_of_the_present_template(self):
        for counts, told in (
                ({'count': 1}, '1 of 2 machines of the present template'),
                ({'count': 3}, '3 of 2 machines of the present template'),
                ({'availableReplicas': 1}, '2 of 2 machines ready'),
                ({'readyReplicas': 1, 'availableReplicas': 1},
                 '1 of 2 machines ready')):
            found = objects.machine_set(count=counts.pop('count', 2))
            found['status'].update(counts)
            self.assertEqual(f'node group default-worker: {told}',
                             observe(machine_sets=(found,)).why)

    def test_an_older_set_that_still_wants_machines(self):
        old = objects.machine_set(name='old', count=1, machine='t0')
        for desired, there in ((1, 0), (0, 1)):
            old['spec']['replicas'] = desired
            old['status']['replicas'] = there
            self.assertIn(
                f'{there} machines of an older template left',
                observe(machine_sets=(old, objects.machine_set())).why)

    def test_a_machine_that_goes_is_missing_before_it_is_counted(self):
        going = deleting(objects.machine('x1', node='n1'))
        for other in ((), (objects.machine('x3'),)):
            found = observe(machines=(
                going, objects.machine('x2', node='n2'), *other))
            self.assertEqual(
                (groups.State.WAITING, 'node group default-worker: '
                 '1 of 2 machines are nodes'), (found.state, found.why))

    def test_group_of_another_role_is_of_workers(self):
        self.assertEqual(groups.State.READY,
                         observe(objects.group(role='gpu')).state)


class DriftTest(testtools.TestCase):

    def test_what_was_not_asked_for_or_is_not_there(self):
        for found in (
                observe(deployment=deleting(objects.deployment())),
                observe(objects.group(count=3)),
                observe(objects.group(count=1)),
                plane(deleting(objects.control_plane())), plane(None)):
            self.assertEqual((groups.State.WAITING, True),
                             (found.state, found.drift), found.why)


class RemovalTest(testtools.TestCase):

    def test_the_first_machine_that_is_left_is_reported(self):
        first, second = (objects.machine(name) for name in ('x1', 'x2'))
        deleting(second)
        for left, told in (
                ((first, second), 'c0-default-worker-x1 is not being '
                                  'deleted yet'),
                ((second, first), 'c0-default-worker-x2 is being deleted')):
            found = groups.observe(
                objects.complete(machine_deployments={}, machines=left),
                objects.group(status='DELETE_IN_PROGRESS'), objects.desired())
            self.assertEqual('node group default-worker: 2 machines left, '
                             + told, found.why)


class VersionTest(testtools.TestCase):

    def test_with_or_without_v(self):
        for one, other, same in (
                ('v1.34.2', '1.34.2', True), ('1.34.2', '1.34.3', False),
                (None, '', True), (None, 'v1', False)):
            self.assertEqual(same, groups.same_version(one, other))
