# SPDX-License-Identifier: Apache-2.0

"""Health from the management cluster, in the shape of Magnum's monitors."""

import json

import testtools

from magnum_capi.driver.observed import health
from magnum_capi.driver.observed import snapshot
from tests.unit.driver import objects

VERSIONS = (objects.V1BETA1, objects.V1BETA2)
OLD = objects.ago(days=2)
YOUNG = objects.ago(minutes=2)


def judge(seen, credential=None, **kwargs):
    kwargs = {'status': 'CREATE_COMPLETE', **kwargs}
    return health.health(seen, objects.desired(**kwargs), objects.NOW,
                         credential)


def with_machine(healthy='True', **kwargs):
    found = objects.machine(**{'created': OLD, **kwargs})
    objects.condition(found, 'NodeHealthy', status=healthy,
                      message='kubelet stopped posting')
    return objects.complete(machines=(found,))


class HealthTest(testtools.TestCase):

    def assert_health(self, expected, seen, key, said, **kwargs):
        found, reason = judge(seen, **kwargs)
        self.assertEqual(expected, found, reason)
        self.assertIn(said, reason[key])

    def test_a_well_cluster_in_both_shapes(self):
        # B.4.13
        for version in VERSIONS:
            seen = objects.recorded('created', version)

            found, reason = judge(seen)

            self.assertEqual(health.HEALTHY, found, reason)
            self.assertEqual('ok', reason['api'])
            self.assertEqual(
                ['True'] * 3, [text for key, text in reason.items()
                               if key.endswith('.Ready')])

    def test_nodes_go_by_their_names(self):
        found, reason = judge(with_machine(node='node-1'))

        self.assertEqual(health.HEALTHY, found)
        self.assertEqual({
            'api': 'ok', 'infrastructure': 'ok', 'controlplane': 'ok',
            'node-1.Ready': 'True'}, reason)

    def test_reasons_are_texts(self):
        # Magnum keeps a dictionary of texts only.
        for seen in (snapshot.Snapshot(None), objects.complete(),
                     with_machine('False', node='n'),
                     objects.recorded('nodes-not-ready', objects.V1BETA1)):
            for value in judge(seen, credential=health.REFUSED)[1].values():
                self.assertIsInstance(value, str)

    def test_a_machine_by_its_age(self):
        # capi-helm-charts: nodeStartupTimeout of 30 minutes.
        late = objects.ago(minutes=30, seconds=1)
        ill, going = 'kubelet stopped', 'UPDATE_IN_PROGRESS'
        for healthy, node, created, status, expected, said in (
                ('False', 'n', OLD, None, health.UNHEALTHY, f'False: {ill}'),
                ('Unknown', 'n', OLD, None, health.UNHEALTHY,
                 f'Unknown: {ill}'),
                ('False', 'n', YOUNG, None, health.UNHEALTHY, ill),
                # While nodes come and go, a new one is excused.
                ('False', 'n', YOUNG, going, health.HEALTHY, ill),
                ('False', 'n', OLD, going, health.UNHEALTHY, ill),
                ('Unknown', None, objects.ago(minutes=30), None,
                 health.HEALTHY, 'False: is not a node yet'),
                ('Unknown', None, late, None, health.UNHEALTHY,
                 'False: is not a node yet')):
            self.assert_health(
                expected, with_machine(healthy, node=node, created=created),
                f'{node or "default-worker-x1"}.Ready', said,
                status=status or 'CREATE_COMPLETE')
        self.assert_health(
            health.UNHEALTHY, objects.complete(
                machines=(objects.failed_machine(),)),
            'default-worker-x1.Ready', 'No valid host was found.')

    def test_a_new_node_that_an_autoscaler_adds_is_excused(self):
        found, _ = health.health(
            with_machine('False', node='node-1', created=YOUNG),
            objects.desired(objects.group(autoscaled=True),
                            status='CREATE_COMPLETE'), objects.NOW)

        self.assertEqual(health.HEALTHY, found)

    def test_what_a_cluster_says_of_itself(self):
        def cluster(kind, **changes):
            return objects.condition(objects.cluster(), kind, **changes)

        given_up = cluster('InfrastructureReady', status='False')
        passed, old = objects.cluster(), objects.cluster(objects.V1BETA1)
        for found in (given_up, passed):
            found['status']['phase'] = 'Failed'
        # With the old vocabulary only.
        del old['status']['v1beta2']
        old['status']['conditions'].append({
            'type': 'ControlPlaneInitialized', 'status': 'True'})
        for found, expected, key, said in (
                (cluster('RemoteConnectionProbe', status='False',
                         message='no route'), health.UNHEALTHY, 'api',
                 'no route'),
                (cluster('InfrastructureReady', status='False',
                         message='network is gone'), health.UNHEALTHY,
                 'infrastructure', 'network is gone'),
                (given_up, health.UNHEALTHY, 'infrastructure',
                 'phase Failed'),
                (passed, health.HEALTHY, 'infrastructure', 'ok'),
                (old, health.HEALTHY, 'api', 'ok')):
            self.assert_health(
                expected, objects.complete(cluster=found), key, said)

    def test_a_control_plane_without_quorum(self):
        for version in VERSIONS:
            plane = objects.condition(
                objects.control_plane(version), 'Available', status='False',
                message='etcd has no quorum')
            self.assert_health(
                health.UNHEALTHY, objects.complete(
                    version, control_plane=plane),
                'controlplane', 'no quorum')

    def test_a_cluster_that_is_not_there(self):
        for status, expected in (
                ('CREATE_COMPLETE', health.UNHEALTHY),
                ('CREATE_FAILED', health.UNHEALTHY),
                ('UPDATE_IN_PROGRESS', health.UNHEALTHY),
                # Not yet, or not for long.
                ('CREATE_IN_PROGRESS', health.UNKNOWN),
                ('DELETE_IN_PROGRESS', health.UNKNOWN)):
            self.assertEqual(expected, judge(
                snapshot.Snapshot(None), status=status)[0], status)

    def test_a_node_of_which_nothing_is_known(self):
        for age, status, expected in (
                (YOUNG, 'UPDATE_IN_PROGRESS', health.HEALTHY),
                (OLD, 'UPDATE_IN_PROGRESS', health.UNHEALTHY),
                (YOUNG, 'UPDATE_COMPLETE', health.UNHEALTHY)):
            machine = objects.machine(created=age, node='node-1')
            for holder in (machine['status'],
                           machine['status']['deprecated']['v1beta1']):
                holder['conditions'] = [
                    one for one in holder['conditions']
                    if one['type'] != 'NodeHealthy']

            found, reason = judge(objects.complete(machines=(machine,)),
                                  status=status)

            self.assertEqual((expected, 'Unknown'),
                             (found, reason['node-1.Ready']))

    def test_an_api_is_known_by_either_of_two_conditions(self):
        def without(*types, version=objects.V1BETA2):
            cluster = objects.cluster(version)
            for holder in (cluster['status'], cluster['status'].get(
                    'deprecated', {}).get('v1beta1', {})):
                holder['conditions'] = [
                    one for one in holder.get('conditions', ())
                    if one['type'] not in types]
            return judge(objects.complete(cluster=cluster))[1]['api']

        for types, expected in (
                (['RemoteConnectionProbe'], 'ok'),
                (['ControlPlaneInitialized'], 'ok'),
                (['RemoteConnectionProbe', 'ControlPlaneInitialized'],
                 'unknown')):
            self.assertEqual(expected, without(*types))

    def test_a_control_plane_that_is_not_there(self):
        for status, expected in (
                ('CREATE_IN_PROGRESS', health.HEALTHY),
                ('CREATE_COMPLETE', health.UNHEALTHY),
                ('UPDATE_IN_PROGRESS', health.UNHEALTHY),
                ('UPDATE_COMPLETE', health.UNHEALTHY)):
            self.assertEqual(expected, judge(objects.complete(
                control_plane=None), status=status)[0], status)

    def test_a_lost_member_of_etcd_unless_members_are_replaced(self):
        for version in VERSIONS:
            seen = objects.complete(version, control_plane=objects.condition(
                objects.control_plane(version), 'EtcdClusterHealthy',
                status='False'))

            self.assertEqual(
                [health.UNHEALTHY, health.HEALTHY],
                [judge(seen)[0],
                 judge(seen, status='UPDATE_IN_PROGRESS')[0]])

    def test_members_that_are_replaced_before_certificates_expire(self):
        # What KubeadmControlPlane says while a member is being deleted.
        for version in VERSIONS:
            plane = objects.condition(
                objects.control_plane(version), 'EtcdClusterHealthy',
                status='False', message='Machine is deleting')
            status = plane['status']
            (status.get('v1beta2') or status)['conditions'] += (
                objects.conditions(('RollingOut',)))
            young, old = (objects.condition(objects.master_machine(
                version=version, node='n', created=created), 'NodeHealthy',
                status='False') for created in (YOUNG, OLD))

            self.assertEqual(
                [health.HEALTHY, health.HEALTHY, health.UNHEALTHY],
                [judge(objects.complete(
                    version, control_plane=plane, machines=machines))[0]
                    for machines in ((), (young,), (old,))])

    def test_what_is_not_made_yet_is_unknown(self):
        found, reason = judge(
            objects.recorded('nodes-not-ready', objects.V1BETA2),
            status='CREATE_IN_PROGRESS')

        self.assertEqual(health.UNKNOWN, found)
        self.assertIn('network not ready', str(reason))

    def test_a_rollout_is_no_illness(self):
        # B.4.13: these are well when False and no trouble when True.
        seen = objects.complete()
        for obj in (seen.cluster, seen.control_plane):
            obj['status']['conditions'] += objects.conditions(
                ('RollingOut', 'ScalingUp', 'Remediating'))

        self.assertEqual(health.HEALTHY, judge(seen)[0])


class GroupTest(testtools.TestCase):

    def health(self, status, role='worker', **kwargs):
        group = objects.group(key='pool', name='pool', status=status,
                              role=role)
        return health.health(
            objects.complete(**kwargs), objects.desired(
                objects.master(), objects.group(), group,
                status='UPDATE_IN_PROGRESS'), objects.NOW)

    def test_machines_and_groups_that_go_or_come(self):
        going = objects.failed_machine()
        going['metadata']['deletionTimestamp'] = 'now'
        for status, machine in (
                ('DELETE_IN_PROGRESS', objects.failed_machine(key='pool')),
                ('CREATE_IN_PROGRESS', going)):
            found, reason = self.health(status, machines=(machine,))
            self.assertEqual(health.HEALTHY, found, reason)
            self.assertNotIn('x1.Ready', str(reason))

    def test_a_group_that_is_lost_is_missed(self):
        for status in ('CREATE_COMPLETE', 'UPDATE_COMPLETE'):
            for role in ('worker', 'gpu'):
                found, reason = self.health(status, role)

                self.assertEqual(health.UNHEALTHY, found)
                self.assertIn('not in the management cluster',
                              reason['pool.Ready'])


class LargeClusterTest(testtools.TestCase):

    def judge(self, healthy, number, message):
        def node(index):
            found = objects.machine(
                name=f'm{index}', created=OLD, node=f'node-{index}')
            return objects.condition(
                found, 'NodeHealthy', status=healthy(index), message=message)
        return judge(objects.complete(
            machines=tuple(map(node, range(number)))))

    def test_reasons_of_many_nodes_fit_in_magnums_column(self):
        # MySQL refuses more than 65535 bytes, and the health stays as it was.
        for message in ('Kubelet stopped posting node status. ' * 10, 'é' * 99,
                        ''):
            found, reason = self.judge(lambda _: 'False', 2000, message)

            self.assertEqual(health.UNHEALTHY, found)
            stored = json.dumps(reason)
            self.assertLessEqual(len(stored), 65535)
            self.assertGreater(len(stored), 64000)
            self.assertEqual('ok', reason['api'])
            number, _, _ = reason.pop('more').partition(' left out')
            self.assertEqual(2000 + 3, int(number) + len(reason))

    def test_nodes_that_are_well_are_left_out_first(self):
        _, reason = self.judge(
            lambda index: 'True' if index < 3999 else 'False', 4000, 'ill')

        self.assertEqual('False: ill', reason['node-3999.Ready'])
        self.assertIn('more', reason)
