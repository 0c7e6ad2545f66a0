# SPDX-License-Identifier: Apache-2.0

"""The judgement of a create or update: never too early, never for ever."""

import testtools

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import snapshot
from magnum_capi.driver.observed import status
from magnum_capi.driver.observed import verdicts
from tests.unit.driver import objects

VERSIONS = (objects.V1BETA1, objects.V1BETA2)
CREATE = 'CREATE_IN_PROGRESS'
UPDATE = 'UPDATE_IN_PROGRESS'
COUNTS = ('replicas', 'upToDateReplicas', 'readyReplicas',
          'availableReplicas')


def judge(seen, desired=None):
    return status.judge(seen, desired or objects.desired(), objects.NOW)


def upgrade(*groups):
    return objects.desired(*groups, status=UPDATE, digest='new')


def recorded(moment, version):
    """A recorded moment after the latest request was applied."""
    return objects.recorded(moment, version, release=snapshot.Release(
        'deployed', digest='new'))


def deleting(obj):
    obj['metadata']['deletionTimestamp'] = 'now'
    return obj


def failed_machine():
    return objects.complete(machines=(objects.failed_machine(),))


class JudgedTestCase(testtools.TestCase):

    def assert_judged(self, expected, seen, desired=None, said='', what=''):
        verdict = judge(seen, desired)
        self.assertEqual(expected, verdict.status, (what, verdict.reason))
        self.assertIn(said, verdict.reason, what)
        return verdict


class RecordedTest(JudgedTestCase):
    """What a real Cluster API had, in both shapes of its API."""

    def test_each_moment(self):
        one_failed = upgrade(
            objects.master(status=UPDATE), objects.group(status=UPDATE),
            objects.group(key='bad-group', count=1, name='bad-group'))
        for moment, desired, groups, said in (
                ('created', objects.desired(),
                 ('CREATE_COMPLETE', 'CREATE_COMPLETE'), ''),
                # B.4.3: the phase of the MachineDeployment is "Running".
                ('nodes-not-ready', objects.desired(),
                 ('CREATE_COMPLETE', CREATE), 'cni plugin not initialized'),
                ('one-of-two-ready', objects.desired(),
                 ('CREATE_COMPLETE', CREATE), '1 of 2 machines ready'),
                ('upgrade-workers-left', upgrade(
                    objects.master(status=UPDATE),
                    objects.group(status=UPDATE)),
                 ('UPDATE_COMPLETE', UPDATE), ''),
                # B.4.4
                ('machine-failed', one_failed,
                 ('UPDATE_COMPLETE', 'UPDATE_COMPLETE', 'CREATE_FAILED'),
                 'No valid host was found')):
            for version in VERSIONS:
                verdict = judge(recorded(moment, version), desired)
                self.assertEqual(groups, tuple(
                    one.status for one in verdict.groups.values()), moment)
                self.assertIn(said, verdict.reason)

    def test_status_and_version(self):
        for moment, desired, expected, version in (
                ('created', objects.desired(), 'CREATE_COMPLETE', 'v1.34.2'),
                ('nodes-not-ready', objects.desired(), CREATE, 'v1.34.2'),
                ('one-of-two-ready', objects.desired(), CREATE, 'v1.34.2'),
                # B.4.3: all machines are there and ready, of the old version.
                ('upgrade-begun', upgrade(), UPDATE, 'v1.34.2'),
                ('upgrade-workers-left', upgrade(), UPDATE, 'v1.34.2'),
                ('upgraded', upgrade(), 'UPDATE_COMPLETE', 'v1.35.0')):
            for shape in VERSIONS:
                verdict = self.assert_judged(
                    expected, recorded(moment, shape), desired, what=moment)
                self.assertEqual(version, verdict.coe_version, moment)
                self.assertEqual('https://127.77.1.1:6443',
                                 verdict.api_address)

    def test_failed_addons_fail_the_cluster_with_their_names(self):
        self.assert_judged(
            'CREATE_FAILED', recorded('addons-failed', objects.V1BETA1),
            objects.desired(objects.master(), objects.group(count=1)),
            'addon ccm-openstack: phase Failed')


class CompleteTest(JudgedTestCase):

    @staticmethod
    def seen_without_new_vocabulary():
        seen = objects.complete(objects.V1BETA1)
        for obj in (seen.cluster, seen.control_plane, *seen.machine_sets,
                    *seen.machine_deployments.values()):
            counts = obj['status'].pop('v1beta2')
            obj['status']['readyReplicas'] = counts.get('readyReplicas')
            obj['status']['updatedReplicas'] = counts.get('upToDateReplicas')
        return seen

    @staticmethod
    def seen_with_work_that_is_not_done():
        seen = objects.complete()
        for obj in (seen.cluster, seen.control_plane):
            obj['status']['conditions'] += objects.conditions(
                ('Paused', 'Deleting', 'RollingOut', 'Remediating'), 'False')
        return seen

    @staticmethod
    def seen_with_a_node_whose_instance_is_in_trouble():
        seen = objects.complete()
        seen.machines[-1]['status']['conditions'].append({
            'type': 'InfrastructureReady', 'status': 'False',
            'reason': 'InstanceStateError'})
        return seen

    @staticmethod
    def seen_after_a_failure_that_passed(version):
        seen = objects.complete(version)
        seen.cluster['status'] |= {
            'phase': 'Failed', 'failureMessage': 'no Neutron',
            'deprecated': {'v1beta1': {'failureMessage': 'no Neutron'}}}
        return seen

    def test_what_looks_worse_than_it_is(self):
        deployment, sets = objects.deployment, objects.machine_set
        old = objects.machine_set(name='old', machine='t0', count=0)
        for what, seen, desired in (
                # B.4.13
                ('old vocabulary', self.seen_without_new_vocabulary(), None),
                ('well when False', self.seen_with_work_that_is_not_done(),
                 None),
                ('empty set of an older template', objects.complete(
                    machine_sets=(old, sets())), None),
                ('no machines', objects.complete(
                    machine_deployments={
                        'default-worker': deployment(count=0)},
                    machine_sets=(sets(count=0),)),
                 objects.desired(objects.master(), objects.group(count=0))),
                ('a group of another version', objects.complete(
                    machine_deployments={
                        'default-worker': deployment(kube='v1.33.0')},
                    machine_sets=(sets(kube='v1.33.0'),)), None),
                ('no addons are desired', objects.complete(addons=()),
                 objects.desired(addons=False)),
                ('a machine that is replaced', objects.complete(machines=(
                    *objects.complete().machines,
                    deleting(objects.failed_machine()))), None),
                ('trouble of a node', (
                    self.seen_with_a_node_whose_instance_is_in_trouble()),
                 None),
                *(('a failure that passed',
                   self.seen_after_a_failure_that_passed(version), None)
                  for version in VERSIONS),
                ('late', objects.complete(),
                 objects.desired(since=objects.ago(days=9)))):
            verdict = self.assert_judged(
                'CREATE_COMPLETE', seen, desired, what=what)
            self.assertEqual((verdicts.NOTHING, ''),
                             (verdict.action, verdict.reason))

    def test_each_thing_that_is_not_well_blocks(self):
        # B.4.3: whatever is not true, it is not COMPLETE.
        parts = {
            'cluster': (lambda s: s.cluster, (), (
                'InfrastructureReady', 'ControlPlaneInitialized',
                'ControlPlaneAvailable', 'Available')),
            'control_plane': (lambda s: s.control_plane, COUNTS, (
                'Initialized', 'Available', 'MachinesReady',
                'EtcdClusterHealthy')),
            'deployment': (
                lambda s: s.machine_deployments['default-worker'], COUNTS, (
                    'Available', 'MachinesReady', 'MachinesUpToDate')),
            'machine_set': (lambda s: s.machine_sets[0], (
                'replicas', 'readyReplicas', 'availableReplicas'), ()),
        }
        for version in VERSIONS:
            for name, (part, counts, types) in parts.items():
                for kind in types:
                    for value in ('False', 'Unknown'):
                        seen = objects.complete(version)
                        objects.condition(part(seen), kind, status=value)
                        self.assert_blocked(seen, (version, name, kind))
                for key in counts:
                    for change in (-1, 1):
                        seen = objects.complete(version)
                        found = part(seen)['status']
                        if key not in found:
                            found = found['v1beta2']
                        found[key] += change
                        self.assert_blocked(seen, (version, name, key))
                # B.4.3: a status that is older than the spec.
                seen = objects.complete(version)
                part(seen)['metadata']['generation'] = 2
                self.assert_blocked(seen, name)

    def assert_blocked(self, seen, what):
        self.assertEqual(CREATE, judge(seen).status, what)
        self.assertNotEqual('', judge(seen).reason, what)

    def test_a_new_cluster_says_which_conditions_it_lacks(self):
        seen = objects.complete()
        status = seen.cluster['status']
        status['conditions'] = status['deprecated']['v1beta1'][
            'conditions'] = []

        self.assert_judged(CREATE, seen,
                           said='Cluster: InfrastructureReady is not known')

    def test_what_is_waited_for_is_told_of_who_is_in_progress_only(self):
        seen = objects.complete()
        seen.machine_deployments['default-worker']['status'][
            'readyReplicas'] = 1
        for said, told in ((CREATE, True), ('UPDATE_FAILED', True),
                           ('UPDATE_COMPLETE', False)):
            verdict = judge(seen, objects.desired(
                objects.master(), objects.group(status=said)))
            found = verdict.groups['default-worker']
            self.assertEqual((said, told),
                             (found.status, bool(found.reason)))

    def test_work_that_goes_on_blocks(self):
        seen = objects.complete()
        seen.control_plane['status']['conditions'] += objects.conditions(
            ('RollingOut',))
        self.assert_judged(CREATE, seen, said='RollingOut is True')
        self.assert_judged(
            CREATE, objects.complete(cluster=objects.cluster(paused=True)),
            said='paused')

    def test_machines_of_an_older_template_block(self):
        # Counts of a MachineDeployment lag behind its own observedGeneration.
        new = objects.machine_set(count=0)
        for version_of in ({'machine': 't0'}, {'bootstrap': 'b0'},
                           {'kube': 'v1.34.1'}, {'zone': 'az2'}):
            old = objects.machine_set(name='old', **version_of)
            self.assert_judged(
                CREATE, objects.complete(machine_sets=(old, new)),
                said='2 machines of an older template')

    def test_a_control_plane_that_still_runs_the_old_version_blocks(self):
        seen = objects.complete()
        seen.control_plane['status']['version'] = 'v1.33.9'

        verdict = self.assert_judged(CREATE, seen,
                                     said='runs version v1.33.9')

        self.assertEqual('v1.33.9', verdict.coe_version)

    def test_a_part_that_is_not_there_is_not_well(self):
        for part, nothing in (
                ('control_plane', None), ('machine_deployments', {}),
                ('machine_sets', ()), ('machines', ()), ('release', None),
                # B.4.12: a provider that is down labels none.
                ('addons', ())):
            self.assert_judged(
                CREATE, objects.complete(**{part: nothing}), what=part)

    def test_address(self):
        not_ready = snapshot.Snapshot(objects.condition(
            objects.cluster(), 'Available', status='False'))
        self.assertEqual('https://192.0.2.7:6443',
                         judge(not_ready).api_address)
        for endpoint, expected in (
                ({}, None), (None, None), ({'host': '', 'port': 0}, None),
                ({'host': '2001:db8::1', 'port': 6443},
                 'https://[2001:db8::1]:6443')):
            seen = objects.complete(cluster=objects.cluster(
                controlPlaneEndpoint=endpoint))
            self.assertEqual(expected, judge(seen).api_address)


class AddonsTest(JudgedTestCase):

    def test_every_addon_has_to_be_deployed(self):
        for phase in ('Pending', 'Installing', 'Upgrading', 'Unknown',
                      'Deleting', None):
            self.assert_judged(
                CREATE, objects.complete(addons=(
                    objects.addon(), objects.addon('ccm', phase))),
                said='addon ccm: phase')

    def test_a_proxy_has_conditions_and_no_phase(self):
        # B.4.12
        def proxy(*conditions, generation=1):
            return {'apiVersion': 'addons.cluster.x-k8s.io/v1alpha1',
                    'kind': 'HelmChartProxy',
                    'metadata': {'name': 'p', 'generation': generation},
                    'status': {'observedGeneration': 1, 'conditions': [
                        {'type': kind, 'status': status}
                        for kind, status in conditions]}}

        for addon, expected, said in (
                (proxy(('Ready', 'True')), 'CREATE_COMPLETE', ''),
                (proxy(('Ready', 'False'), ('HelmReleaseReady', 'False'),
                       ('ClusterAvailable', 'False')), CREATE,
                 'HelmReleaseReady is False'),
                (proxy(), CREATE, 'no status yet'),
                (proxy(('Ready', 'True'), generation=2), CREATE,
                 'not yet seen by its controller')):
            self.assert_judged(
                expected, objects.complete(addons=(addon,)), said=said)


class FailureTest(JudgedTestCase):

    #: What a failed machine is remembered by.
    MACHINE = f'machines/{objects.NAME}-default-worker-x1'

    def failing(self, **kwargs):
        return judge(failed_machine(), objects.desired(**kwargs))

    def test_self_healing_gets_its_time_since_it_was_first_seen(self):
        for seconds, expected in ((None, CREATE), (59, CREATE),
                                  (60, 'CREATE_FAILED')):
            known = {} if seconds is None else {
                self.MACHINE: objects.ago(seconds=seconds)}
            verdict = self.failing(
                patience=60, since=objects.ago(minutes=30), failing=known)
            self.assertEqual(expected, verdict.status)
            self.assertIn('No valid host', verdict.reason)
            self.assertEqual(known or {self.MACHINE: objects.NOW},
                             verdict.failing)

    def test_a_machine_that_recovered_is_forgotten(self):
        verdict = judge(
            objects.complete(machines=(objects.machine('x1'),)),
            objects.desired(failing={self.MACHINE: objects.ago(minutes=9)}))

        self.assertEqual({}, verdict.failing)

    def test_machines_that_were_replaced_in_vain(self):
        # One fails now that so many others failed before.
        for number, minutes, progress, expected in (
                (2, 10, None, CREATE), (3, 10, None, 'CREATE_FAILED'),
                (4, 10, None, 'CREATE_FAILED'),
                # Before the patience is over.
                (3, 4, None, CREATE),
                # Progress since they failed.
                (3, 10, 9, CREATE), (3, 10, 10, 'CREATE_FAILED'),
                (3, 10, 11, 'CREATE_FAILED')):
            verdict = self.failing(
                patience=300, failing={
                    f'machines/y{n}': objects.ago(minutes=minutes)
                    for n in range(number)},
                progress=progress and goal.Progress(
                    objects.ago(minutes=progress), objects.NOW, {}))
            self.assertEqual(expected, verdict.status,
                             (number, minutes, progress))

    def test_addon_that_is_tried_again_has_not_recovered(self):
        # Between two tries its provider says Installing.
        known = {f'addons/{objects.NAME}-ccm': objects.ago(minutes=9)}
        desired = objects.desired(failing=known, patience=300)

        for phase, kept in (('Installing', known), ('Deployed', {})):
            verdict = judge(objects.complete(
                addons=(objects.addon('ccm', phase),)), desired)
            self.assertEqual(kept, verdict.failing)
        self.assert_judged('CREATE_FAILED', objects.complete(
            addons=(objects.addon('ccm', 'Failed'),)), desired)

    def test_failures_before_the_latest_request_are_forgotten(self):
        verdict = judge(
            failed_machine(), objects.desired(
                objects.master(status=UPDATE),
                objects.group(status=UPDATE, count=3), status=UPDATE,
                failing={self.MACHINE: objects.ago(days=1)}))

        self.assertEqual((UPDATE, verdicts.APPLY, {}), (
            verdict.status, verdict.action, verdict.failing))

    def test_a_failure_is_seen_without_the_fields_of_v1beta1(self):
        seen = recorded('machine-failed', objects.V1BETA2)
        for machine in seen.machines:
            machine['status'].pop('deprecated', None)

        self.assert_judged(
            'UPDATE_FAILED', seen, upgrade(
                objects.master(), objects.group(), objects.group(
                    key='bad-group', name='bad-group', count=1)),
            'InstanceStateError: No valid host')

    def refused(self, state='ERROR', **status):
        """A cluster with a worker whose server is in a state."""
        machine = objects.machine()
        name = machine['metadata']['name']
        machine['spec']['infrastructureRef'] = {'name': name}
        # As the provider (0.14.6) leaves it for ever.
        machine['status'].update(status, conditions=[{
            'type': 'InfrastructureReady', 'status': 'False',
            'reason': 'WaitingForBootstrapData'}])
        server = {
            'apiVersion': 'infrastructure.cluster.x-k8s.io/v1alpha1',
            'metadata': {'name': name}, 'status': {
                'instanceState': state, 'conditions': [{
                    'type': 'InstanceReady', 'status': 'False',
                    'severity': 'Error', 'reason': 'InstanceCreateFailed',
                    'message': 'Quota exceeded for cores'}]}}
        return objects.complete(machines=(
            *objects.complete().machines[:-1], machine),
            servers={name: server})

    def test_a_server_that_nova_refuses_fails(self):
        self.assert_judged(
            'CREATE_FAILED', self.refused(),
            said='InstanceCreateFailed: Quota exceeded for cores')
        self.assert_judged(CREATE, self.refused('BUILD'))
        # Under a node it is left to be replaced.
        self.assertEqual(
            {}, judge(self.refused(nodeRef={'name': 'x'})).failing)

    def test_each_part_that_was_given_up(self):
        # B.4.5
        group, plane = objects.deployment(), objects.control_plane(
            objects.V1BETA1)
        group['status']['phase'] = 'Failed'
        plane['status']['failureMessage'] = 'no quorum'
        cluster = objects.condition(
            objects.cluster(), 'InfrastructureReady', status='False')
        cluster['status']['phase'] = 'Failed'
        for parts, said in (
                ({'machine_deployments': {'default-worker': group}},
                 'phase Failed'),
                ({'control_plane': plane}, 'control plane: no quorum'),
                ({'cluster': cluster}, 'Cluster: phase Failed')):
            self.assert_judged(
                'CREATE_FAILED', objects.complete(**parts), said=said)

    def test_the_end_leaves_no_group_in_progress(self):
        # Magnum asks no more once the cluster is not in progress.
        verdict = judge(objects.complete(
            objects.V1BETA1,
            control_plane=objects.condition(
                objects.control_plane(), 'Available', status='False'),
            machines=(objects.failed_machine(),)))

        self.assertEqual({'CREATE_FAILED'}, {
            found.status for found in verdict.groups.values()})

    def test_the_end_fails_no_complete_group_that_only_waits(self):
        waits = objects.group(key='b', name='b', status='CREATE_COMPLETE')
        fails = objects.group(status='CREATE_COMPLETE')
        seen = objects.complete(
            machines=(objects.failed_machine(),), machine_deployments={
                'default-worker': objects.deployment(),
                'b': objects.condition(objects.deployment(key='b'),
                                       'Available', status='False')})

        verdict = judge(seen, objects.desired(
            objects.master(), fails, waits, status=UPDATE))

        self.assertEqual(
            ('UPDATE_FAILED', 'UPDATE_FAILED', 'CREATE_COMPLETE'),
            (verdict.status, verdict.groups['default-worker'].status,
             verdict.groups['b'].status))


class TimeoutTest(JudgedTestCase):

    def test_create_timeout_ends_a_create_with_the_reason(self):
        # B.4.5
        waiting = objects.recorded('nodes-not-ready', objects.V1BETA2)
        for seen, desired, expected in (
                (waiting, {'since': objects.ago(minutes=60)},
                 'CREATE_FAILED'),
                (waiting, {'since': objects.ago(minutes=59)}, CREATE),
                (waiting, {'since': objects.ago(days=9), 'timeout': 0},
                 CREATE),
                (waiting, {'since': objects.ago(days=9), 'timeout': None},
                 CREATE),
                # A request that never arrived.
                (snapshot.Snapshot(None), {'since': objects.ago(minutes=61)},
                 'CREATE_FAILED')):
            self.assert_judged(expected, seen, objects.desired(**desired),
                               what=desired)

        verdict = judge(waiting, objects.desired(since=objects.ago(
            minutes=60)))
        self.assertThat(verdict.reason, testtools.matchers.StartsWith(
            'Not finished within 60 minutes, waiting for: '
            'node group default-worker: 0 of 2 machines ready'))
        self.assertEqual(
            ['CREATE_COMPLETE', 'CREATE_FAILED'],
            [found.status for found in verdict.groups.values()])


class LostRequestTest(JudgedTestCase):

    def test_what_is_to_be_applied(self):
        def release(state='deployed', **kwargs):
            return objects.complete(release=snapshot.Release(state, **kwargs))

        for seen, desired, said in (
                (snapshot.Snapshot(None), None, ''),
                # B.4.7
                *((release(state), None, state) for state in (
                    'pending-install', 'pending-upgrade', 'pending-rollback',
                    'uninstalling')),
                (release('failed', description='conflict\n with x'), None,
                 'failed: conflict with x'),
                (release('failed'), None, 'Helm release: failed'),
                # The last of quick resizes must win.
                (objects.complete(), objects.desired(
                    objects.master(), objects.group(count=3)),
                 'requests 2 machines instead of 3'),
                (objects.complete(), objects.desired(
                    objects.master(count=3), objects.group()), ''),
                # Another image of the same version shows nowhere else.
                (release(digest='mine'), objects.desired(digest='new'), ''),
                (release(digest='old'), objects.desired(digest='new'), ''),
                (objects.complete(release=None),
                 objects.desired(digest='new'), ''),
                (objects.complete(machine_deployments={}), None, '')):
            verdict = self.assert_judged(CREATE, seen, desired, said)
            self.assertEqual(verdicts.APPLY, verdict.action, verdict.reason)
        self.assertEqual('Waiting for: Helm release: failed',
                         judge(release('failed')).reason)

    def test_a_release_that_is_as_wanted_is_not_applied(self):
        for state, desired in (('deployed', 'new'), ('deployed', None),
                               ('superseded', 'new')):
            verdict = self.assert_judged('CREATE_COMPLETE', objects.complete(
                release=snapshot.Release(state, digest='new')),
                objects.desired(digest=desired))
            self.assertEqual(verdicts.NOTHING, verdict.action)

    def test_a_group_that_nobody_wants_is_named_and_left_alone(self):
        seen = objects.complete()
        for key in ('stranger', 'another'):
            seen.machine_deployments[key] = objects.deployment(key=key)
        deleting(seen.machine_deployments['another'])

        verdict = self.assert_judged('CREATE_COMPLETE', seen,
                                     said='-stranger')

        self.assertEqual(verdicts.NOTHING, verdict.action)
        self.assertNotIn('another', verdict.reason)


class GroupTest(JudgedTestCase):

    def going(self, **kwargs):
        return judge(objects.complete(**kwargs), objects.desired(
            objects.master(status='CREATE_COMPLETE'),
            objects.group(status='CREATE_COMPLETE'),
            objects.group(key='pool', name='Pool',
                          status='DELETE_IN_PROGRESS'), status=UPDATE))

    def test_a_removed_group_stays_while_it_has_machines(self):
        for left, expected, gone in (
                ((objects.machine(key='pool'),), UPDATE, False),
                ((), 'UPDATE_COMPLETE', True)):
            verdict = self.going(machines=(
                *objects.complete().machines, *left))
            self.assertEqual((expected, gone), (
                verdict.status, verdict.groups['pool'].gone))
        self.assertIn('1 machines left', self.going(
            machines=(objects.machine(key='pool'),)).reason)

    def test_a_removal_is_asked_for_once(self):
        pool = objects.deployment(key='pool')
        found = {'default-worker': objects.deployment(), 'pool': pool}
        self.assertEqual(
            verdicts.APPLY, self.going(machine_deployments=found).action)
        deleting(pool)
        for said, told in (('True', True), ('False', False),
                           ('Unknown', False)):
            pool['status']['conditions'] = [
                {'type': 'Deleting', 'status': said, 'message': 'drains'}]
            verdict = self.going(machine_deployments=found)
            self.assertEqual((UPDATE, verdicts.NOTHING),
                             (verdict.status, verdict.action))
            self.assertIn('is being deleted', verdict.reason)
            self.assertEqual(told, 'drains' in verdict.reason)


class LaterTest(JudgedTestCase):
    """Asked again when no operation is in progress."""

    def test_what_is_not_repaired_stays_failed(self):
        desired = objects.desired(status='CREATE_FAILED')
        self.assert_judged(
            'CREATE_FAILED',
            objects.recorded('nodes-not-ready', objects.V1BETA2), desired,
            'Waiting for: node group default-worker: 0 of 2 machines ready')
        self.assert_judged('CREATE_FAILED', failed_machine(), desired,
                           'Failed: ')

    def test_nothing_is_done_unasked(self):
        for desired in ('CREATE_FAILED', 'UPDATE_COMPLETE', 'DELETE_FAILED'):
            verdict = self.assert_judged(
                desired, objects.complete(machine_deployments={}),
                objects.desired(status=desired))
            self.assertEqual(verdicts.NOTHING, verdict.action)

    def test_what_breaks_later_is_a_matter_of_health(self):
        verdict = self.assert_judged(
            'CREATE_COMPLETE', failed_machine(),
            objects.desired(status='CREATE_COMPLETE'))
        self.assertEqual({'CREATE_COMPLETE'}, {
            found.status for found in verdict.groups.values()})
