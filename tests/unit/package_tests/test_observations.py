# SPDX-License-Identifier: Apache-2.0

"""Observations as Magnum 23 was seen to show them, and their end.

An observation is written as (cluster status, group status, node count,
updated_at).
"""

import testtools

from magnum_capi_tempest.tests.common import observations

C, U, P, F = ('CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_IN_PROGRESS',
              'UPDATE_FAILED')


def observe(status, group_status, node_count, updated_at=None):
    return observations.Observation(
        {'status': status, 'updated_at': updated_at},
        {'status': group_status, 'node_count': node_count, 'name': 'g'})


def shown(status):
    return observations.Observation({'status': status})


def play(before, *seen, wanted=2, every=2, tolerant=False):
    """Return the update after observations that come every 2 seconds."""
    update = observations.Update(observe(*before), wanted, tolerant=tolerant)
    for number, state in enumerate(seen):
        if not isinstance(state, observations.Observation):
            state = observe(*state)
        update = update.after(state, number * every)
    return update


class UpdateTest(testtools.TestCase):

    def assert_over(self, expected, *args, **kwargs):
        update = play(*args, **kwargs)
        self.assertEqual(expected, update.is_over(), str(update))

    def test_a_resize_is_over_with_its_last_step_only(self):
        for before in (C, U):
            first = (before, before, 1)
            steps = [first, (before, P, 2), (P, P, 2), (P, U, 2), (U, P, 2)]
            for number in range(1, len(steps) + 1):
                self.assert_over(False, first, *steps[:number])
            self.assert_over(False, first, *steps, (U, U, 1))
            self.assert_over(True, first, *steps, (U, U, 2))

    def test_resize_that_ended_between_two_looks(self):
        self.assert_over(True, (C, C, 1), (U, U, 2))

    def test_resize_to_the_same_count(self):
        self.assert_over(False, (U, U, 2), (U, U, 2))
        self.assert_over(True, (U, U, 2), (U, U, 2), (U, P, 2), (U, U, 2))

    def test_stale_complete_of_a_patch(self):
        # PATCH saves the new count first and says nothing else
        self.assert_over(False, (C, C, 1), (C, C, 2), (C, C, 2))
        self.assert_over(True, (C, C, 1), (C, C, 2), (P, C, 2), (U, C, 2))
        self.assert_over(False, (U, U, 1, 'a'), *[(U, U, 2, 'a')] * 100)

    def test_patch_of_which_only_the_date_was_seen(self):
        before, after = (U, U, 1, 'a'), (U, U, 2, 'b')

        self.assert_over(False, before, *[after] * 6)   # 10 s
        self.assert_over(True, before, *[after] * 7)    # 12 s
        self.assert_over(
            False, before, *[after] * 6, (U, U, 1, 'b'), *[after] * 2)

    def test_date_that_the_health_poll_moved(self):
        # given a stale COMPLETE with a new date, then the real work
        seen = [(U, U, 2, 'b')] * 3 + [(P, U, 2, 'c')]

        self.assert_over(False, (U, U, 1, 'a'), *seen)
        self.assert_over(True, (U, U, 1, 'a'), *seen, (U, U, 2, 'd'))

    def test_passing_trouble_is_neither_end_nor_failure(self):
        update = play((C, C, 1), (P, P, 2),
                      observations.Observation(trouble='400'))

        self.assertFalse(update.is_over())
        self.assertIsNone(update.failure())
        self.assertTrue(update.after(observe(U, U, 2), 9).is_over())


class AbandonedTest(testtools.TestCase):

    #: One minute of a cluster that is complete with a group that is not.
    ALONE = [(U, P, 2)] * 31

    def play(self, *seen, tolerant=True):
        update = play((C, C, 1), (P, P, 2), *seen, tolerant=tolerant)
        return update.is_abandoned(), update.is_over()

    def test_after_a_minute_and_the_end_where_it_is_tolerated(self):
        self.assertEqual((False, False), self.play(*self.ALONE[1:]))
        self.assertEqual((True, True), self.play(*self.ALONE))
        self.assertEqual((True, False),
                         self.play(*self.ALONE, tolerant=False))

    def test_what_is_not_abandoned(self):
        for seen, is_over in (
                # Somebody looks after the cluster.
                ((*self.ALONE[1:], (P, P, 2), *self.ALONE[1:]), False),
                ([(P, P, 2)] * 40, False),
                # Another count.
                ([(U, P, 1)] * 40, False),
                # The last one shows nothing.
                ((*self.ALONE, observations.Observation(trouble='400')),
                 False),
                ((*self.ALONE, (U, U, 2)), True)):
            self.assertEqual((False, is_over), self.play(*seen), seen)


class FailureTest(testtools.TestCase):

    def test_of_an_update(self):
        failed, of_group = 'it is UPDATE_FAILED', (
            'its node group is UPDATE_FAILED')
        for seen, said in (
                (((C, C, 1), (P, P, 2), (F, P, 2)), failed),
                # Between two observations.
                (((C, C, 1), (F, F, 1)), failed),
                # Magnum allows to resize a cluster that is UPDATE_FAILED.
                (((F, F, 1), (F, F, 1)), None),
                (((F, F, 1), (F, P, 2)), None),
                (((F, F, 1), (F, P, 2), (P, P, 2)), None),
                (((F, F, 1), (F, P, 2), (P, P, 2), (F, F, 1)), failed),
                # It never got as far as the cluster.
                (((F, F, 1), (F, P, 2), (F, F, 1)), of_group),
                # magnum-capi-helm 1.4.0 completes clusters with failed groups.
                (((C, C, 1), (P, P, 2), (U, F, 2)), of_group),
                # It may recover while the cluster is in progress.
                (((C, C, 1), (P, F, 2)), None),
                (((C, C, 1), observations.Observation()),
                 'the cluster is gone')):
            self.assertEqual(said, play(*seen).failure(), seen)

    def test_of_a_creation(self):
        gone = observations.Observation()
        for states, said in (
                ([gone], None),
                ([shown('CREATE_IN_PROGRESS'), gone], 'the cluster is gone'),
                ([shown('CREATE_IN_PROGRESS')], None), ([shown(None)], None),
                *(([shown(status)], f'it is {status}') for status in (
                    'CREATE_FAILED', 'UPDATE_FAILED', 'DELETE_FAILED',
                    'DELETE_IN_PROGRESS'))):
            self.assertEqual(said, [*map(
                observations.creation_failure(), states)][-1], states)

    def test_of_a_deletion(self):
        failed, healthy, going = map(
            shown, ('DELETE_FAILED', C, 'DELETE_IN_PROGRESS'))
        for before, states, said in (
                (healthy, [failed], 'it is DELETE_FAILED'),
                # The old failure is stale.
                (failed, [failed], None),
                (failed, [going, failed], 'it is DELETE_FAILED'),
                (healthy, [healthy], None)):
            self.assertEqual(said, [*map(
                observations.deletion_failure(before), states)][-1],
                (before, states))


class LookTest(testtools.TestCase):

    def test_says_what_a_person_needs(self):
        state = observations.Observation(
            {'status': F, 'status_reason': 'no host', 'faults': {'g': 'x'}},
            {'name': 'g', 'node_count': 2, 'status': P})

        self.assertEqual(
            "UPDATE_FAILED (no host), faults {'g': 'x'}, node group g with "
            '2 nodes UPDATE_IN_PROGRESS', str(state))

    def test_stack_id_has_two_names(self):
        self.assertEqual(
            's', observations.Observation({'stack_id': 's'}).stack_id)
        self.assertEqual(
            's', observations.Observation({'cluster_id': 's'}).stack_id)
        self.assertIsNone(observations.Observation().stack_id)

    def test_update_without_a_sign_says_so(self):
        self.assertIn('no sign that the update ever began',
                      str(play((U, U, 1, 'a'), (U, U, 2, 'a'))))

    def test_reasons(self):
        self.assertEqual('no room 1 of 2', observations.Observation({
            'status_reason': 'no room',
            'health_status_reason': {'a': '1 of 2', 'b': None}}).reasons)
        # Magnum cannot show a cluster without node groups.
        for nothing in (None, {}, {'health_status_reason': None}):
            self.assertEqual('', observations.Observation(nothing).reasons)


class OwnLabelsTest(testtools.TestCase):

    def fault(self, status, reason=None, **labels):
        return observations.own_labels_fault(observations.Observation({
            'status': status, 'status_reason': reason, 'labels': labels}),
            {'a': '1'}, {'b', 'c'})

    def test_complete_with_its_own(self):
        self.assertIsNone(self.fault('CREATE_COMPLETE', a='1', more='2'))

    def test_refused_with_a_reason(self):
        self.assertIsNone(self.fault('CREATE_FAILED', 'c is missing'))

    def test_what_is_wrong(self):
        for state, fault in (
                (self.fault('CREATE_COMPLETE', a='2'), 'not those of'),
                (self.fault('CREATE_COMPLETE'), 'not those of'),
                (self.fault('CREATE_COMPLETE', a='1', b='2'), "['b']"),
                (self.fault('CREATE_FAILED', 'No host'), 'names none of'),
                (self.fault('CREATE_FAILED'), 'names none of'),
                (self.fault('CREATE_IN_PROGRESS', a='1'), 'IN_PROGRESS')):
            self.assertIn(fault, state)
