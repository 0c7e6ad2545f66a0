# SPDX-License-Identifier: Apache-2.0

"""What a driver does not forget when it should."""

from magnum_capi_defects import taps


@taps.seen_by('InvalidCredentialTest.test_its_user_was_disabled_for_a_while',
              'to be HEALTHY.*UNHEALTHY')
class UnhealthyForGood(taps.Tapped):
    """A cluster that was UNHEALTHY once never is HEALTHY again."""

    _ill = set()

    def polled(self, cluster, data):
        if data.get('health_status') == 'UNHEALTHY':
            self._ill.add(cluster.uuid)
        elif cluster.uuid in self._ill:
            data['health_status'] = 'UNHEALTHY'
        return data
