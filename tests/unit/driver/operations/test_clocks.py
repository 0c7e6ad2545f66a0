# SPDX-License-Identifier: Apache-2.0

"""Whose clock counts? That of the management cluster, and nobody else's.

Conductors are several machines, and so is what writes Magnum's rows.
"""

import datetime
import time

from magnum_capi.driver import scope
from tests.unit.driver import base
from tests.unit.driver import small_world


class OneClockTest(base.TestCase):

    def setUp(self):
        super().setUp()
        # This machine's own clock is right, for what it is worth.
        self.api.date = int(time.time())
        kube = self.api.kube()
        self.w.runtime = scope.Runtime(
            self.w.runtime.options, kube, self.w.helm, kube.now,
            clock=self.api.clock)

    def wrong(self, **ahead):
        """Have rows been written by somebody whose clock is wrong."""
        moment = (datetime.datetime.fromtimestamp(
            self.api.date, datetime.timezone.utc)
            + datetime.timedelta(**ahead))
        self.w.rows.clusters[small_world.CLUSTER].update(
            created_at=moment, updated_at=moment)

    def test_age_is_that_of_the_management_clusters_clock(self):
        self.create()
        self.make_busy()
        self.check_status(3)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.api.date += 61 * 60
        self.check_status(3)
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)

    def test_clock_of_who_made_the_row_does_not_end_a_creation(self):
        self.wrong(hours=-2)
        self.create()
        self.make_busy()
        self.check_status(3)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)

    def test_clock_of_who_made_the_row_does_not_have_a_creation_lost(self):
        self.wrong(hours=-2)
        self.check_status(3)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.api.date += 61
        self.check_status()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)

    def test_clock_that_is_ahead_does_not_keep_a_lost_creation(self):
        self.wrong(hours=2)
        self.check_status()
        self.api.date += 61
        self.check_status()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)

    def test_clock_of_who_made_the_row_does_not_end_its_retries(self):
        self.wrong(hours=-2)
        lost = []
        defaults = self.w.store.defaults

        def lose():
            if not lost:
                lost.append(creation._reconciler.lock)
                creation._reconciler.lock._renewed -= 1000
            return defaults()
        self.w.store.defaults = lose
        row = self.w.row()
        self.w.rows.make_certificates(row)
        creation = self.operations(row)
        creation.create(60)
        self.assertEqual(1, len(self.w.helm.upgrades))
