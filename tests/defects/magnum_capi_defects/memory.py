# SPDX-License-Identifier: Apache-2.0

"""What a driver does not forget when it should, and the reverse."""

from magnum_capi_defects import taps

_MOVE = 'clusterctl.cluster.x-k8s.io/move'


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


@taps.seen_by('ObjectsTest.test_clusterctl_move_takes_each_secret',
              'lacks the label clusterctl')
class StaysBehind(taps.Tapped):
    """What the driver remembers of a cluster does not move with it."""

    def sends(self, method, cluster, request):
        body = request.json
        if isinstance(body, dict) and body.get('kind') == 'Secret':
            labels = body['metadata'].get('labels') or {}
            if labels.pop(_MOVE, None) is not None:
                request.json = body
