# SPDX-License-Identifier: Apache-2.0

"""Defects of timeouts: how long a driver waits, and by which clock."""

import datetime
import time

import magnum.conf
from oslo_utils import timeutils

from magnum_capi_defects import taps

#: How far the observer's clock is ahead: more than Magnum's create_timeout.
AHEAD = datetime.timedelta(hours=2)


class _ByAge(taps.Tapped):
    """An operation fails when it has lasted for too long.

    :cvar operation: Magnum's word for it.
    """

    operation = ''
    _began = {}

    def has_failed(self, cluster, age):
        """Return whether it has failed.

        :param age: seconds since it was first seen.
        """
        return bool(cluster.create_timeout
                    and age >= cluster.create_timeout * 60)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        key = self.operation, cluster.uuid
        if cluster.status != f'{self.operation}_IN_PROGRESS':
            self._began.pop(key, None)
            return
        began = self._began.setdefault(key, time.monotonic())
        if self.has_failed(cluster, time.monotonic() - began):
            taps.end(cluster, 'FAILED', 'It took too long')


@taps.seen_by('LateGroupTest.test_an_update_takes_as_long_as_it_needs',
              'UPDATE_COMPLETE.*UPDATE_FAILED', build_timeout='180')
class UpdatesByAge(_ByAge):
    """The create_timeout of a cluster ends its updates, too."""

    operation = 'UPDATE'


@taps.seen_by('LateClusterTest.test_a_deletion_takes_as_long_as_it_needs',
              'it is DELETE_FAILED', build_timeout='180')
class DeletesByAge(_ByAge):
    """The create_timeout of a cluster ends its deletion, too."""

    operation = 'DELETE'

    def get_monitor(self, context, cluster):
        if cluster.status.startswith('DELETE_'):
            # The monitor would resume the deletion.
            return None
        return super().get_monitor(context, cluster)


@taps.seen_by('MachineFailsTest.'
              'test_a_machine_that_fails_late_is_left_to_be_replaced',
              'UPDATE_COMPLETE.*UPDATE_FAILED', build_timeout='180')
class FailsAtOnce(_ByAge):
    """The time for self-healing counts from the beginning of an operation."""

    operation = 'UPDATE'

    def has_failed(self, cluster, age):
        return age >= magnum.conf.CONF.k8s_capi.failure_patience and any(
            _is_failed(machine['status'])
            for machine in taps.of_cluster(cluster, 'machines')
            if 'status' in machine)


def _is_failed(status):
    deprecated = (status.get('deprecated') or {}).get('v1beta1') or {}
    return bool(status.get('failureReason')
                or deprecated.get('failureReason'))


@taps.seen_by('LateClusterTest.'
              'test_a_creation_that_failed_is_complete_in_the_end',
              'to be complete after all.*CREATE_FAILED', build_timeout='180')
class FailedForEver(taps.Tapped):
    """A failed creation stays failed, even after it recovered."""

    _failed = set()

    def saves(self, method, cluster, row):
        if not taps.is_cluster(row):
            return
        if row.status == 'CREATE_FAILED':
            self._failed.add(row.uuid)
        elif row.uuid in self._failed and row.status.startswith('CREATE_'):
            row.status = 'CREATE_FAILED'


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'CREATE_FAILED.*Not finished within')
class ClockAhead(taps.Tapped):
    """The age of a creation is that of a clock two hours ahead."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        minutes = cluster.create_timeout
        age = AHEAD + (timeutils.utcnow(True) - cluster.created_at)
        if (cluster.status == 'CREATE_IN_PROGRESS' and minutes
                and age >= datetime.timedelta(minutes=minutes)):
            taps.end(cluster, 'FAILED', f'Not finished within {minutes} '
                                        'minutes')
        else:
            super().update_cluster_status(context, cluster, use_admin_ctx)
