# SPDX-License-Identifier: Apache-2.0

"""What a driver does not forget when it should."""

from magnum_capi_defects import taps


class UnhealthyForGood(taps.Tapped):
    """A cluster that was UNHEALTHY once never is HEALTHY again."""

    _ill = set()

    def get_monitor(self, context, cluster):
        monitor = super().get_monitor(context, cluster)
        poll = monitor.poll_health_status

        def poll_and_remember():
            poll()
            if monitor.data.get('health_status') == 'UNHEALTHY':
                self._ill.add(cluster.uuid)
            elif cluster.uuid in self._ill:
                monitor.data['health_status'] = 'UNHEALTHY'

        monitor.poll_health_status = poll_and_remember
        return monitor
