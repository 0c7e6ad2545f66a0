# SPDX-License-Identifier: Apache-2.0
"""Seeded defects of timeouts: the drivers wait wrongly, and work otherwise."""

import dataclasses

from magnum_capi.driver.desired import names
from magnum_capi.driver import reconcile
from tests.unit.driver import objects
from tests.unit.driver import small_world
from tests.unit.proofs.suite_defects import base


class PatienceTest(base.Base):

    def settings(self, **changes):
        self.w.runtime = dataclasses.replace(
            self.w.runtime, settings=dataclasses.replace(
                self.w.runtime.settings, **changes))

    def unready(self):
        self.change_all('machinedeployments', readyReplicas=0,
                        availableReplicas=0)

    def ready(self, count=1):
        self.change_all('machinedeployments', readyReplicas=count,
                        availableReplicas=count)

    def status_after(self, minutes):
        for _time in range(minutes // 10):
            self.w.later(minutes=10)
            self.look(3)
        self.w.later(minutes=1)
        self.look(3)
        return self.w.cluster.status

    def updated(self, reference):
        """Status of an update that takes 51 minutes so far, then 71."""
        self.created(reference, create_timeout=60)
        self.resize(2)
        self.unready()
        self.ready(1)
        early = self.status_after(50)
        return early, self.status_after(20)

    def test_update_does_not_end_by_age(self):
        self.settings(progress_timeout=0)
        self.assertEqual(('UPDATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS'),
                         self.updated(base.HEALTHY))

    def test_updates_by_age(self):
        self.settings(progress_timeout=0)
        self.assertEqual(('UPDATE_IN_PROGRESS', 'UPDATE_FAILED'),
                         self.updated('timeouts:UpdatesByAge'))

    def deleted(self, reference):
        """Status of a deletion that waits for a machine for an hour."""
        self.created(reference)
        self.delete()
        machine = objects.machine()
        machine['metadata'].update(
            deletionTimestamp='2026-11-21T15:00:00Z',
            labels={names.CAPI_CLUSTER_NAME: small_world.RELEASE})
        self.w.helm.put('machines', machine)
        return self.status_after(60)

    def test_deletion_does_not_end_by_age(self):
        self.assertEqual('DELETE_IN_PROGRESS', self.deleted(base.HEALTHY))

    def test_deletes_by_age(self):
        self.assertEqual('DELETE_FAILED',
                         self.deleted('timeouts:DeletesByAge'))

    def remembered(self, reference):
        """Whether a creation that failed by its time can come right."""
        self.driver(reference)
        self.create()
        self.unready()
        self.assertEqual('CREATE_FAILED', self.status_after(60))
        vault = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.store.row()).vault
        return vault.state().failed == self.w.cluster.status_reason

    def test_failure_that_may_end(self):
        self.assertTrue(self.remembered(base.HEALTHY))

    def test_failed_for_ever(self):
        self.assertFalse(self.remembered('timeouts:FailedForEver'))

    def failing(self, reference):
        """Status when a machine has just failed in an update of 11 min."""
        self.settings(failure_patience=300)
        self.created(reference)
        self.resize(2)
        self.unready()
        self.status_after(10)
        self.change_all('kubeadmcontrolplanes', phase='Failed')
        self.look(3)
        return self.w.cluster.status

    def test_late_failure_has_its_time(self):
        self.assertEqual('UPDATE_IN_PROGRESS', self.failing(base.HEALTHY))

    def test_fails_at_once(self):
        self.assertEqual('UPDATE_FAILED',
                         self.failing('timeouts:FailsAtOnce'))

    def test_clock_ahead(self):
        self.driver('timeouts:ClockAhead')
        self.create()
        self.unready()
        self.look(3)
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertIn('Not finished within', self.w.cluster.status_reason)
