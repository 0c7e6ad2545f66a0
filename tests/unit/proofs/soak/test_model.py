# SPDX-License-Identifier: Apache-2.0

"""Each thing that has to hold, once broken."""

import dataclasses

import testtools

from tests.proofs.soak import model
from tests.proofs.soak import stories

OLD, NEW = ('t1', 'v1.34.2'), ('t2', 'v1.35.0')
YES, NO, PERHAPS = model.Answer


def machines(*uids, release=OLD, runs=True):
    return tuple(model.Machine(uid, release[1], runs) for uid in uids)


MASTER = model.Group('CREATE_COMPLETE', 1, machines('m'))
WORKERS = model.Group('CREATE_COMPLETE', 2, machines('w1', 'w2'))
SEEN = model.Seen('CREATE_COMPLETE', '', OLD, {
    model.MASTERS: MASTER, model.WORKERS: WORKERS}, credentials=1)


def seen(status='UPDATE_COMPLETE', workers=None, **changes):
    group = dataclasses.replace(WORKERS, **(workers or {}))
    return dataclasses.replace(SEEN, status=status, **{'groups': {
        **SEEN.groups, model.WORKERS: group}, **changes})


def asked(*requests, before=None, answer=YES, doubt=False):
    """What is expected of a quiet cluster after some requests."""
    expected = before or model.quiet(SEEN)
    for line in requests:
        step, = stories.parse(line)
        expected = model.asked(expected, step, answer, doubt, NEW)
    return expected


class ModelTest(testtools.TestCase):

    def assert_problem(self, word, expected, seen_):
        found = model.problems(expected, seen_)
        self.assertEqual([word], sorted({f.partition(':')[0] for f in found}),
                         found)

    def assert_well(self, expected, seen_):
        self.assertEqual([], model.problems(expected, seen_))


class WellTest(ModelTest):

    def test_what_was_quiet_is_as_it_has_to_be(self):
        self.assert_well(model.quiet(SEEN), SEEN)

    def test_creation(self):
        step, = stories.parse('create a 2 m1.small')
        self.assert_well(model.asked(model.Expected(), step, YES,
                                     release=OLD), SEEN)

    def test_resize(self):
        self.assert_well(asked('resize a default-worker 1'), seen(workers={
            'count': 1, 'machines': machines('w2')}))

    def test_upgrade(self):
        group = model.Group('UPDATE_COMPLETE', 2, machines(
            'x1', 'x2', release=NEW))
        self.assert_well(asked('upgrade a'), seen(release=NEW, groups={
            model.WORKERS: group, model.MASTERS: dataclasses.replace(
                MASTER, machines=machines('x', release=NEW))}))

    def test_new_group_and_one_that_is_removed(self):
        new = seen(groups={**SEEN.groups, 'g1': model.Group(
            'CREATE_COMPLETE', 1, machines('n'))})
        self.assert_well(asked('add-group a g1 1 m1.small'), new)
        self.assert_well(asked('remove-group a g1', before=model.quiet(new)),
                         SEEN)

    def test_deletion(self):
        self.assert_well(asked('delete a'), model.Seen())


class LostTest(ModelTest):

    def test_the_last_size_that_was_accepted_counts(self):
        sizes = 'resize a default-worker 3', 'resize a default-worker 2'
        self.assert_well(asked(*sizes), SEEN)
        self.assert_problem('lost', asked(*reversed(sizes)), SEEN)

    def test_what_was_refused_changes_nothing(self):
        self.assert_well(asked('resize a default-worker 3', answer=NO), SEEN)
        self.assert_well(asked('delete a', answer=NO), SEEN)
        self.assert_problem('lost', asked('upgrade a', answer=NO), seen(
            release=('t2', OLD[1])))

    def test_an_answer_that_never_came_may_mean_both(self):
        for expected in (asked('resize a default-worker 1', answer=PERHAPS),
                         asked('resize a default-worker 1', doubt=True),
                         model.failed(asked('resize a default-worker 1'))):
            self.assert_well(expected, SEEN)
            self.assert_well(expected, seen(workers={
                'count': 1, 'machines': machines('w1')}))
            self.assert_problem('lost', expected, seen(workers={
                'count': 3, 'machines': machines('w1', 'w2', 'w3')}))
            self.assertTrue(model.doubtful(expected))

    def test_template(self):
        self.assert_problem('lost', asked('upgrade a'), SEEN)

    def test_group(self):
        self.assert_problem('lost', asked('add-group a g1 1 m1.small'), SEEN)
        self.assert_problem('lost', model.quiet(SEEN), seen(groups={
            **SEEN.groups, 'g1': model.Group(
                'CREATE_COMPLETE', 1, machines('n'))}))

    def test_cluster(self):
        self.assert_problem('lost', model.quiet(SEEN), model.Seen())
        self.assert_problem('lost', asked('delete a'), SEEN)


class UntrueTest(ModelTest):

    def test_complete_is_what_runs(self):
        for its in ((), machines('w1'), machines('w1', 'w2', 'w3'),
                    (*machines('w1'), *machines('w2', runs=False))):
            self.assert_problem(
                'untrue', dataclasses.replace(model.quiet(SEEN), rolled=True),
                seen(workers={'machines': its}))

    def test_complete_has_the_version(self):
        self.assert_problem('untrue', model.quiet(SEEN), seen(workers={
            'machines': machines('w1', 'w2', release=NEW)}))

    def test_complete_has_no_other_machines(self):
        self.assert_problem('untrue', model.quiet(SEEN), seen(
            strangers=('Machine x',)))

    def test_what_is_in_progress_says_nothing_yet(self):
        self.assertEqual([], model.untrue(seen('UPDATE_IN_PROGRESS', workers={
            'machines': ()})))
        self.assert_problem('unfinished', model.quiet(SEEN),
                            seen('UPDATE_IN_PROGRESS'))
        self.assert_problem('unfinished', model.quiet(SEEN), seen(
            workers={'status': 'UPDATE_IN_PROGRESS'}))


class FailedTest(ModelTest):

    def test_nobody_fails_without_a_fault(self):
        self.assert_problem('failed, and nothing was broken', asked(
            'resize a default-worker 2'), seen('UPDATE_FAILED', reason='x'))

    def test_a_failure_has_to_be_cured(self):
        for expected in (
                dataclasses.replace(model.quiet(SEEN), excused=True),
                asked('rotate-ca a', answer=NO),
                model.failed(asked('add-group a g1 1 fault.failed'))):
            self.assert_problem('failed', expected, seen(
                'UPDATE_FAILED', reason='x'))

    def test_cures(self):
        sick = {**SEEN.groups, 'g1': model.Group('CREATE_FAILED', 1)}
        for text, state in (
                ('delete a', seen('CREATE_FAILED')),
                ('delete a', seen('DELETE_FAILED')),
                ('resize a default-worker 2', seen('UPDATE_FAILED')),
                ('remove-group a g1', seen('UPDATE_FAILED', groups=sick))):
            self.assertEqual(text, str(model.cure(state, 'a')))


class ReplacedTest(ModelTest):

    others = seen(workers={'machines': machines('w1', 'x')})

    def test_nobody_asked_for_another_machine(self):
        for expected in (model.quiet(SEEN), asked('rotate a'),
                         asked('change-template a'),
                         asked('upgrade a', answer=NO)):
            self.assert_well(expected, SEEN)
            self.assert_problem('replaced', expected, self.others)

    def test_a_smaller_size_on_the_way_takes_no_more_than_it_says(self):
        expected = asked('resize a default-worker 1',
                         'resize a default-worker 2')
        self.assert_well(expected, self.others)
        self.assert_problem('replaced', expected, seen(workers={
            'machines': machines('x1', 'x2')}))

    def test_a_machine_that_a_fault_took(self):
        expected = model.without(model.quiet(SEEN), 'w2')
        self.assert_well(expected, self.others)
        self.assert_problem('replaced', expected, seen(workers={
            'machines': machines('x1', 'x2')}))


class LeftTest(ModelTest):

    def test_nothing_of_what_is_gone(self):
        gone = asked('delete a')
        self.assert_problem('left', gone, model.Seen(strangers=('M',)))
        self.assert_problem('left', gone, model.Seen(credentials=1))

    def test_one_application_credential(self):
        for number in (0, 2):
            self.assert_problem('left', model.quiet(SEEN), seen(
                credentials=number))


class SecretTest(testtools.TestCase):

    def found(self, secret, name, kind='Secret', namespace='ours'):
        return model.misplaced([model.Place('c1', secret, kind, namespace,
                                            name)], {'c1': 'ours'})

    def test_where_they_belong(self):
        for secret, names in (
                ('application credential', ('-cloud-credentials',
                                            '-magnum')),
                ('private key', ('-ca', '-etcd', '-proxy', '-sa',
                                 '-control-plane-x2x'))):
            for name in names:
                self.assertEqual([], self.found(secret, f'c1{name}'))

    def test_where_they_do_not(self):
        for place in (
                ('application credential', 'c1-ca'),
                ('application credential', 'c2-cloud-credentials'),
                ('application credential', 'sh.helm.release.v1.c1.v1'),
                ('private key', 'c1-cloud-credentials'),
                ('private key', 'c1-g1-user-data'),
                ('private key', 'c1-ca', 'Secret', 'theirs'),
                ('private key', 'c1-ca', 'ConfigMap'),
                ('application credential', 'magnum-conductor.log', 'log')):
            self.assertEqual(1, len(self.found(*place)), place)
