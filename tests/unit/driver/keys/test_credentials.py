# SPDX-License-Identifier: Apache-2.0

"""Application credentials: nothing leaks, and there is always a valid one."""

import datetime
import itertools
import random

import testtools

from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import delegation
from tests.unit.driver import objects

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.timezone.utc)


class Crash(Exception):
    """The process that carries out steps dies here."""


class World:
    """Keystone, the record, the cluster's Secret; and a process that dies.

    Every effect that another process could see is one tick; the process dies
    when ``ticks`` of them are over, right after the effect.
    """

    def __init__(self, case):
        self.case = case
        self.keystone = {}
        self.owners = {}
        self.lost = 0
        self.record = ()
        self.applied = None
        self.wish = credentials.KEEP
        self.now = NOW
        self.names = (f'name-{n}' for n in itertools.count())
        self.ids = (f'id-{n}' for n in itertools.count())
        self.ticks = None
        self.effects = 0

    def tick(self):
        self.effects += 1
        self.check()
        if self.ticks is not None:
            self.ticks -= 1
            if self.ticks < 0:
                raise Crash

    def check(self):
        known = {entry.id for entry in self.record}
        names = {entry.name for entry in self.record}
        for credential_id, name in self.keystone.items():
            self.case.assertTrue(
                credential_id in known or name in names,
                f'{credential_id} is leaked: {self.record}')
        if self.applied and self.wish == credentials.KEEP:
            self.case.assertIn(self.applied, self.keystone)

    def write(self, record):
        self.record = record
        self.tick()

    def run(self, user='alice', most=100):
        """Carry out steps until nothing is left to do; return the kinds."""
        found, gone, kinds = {}, frozenset(), []
        for _ in range(most):
            step = credentials.next_step(credentials.State(
                self.record, self.wish, self.now, user,
                lambda: next(self.names), found, self.taken_up(), gone))
            kinds.append(step.kind)
            match step.kind:
                case credentials.DONE:
                    return kinds
                case credentials.WAIT:
                    self.now += datetime.timedelta(seconds=10)
                case credentials.LOOK:
                    found = {**found, step.entry.user_id: {
                        name: credential_id for credential_id, name
                        in self.keystone.items()
                        if self.owners[credential_id] == step.entry.user_id}}
                case credentials.MAKE:
                    self.case.assertEqual(user, step.entry.user_id)
                    self.case.assertNotIn(
                        step.entry.name, self.keystone.values())
                    credential_id = next(self.ids)
                    self.keystone[credential_id] = step.entry.name
                    self.owners[credential_id] = user
                    self.tick()
                    found = {}
                    if self.lost:
                        # Sent again on its way, and refused.
                        self.lost -= 1
                        continue
                    self.write(credentials.made(
                        self.record, step.entry, credential_id))
                case credentials.APPLY:
                    self.applied = step.entry.id
                    self.tick()
                    self.write(step.record)
                case credentials.DELETE:
                    self.keystone.pop(step.id, None)
                    self.tick()
                    gone |= {step.id}
                case _:
                    self.write(step.record)
        self.case.fail(f'no end: {kinds}')

    def taken_up(self):
        return True

    def rotate(self):
        self.write(credentials.rotate(self.record))


class LifeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.world = World(self)

    def run_with_a_crash(self, ticks, user='alice'):
        self.world.ticks = ticks
        try:
            self.world.run(user)
        except Crash:
            return True
        finally:
            self.world.ticks = None
        return False

    def test_the_name_is_recorded_before_keystone_is_asked(self):
        kinds = self.world.run()

        self.assertEqual(
            [credentials.PLAN, credentials.LOOK, credentials.MAKE,
             credentials.APPLY, credentials.ADOPT, credentials.DONE], kinds)

    def test_a_crash_after_any_effect_leaks_nothing(self):
        # B.4.14, B.4.15: the model checks after each effect.
        lived = 0
        for ticks in range(40):
            self.world = World(self)
            crashed = self.run_with_a_crash(ticks)
            self.world.run()
            self.world.rotate()
            crashed |= self.run_with_a_crash(ticks, 'bob')
            self.world.run('bob')
            self.assertEqual(1, len(self.world.keystone))
            self.world.wish = credentials.REMOVE
            crashed |= self.run_with_a_crash(ticks)
            self.world.run(None)
            self.assertEqual({}, self.world.keystone)
            self.assertEqual((), self.world.record)
            lived += not crashed
        self.assertGreater(lived, 10, 'crashes were never too late')
        self.assertLess(lived, 40, 'there was no crash')

    def test_crashes_and_rotations_in_any_order_leak_nothing(self):
        for seed in range(300):
            chance = random.Random(seed)
            self.world = World(self)
            for _ in range(chance.randrange(1, 12)):
                if chance.random() < 0.5:
                    self.world.rotate()
                self.world.lost = chance.randrange(2)
                self.run_with_a_crash(
                    chance.randrange(8), chance.choice(('alice', 'bob')))
            self.world.run()
            self.assertEqual(
                {self.world.applied}, set(self.world.keystone), seed)
            self.world.wish = credentials.REMOVE
            self.run_with_a_crash(chance.randrange(4), None)
            self.world.run(None)
            self.assertEqual({}, self.world.keystone, seed)
            self.assertEqual((), self.world.record, seed)


class StepTest(testtools.TestCase):

    def state(self, *entries, **kwargs):
        kwargs = {'wish': credentials.KEEP, 'now': NOW, 'user_id': 'alice',
                  'fresh': lambda: 'fresh', **kwargs}
        return credentials.State(entries, **kwargs)

    def entry(self, stage, **kwargs):
        kwargs = {'name': f'name-{stage}', 'user_id': 'alice',
                  'id': f'id-{stage}', **kwargs}
        return credentials.Entry(stage=stage, **kwargs)

    def rotated(self, seconds, adopted):
        return credentials.next_step(self.state(
            self.entry(credentials.ADOPTED, outgoing=True),
            self.entry(credentials.APPLIED, applied_at=(
                NOW - datetime.timedelta(seconds=seconds))),
            adopted=adopted))

    def test_what_one_user_has_says_nothing_of_another(self):
        retired = self.entry(credentials.RETIRED, id=None, user_id='bob')

        step = credentials.next_step(
            self.state(retired, found={'alice': {retired.name: 'other'}}))

        self.assertEqual((credentials.LOOK, 'bob'),
                         (step.kind, step.entry.user_id))

    def test_nobody_but_the_user_can_make_one(self):
        planned = self.entry(credentials.PLANNED, id=None)

        step = credentials.next_step(
            self.state(planned, found={'alice': {}}, user_id=None))

        self.assertEqual(credentials.WAIT, step.kind)
        self.assertIn('must request a new', step.reason)

    def test_what_another_user_planned_is_not_made(self):
        planned = self.entry(credentials.PLANNED, id=None, user_id='bob')

        step = credentials.next_step(self.state(planned, found={'bob': {}}))

        self.assertEqual(credentials.RETIRE, step.kind)

    def test_the_old_one_stays_until_the_new_one_is_taken_up(self):
        # B.4.15
        wait, adopt = credentials.WAIT, credentials.ADOPT
        for seconds, adopted, kind, overdue in (
                (credentials.BOUND - 1, False, wait, False),
                (credentials.BOUND, False, wait, True),
                # Controllers get time to read it.
                (credentials.SETTLE - 1, True, wait, False),
                (credentials.SETTLE, True, adopt, False),
                # Where nothing can tell, the time decides.
                (credentials.BOUND - 1, None, wait, False),
                (credentials.BOUND, None, adopt, False)):
            step = self.rotated(seconds, adopted)
            self.assertEqual((kind, overdue), (step.kind, step.overdue),
                             (seconds, adopted))

    def test_what_is_retired_is_not_asked_for_again(self):
        record = (self.entry(objects.as_read(credentials.RETIRED)),
                  self.entry(credentials.ADOPTED))

        self.assertEqual([False, True], [
            entry.outgoing for entry in credentials.rotate(record)])

    def test_in_use_is_the_last_that_was_applied(self):
        record = (self.entry(credentials.ADOPTED),
                  self.entry(credentials.APPLIED),
                  self.entry(credentials.MADE))

        self.assertEqual('id-applied', credentials.in_use(record).id)
        self.assertIsNone(credentials.in_use(record[2:]))

    def test_adoption_needs_the_secret_and_its_readers(self):
        entry = self.entry(credentials.APPLIED)

        self.assertEqual(
            [False, False, True, None],
            [credentials.adopted('other', entry, (True, '')),
             credentials.adopted(entry.id, entry, (False, 'why')),
             credentials.adopted(entry.id, entry, (True, '')),
             credentials.adopted(entry.id, entry, None)])


class DelegationTest(testtools.TestCase):

    def test_roles(self):
        for has, allowed, given in (
                # The role admin is never delegated.
                (['reader', 'Admin', 'member', 'admin'],
                 ['reader', 'Admin', 'member', 'admin'],
                 ['member', 'reader']),
                (['admin'], ['admin'], []),
                (['member', 'reader', 'load-balancer_member'], ['Member'],
                 ['member']),
                (['member'], [], [])):
            self.assertEqual(given, delegation.roles(has, allowed))

    def test_name_and_description(self):
        self.assertEqual('magnum-uuid-1-x', delegation.name('uuid-1', 'x'))
        # What Keystone keeps.
        self.assertEqual(255, len(delegation.description('x' * 300, 'u')))
        self.assertIn('u-1', delegation.description(None, 'u-1'))
