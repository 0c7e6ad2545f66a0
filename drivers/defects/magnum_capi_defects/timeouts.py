# SPDX-License-Identifier: Apache-2.0
"""Defects of timeouts: how long a driver waits, and by whose clock."""

import dataclasses
import datetime

from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import watch
from magnum_capi_defects import parts

#: How far the observer's clock is ahead: more than Magnum's create_timeout.
AHEAD = datetime.timedelta(hours=2)


class UpdatesByAge(parts.Seeded):
    """An update ends by the create_timeout of its cluster, too."""

    class Watch(watch.Watch):

        def _wanted(self, rows):
            return dataclasses.replace(
                super()._wanted(rows), timeout=rows.cluster.create_timeout)


class DeletesByAge(parts.Seeded):
    """A deletion ends by the create_timeout of its cluster, too."""

    class Watch(parts.Telling):

        def told(self, rows, verdict):
            age = verdicts.age(self._wanted(rows), self._runtime.now())
            timeout = (rows.cluster.create_timeout or 0) * 60
            if verdict.status != 'DELETE_IN_PROGRESS' or not (
                    timeout and age and age >= timeout):
                return verdict
            return dataclasses.replace(
                verdict, status='DELETE_FAILED', reason='It took too long')

    def get_monitor(self, context, cluster):
        # That would take it up again.
        return None


class FailedForEver(parts.Seeded):
    """What failed once stays so, whatever becomes of it."""

    class Watch(watch.Watch):

        def _end(self, rows=None, failed=''):
            super()._end(rows)


class FailsAtOnce(parts.Seeded):
    """The time for self-healing counts from the beginning of an operation."""

    class Watch(watch.Watch):

        def _wanted(self, rows):
            wanted = super()._wanted(rows)
            age = verdicts.age(wanted, self._runtime.now()) or 0
            return dataclasses.replace(
                wanted, patience=max(wanted.patience - age, 0))


class ClockAhead(parts.Seeded):
    """The observer of a cluster has another clock than its changer."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        runtime = self._runtime()
        self.Watch(dataclasses.replace(runtime, now=lambda: (
            runtime.now() + AHEAD)), self._store(parts.admin()),
            cluster).update()
