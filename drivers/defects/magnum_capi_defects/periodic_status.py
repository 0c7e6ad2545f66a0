# SPDX-License-Identifier: Apache-2.0

"""Defects of the periodic status: what a driver does without a request."""

import time

from magnum_capi.driver import monitor
from magnum_capi.driver.observed import health
from magnum_capi.driver import reconcile
from magnum_capi.driver import store
from magnum_capi_defects import parts


class _Content(monitor.Monitor):

    def poll_health_status(self):
        self.data = {'health_status': health.HEALTHY,
                     'health_status_reason': {}}


class AlwaysHealthy(parts.Seeded):
    """Every cluster is healthy, whatever it has."""

    def get_monitor(self, context, cluster):
        return _Content(self._runtime, self._store(parts.admin()), cluster)


class AutoscaledCountFrozen(parts.Seeded):
    """Magnum never learns what the autoscaler has done."""

    class _Store(store.Store):

        def save(self, row):
            """Nothing: what a look at the health finds is not kept."""

    def get_monitor(self, context, cluster):
        return monitor.Monitor(
            self._runtime, self._Store(parts.admin(), parts.options()),
            cluster)


class _Writing(monitor.Monitor):

    def poll_health_status(self):
        super().poll_health_status()
        runtime = self._runtime()
        reconciler = reconcile.Reconciler(runtime, self._store, self._cluster)
        runtime.kube.annotate(
            'Cluster', reconciler.namespace, reconciler.release,
            {'example.com/last-look': str(time.time())})


class Restless(parts.Seeded):
    """Every look at a cluster writes down when it was."""

    def get_monitor(self, context, cluster):
        return _Writing(self._runtime, self._store(parts.admin()), cluster)
