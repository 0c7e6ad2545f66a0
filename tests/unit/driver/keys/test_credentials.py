# SPDX-License-Identifier: Apache-2.0

"""Application credentials: nothing leaks, and there is always a valid one."""

import datetime
import random

import testtools

from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from tests.unit.driver import base
from tests.unit.driver import objects
from tests.unit.driver import small_world

APPLIED = credentials.APPLIED


class Crash(Exception):
    """The process that makes and deletes credentials dies here."""


class LifeTest(base.TestCase):
    """Keystone, the record, the Secret of the cluster; a process that dies.

    Every effect that another process could see is one tick; the process dies
    when ``ticks`` of them are over, right after the effect.
    """

    def setUp(self):
        super().setUp()
        self.ticks = None
        self.ended = False
        for owner, name in (
                (app_credentials, 'create'), (app_credentials, 'delete'),
                (cluster_secrets.ClusterSecrets, 'write_state'),
                (cluster_secrets.ClusterSecrets, 'write_credentials')):
            self.patch(owner, name, self.ticking(getattr(owner, name)))
        reconciler = self.reconciler()
        self.w.runtime.kube.ensure_namespace(reconciler.namespace, {})
        # Nobody else can have the lock.
        reconciler.lock.check = lambda: None
        self.secrets, self.reconciler_ = reconciler.secrets, reconciler

    def ticking(self, method):
        def ticked(*args, **kwargs):
            result = method(*args, **kwargs)
            self.check()
            if self.ticks is not None:
                self.ticks -= 1
                if self.ticks < 0:
                    raise Crash
            return result
        return ticked

    def check(self):
        state = self.secrets.state()
        known = {entry.id for entry in state.record}
        names = {entry.name for entry in state.record}
        for made, found in self.w.cloud.credentials.items():
            self.assertTrue(made in known or found.name in names,
                            f'{made} is leaked: {state.record}')
        applied = self.applied()
        if applied and not self.ended:
            self.assertIn(applied, self.w.cloud.credentials)

    def applied(self):
        return cluster_secrets.applied_id(self.secrets.credentials() or {})

    def run_once(self, user='alice'):
        self.w.ask_as(user, 'member')
        self.reconciler_.store = self.w.store
        mine = self.reconciler_.ownership
        if self.ended:
            mine.remove(self.secrets.state())
            return None
        return mine.settle(self.secrets.state(), ())[1]

    def run_with_a_crash(self, ticks, user='alice'):
        self.ticks = ticks
        try:
            self.run_once(user)
        except Crash:
            return True
        finally:
            self.ticks = None
        return False

    def rotate(self):
        state = self.secrets.state()
        self.secrets.write_state(state_module.with_record(
            state, credentials.rotate(state.record)))

    def finish(self, user='alice'):
        """Until nothing is left to do; without addons, the time decides."""
        self.configure(credential_bound=0)
        self.reconciler_.runtime = self.w.runtime
        self.assertIsNone(self.run_once(user))

    def remove(self):
        self.ended = True
        self.run_once(None)
        self.assertEqual({}, self.w.cloud.credentials)
        self.assertEqual((), self.secrets.state().record)
        self.ended = False

    def test_a_crash_after_any_effect_leaks_nothing(self):
        # B.4.14, B.4.15: each effect is checked.
        lived = 0
        for ticks in range(12):
            crashed = self.run_with_a_crash(ticks)
            self.finish()
            self.rotate()
            crashed |= self.run_with_a_crash(ticks, 'bob')
            self.finish('bob')
            self.assertEqual({self.applied()}, set(self.w.cloud.credentials))
            self.ended = True
            crashed |= self.run_with_a_crash(ticks)
            self.remove()
            self.secrets.remove()
            lived += not crashed
        self.assertGreater(lived, 3, 'crashes were never too late')
        self.assertLess(lived, 12, 'there was no crash')

    def test_crashes_and_rotations_in_any_order_leak_nothing(self):
        for seed in range(40):
            chance = random.Random(seed)
            for _ in range(chance.randrange(1, 12)):
                if chance.random() < 0.5:
                    self.rotate()
                self.w.doors.clear()
                self.fail_at('repeated', 'POST /identity/v3/users',
                             times=chance.randrange(2))
                self.run_with_a_crash(
                    chance.randrange(8), chance.choice(('alice', 'bob')))
            self.w.doors.clear()
            self.finish()
            self.assertEqual(
                {self.applied()}, set(self.w.cloud.credentials), seed)
            self.ended = True
            self.run_with_a_crash(chance.randrange(4), None)
            self.remove()
            self.secrets.remove()

    def test_nobody_but_the_user_can_make_one(self):
        wait = self.run_once(None)

        self.assertTrue(wait.long)
        self.assertIn('must request a new', wait.reason)
        e = self.assertRaises(
            failures.Failed, self.reconciler_.ownership.ensure_credential,
            self.secrets.state())
        self.assertEqual(wait.reason, e.what)

    def test_what_another_user_planned_is_not_made(self):
        self.run_with_a_crash(0, 'bob')
        self.run_once()

        entry, = self.secrets.state().record
        self.assertEqual(('alice', APPLIED), (entry.user_id, entry.stage))
        self.assertEqual({entry.id: 'alice'}, {
            made.id: made.user for made in self.w.cloud.credentials.values()})


class SettleTest(base.TestCase):

    def rotated(self, seconds, taken_up):
        """What a rotation waits for; whether the old one is still there."""
        ownership = self.reconciler().ownership
        kept = state_module.State(record=(
            credentials.Entry('old', 'u1', APPLIED, 'id-old', outgoing=True),
            credentials.Entry('new', 'u1', APPLIED, 'id-new', applied_at=(
                small_world.NOW - datetime.timedelta(seconds=seconds)))))
        ownership._now = lambda: small_world.NOW
        ownership._is_taken_up = lambda *_: taken_up
        ownership._drop = lambda state, entry: state_module.with_record(
            state, credentials.without(state.record, entry))
        state, wait = ownership.settle(kept, ())
        return wait and wait.long, len(state.record) == 2

    def test_the_old_one_stays_until_the_new_one_is_taken_up(self):
        # B.4.15
        self.configure(credential_settle=30, credential_bound=900)
        for seconds, taken_up, expected in (
                (899, False, (False, True)), (900, False, (True, True)),
                # Controllers get time to read it.
                (29, True, (False, True)), (30, True, (None, False)),
                # Where nothing can tell, the time decides.
                (899, None, (False, True)), (900, None, (None, False))):
            self.assertEqual(expected, self.rotated(seconds, taken_up),
                             (seconds, taken_up))


class RecordTest(testtools.TestCase):

    def entry(self, stage, **kwargs):
        kwargs = {'name': f'name-{stage}', 'user_id': 'alice',
                  'id': f'id-{stage}', **kwargs}
        return credentials.Entry(stage=stage, **kwargs)

    def test_in_use_is_the_last_that_was_applied(self):
        record = (self.entry(APPLIED, id='first'),
                  self.entry(objects.as_read(APPLIED)),
                  self.entry(credentials.MADE))

        self.assertEqual('id-applied', credentials.in_use(record).id)
        self.assertIsNone(credentials.in_use(record[2:]))

    def test_stages_of_earlier_drivers(self):
        text = state_module.dump(state_module.State(record=(
            self.entry('retired', id=None), self.entry('retired'),
            self.entry('adopted', outgoing=True), self.entry('adopted'))))

        self.assertEqual(
            [('planned', True), (APPLIED, True), (APPLIED, True),
             (APPLIED, False)], [
                (entry.stage, entry.outgoing)
                for entry in state_module.load(text).record])


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
            self.assertEqual(given, app_credentials.roles(has, allowed))

    def test_name_and_description(self):
        self.assertEqual(
            'magnum-uuid-1-x', app_credentials.name('uuid-1', 'x'))
        # What Keystone keeps.
        self.assertEqual(255, len(app_credentials.description('x' * 300, 'u')))
        self.assertIn('u-1', app_credentials.description(None, 'u-1'))
