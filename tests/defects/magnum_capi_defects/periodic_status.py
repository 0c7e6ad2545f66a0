# SPDX-License-Identifier: Apache-2.0

"""Defects of the periodic status: what a driver does without a request."""

import time

from magnum_capi.driver import monitor
from magnum_capi.driver.observed import health
from magnum_capi.driver import reconcile
from magnum_capi.driver import store
from magnum_capi_defects import parts
from magnum_capi_defects import taps


class _Content(monitor.Monitor):

    def poll_health_status(self):
        self.data = {'health_status': health.HEALTHY,
                     'health_status_reason': {}}


class AlwaysHealthy(parts.Seeded):
    """Every cluster is reported as healthy."""

    def get_monitor(self, context, cluster):
        return _Content(
            self._runtime, self._store(parts.admin(), cluster), cluster)


class AutoscaledCountFrozen(parts.Seeded):
    """Magnum never learns about changes by the autoscaler."""

    class _Store(store.Store):

        def save(self, row):
            """Do nothing: results of health checks are not saved."""

    def get_monitor(self, context, cluster):
        return monitor.Monitor(
            self._runtime, self._Store(
                parts.admin(), parts.options(), cluster.project_id), cluster)


class _Writing(monitor.Monitor):

    def poll_health_status(self):
        super().poll_health_status()
        runtime = self._runtime()
        reconciler = reconcile.Reconciler(runtime, self._store, self._cluster)
        runtime.kube.annotate(
            'Cluster', reconciler.namespace, reconciler.release,
            {'example.com/last-look': str(time.time())})


class Restless(parts.Seeded):
    """Every check of a cluster records its time."""

    def get_monitor(self, context, cluster):
        return _Writing(
            self._runtime, self._store(parts.admin(), cluster), cluster)


class FailedForGood(taps.Tapped):
    """A cluster that has failed never is complete again by itself."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if not cluster.status.endswith('_FAILED'):
            super().update_cluster_status(context, cluster, use_admin_ctx)

    def get_monitor(self, context, cluster):
        if cluster.status.endswith('_FAILED'):
            return None
        return super().get_monitor(context, cluster)
