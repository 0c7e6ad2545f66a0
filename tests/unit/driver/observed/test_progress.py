# SPDX-License-Identifier: Apache-2.0
"""What is progress, and when was there none for too long?"""

import datetime

import testtools

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import progress
from magnum_capi.driver.observed import snapshot
from tests.unit.driver import objects

HOUR = 60
NOW = objects.NOW


def going(**kwargs):
    """Progress of which the last was an hour ago."""
    return goal.Progress(**{
        'at': objects.ago(minutes=60), 'observed_at': objects.ago(minutes=1),
        'left': {'a': ('goal', 5), 'b': ('goal', 2)}, **kwargs})


class NotedTest(testtools.TestCase):

    def noted(self, left, known=None, limit=HOUR):
        return progress.noted(known or going(), left, NOW, limit)

    def test_another_goal_is_a_new_beginning(self):
        for target in ('other', 'another'):
            found = self.noted({'a': (target, 30)})
            self.assertEqual((NOW, (target, 30)), (found.at, found.left['a']))

    def test_looks_are_noted_now_and_then(self):
        known = going(observed_at=objects.ago(minutes=14))
        self.assertIs(known, self.noted({}, known))
        known = going(observed_at=objects.ago(minutes=15))
        self.assertEqual((known.at, NOW), (
            self.noted({}, known).at, self.noted({}, known).observed_at))

    def test_clock_that_goes_back_is_no_time(self):
        later = NOW + datetime.timedelta(hours=2)
        known = going(at=later, observed_at=later)
        self.assertIs(known, self.noted({}, known))


class LeftTest(testtools.TestCase):

    def left(self, seen, part=f'groups/{objects.group().key}', **desired):
        found = progress.left(seen, objects.desired(**desired))
        return found[part][1] if part in found else None

    def rolling(self, old, ready, there=None):
        """Workers of which so many are of an older template."""
        there = 2 if there is None else there
        deployment = objects.deployment()
        deployment['status'].update(replicas=there, readyReplicas=ready)
        return objects.complete(
            machine_deployments={'default-worker': deployment},
            machine_sets=(
                objects.machine_set(name='old', machine='t0', count=old),
                objects.machine_set(count=there - old)))

    def test_machines_of_the_old_template_are_left(self):
        self.assertEqual([2, 2, 1, 0], [self.left(self.rolling(*counts))
                         for counts in ((2, 2), (1, 1), (1, 2), (0, 2))])

    def test_machines_beyond_need_are_left(self):
        self.assertEqual(3, self.left(self.rolling(0, 5, there=5)))
        # With one that is not ready.
        self.assertEqual(2, self.left(self.rolling(0, 1, there=3)))
        # With one of the old template.
        self.assertEqual(3, self.left(self.rolling(1, 5, there=5)))

    def test_group_of_another_role_is_of_workers(self):
        seen = self.rolling(0, 1)
        found = progress.left(seen, objects.desired(
            objects.group(role='infra')))
        self.assertEqual(1, found[f'groups/{objects.group().key}'][1])

    def test_size_that_is_not_set_yet_wants_no_machine(self):
        for kind, key in (('control_plane', objects.master().key),
                          ('deployment', objects.group().key)):
            seen = objects.complete()
            obj = (seen.control_plane if kind == 'control_plane'
                   else seen.machine_deployments['default-worker'])
            del obj['spec']['replicas']
            obj['status'].update(objects.counts(0))
            seen = objects.complete(
                control_plane=seen.control_plane, machine_sets=(),
                machine_deployments=seen.machine_deployments)
            self.assertEqual(0, self.left(seen, f'groups/{key}'))

    def test_status_of_an_older_spec_tells_nothing(self):
        seen = objects.complete()
        seen.machine_deployments['default-worker']['metadata'][
            'generation'] = 2
        seen.control_plane['metadata']['generation'] = 2
        self.assertIsNone(self.left(seen))
        self.assertIsNone(self.left(
            seen, f'groups/{objects.master().key}'))

    def test_control_plane(self):
        for counts, expected in (
                ({'upToDateReplicas': 0}, 1), ({'readyReplicas': 0}, 1),
                ({'upToDateReplicas': 0, 'readyReplicas': 0}, 2),
                ({'upToDateReplicas': 2}, 0), ({'replicas': 3}, 2), ({}, 0)):
            plane = objects.control_plane()
            plane['status'].update(counts)
            self.assertEqual(expected, self.left(
                objects.complete(control_plane=plane),
                f'groups/{objects.master().key}'))

    def test_group_that_goes(self):
        group = objects.group(status='DELETE_IN_PROGRESS')
        desired = objects.desired(objects.master(), group)
        # Each machine that goes is progress, the last one, too.
        for there in (2, 1, 0):
            seen = objects.complete(machines=tuple(
                objects.machine(f'x{number}') for number in range(there)))
            found = progress.left(seen, desired)[f'groups/{group.key}']
            self.assertEqual(('', there + 1), found)

    def test_addons_that_are_not_deployed(self):
        seen = objects.complete(addons=(
            objects.addon(), objects.addon('ccm', 'Installing'),
            objects.addon('csi')))
        self.assertEqual(1, self.left(seen, 'addons'))
        self.assertIsNone(self.left(seen, 'addons', addons=False))

    def test_release_that_is_not_of_the_latest_request(self):
        for release, expected in (
                (None, 1), (snapshot.Release('deployed', digest='old'), 1),
                (snapshot.Release('deployed', digest='before'), 1),
                (snapshot.Release('failed', 'new'), 1),
                (snapshot.Release('deployed', digest='new'), 0)):
            self.assertEqual(expected, self.left(
                objects.complete(release=release), 'release', digest='new'))

    def test_objects_of_a_deletion(self):
        desired = objects.desired(status='DELETE_IN_PROGRESS')
        seen = snapshot.Snapshot(
            None, control_plane=None, machines=(objects.machine(),) * 2,
            machine_deployments={}, leftovers=({},) * 3,
            release=snapshot.Release('uninstalling'))
        self.assertEqual(
            {'cluster': 0, 'control_plane': 0, 'machines': 2,
             'machine_deployments': 0, 'leftovers': 3, 'release': 1},
            {part: number for part, (_, number)
             in progress.left(seen, desired).items()})
