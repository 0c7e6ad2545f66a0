# SPDX-License-Identifier: Apache-2.0
"""Defects of timeouts: how long a driver waits, and by which clock."""

import dataclasses
import datetime

from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import status_check
from magnum_capi_defects import parts

#: How far the observer's clock is ahead: more than Magnum's create_timeout.
AHEAD = datetime.timedelta(hours=2)


class UpdatesByAge(parts.Seeded):
    """The create_timeout of a cluster ends its updates, too."""

    class StatusCheck(status_check.StatusCheck):

        def _wanted(self, rows):
            return dataclasses.replace(
                super()._wanted(rows), timeout=rows.cluster.create_timeout)


class DeletesByAge(parts.Seeded):
    """The create_timeout of a cluster ends its deletion, too."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            age = verdicts.age(self._wanted(rows), self._runtime.now())
            timeout = (rows.cluster.create_timeout or 0) * 60
            if verdict.status != 'DELETE_IN_PROGRESS' or not (
                    timeout and age and age >= timeout):
                return verdict
            return dataclasses.replace(
                verdict, status='DELETE_FAILED', reason='It took too long')

    def get_monitor(self, context, cluster):
        if cluster.status.startswith('DELETE_'):
            # The monitor would resume the deletion.
            return None
        return super().get_monitor(context, cluster)


class FailedForEver(parts.Seeded):
    """A failed operation stays failed, even after it recovered."""

    class StatusCheck(status_check.StatusCheck):

        def _end(self, rows=None, failed=''):
            super()._end(rows)


class FailsAtOnce(parts.Seeded):
    """The time for self-healing counts from the beginning of an operation."""

    class StatusCheck(status_check.StatusCheck):

        def _wanted(self, rows):
            wanted = super()._wanted(rows)
            age = verdicts.age(wanted, self._runtime.now()) or 0
            return dataclasses.replace(
                wanted, patience=max(wanted.patience - age, 0))


class ClockAhead(parts.Seeded):
    """The periodic status uses another clock than operations."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        runtime = self._runtime()
        self.StatusCheck(dataclasses.replace(runtime, now=lambda: (
            runtime.now() + AHEAD)), self._store(parts.admin(), cluster),
            cluster).update()
