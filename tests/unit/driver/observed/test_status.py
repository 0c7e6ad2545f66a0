# SPDX-License-Identifier: Apache-2.0

"""The judgement of a create or update: never too early, never for ever."""

import testtools

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import snapshot
from magnum_capi.driver.observed import status
from tests.unit.driver import objects

VERSIONS = (objects.V1BETA1, objects.V1BETA2)
UPDATE = 'UPDATE_IN_PROGRESS'
COUNTS = ('replicas', 'upToDateReplicas', 'readyReplicas',
          'availableReplicas')


def judge(seen, wanted=None):
    return status.judge(seen, wanted or objects.wanted(), objects.NOW)


def upgrade(**kwargs):
    return objects.wanted(status=UPDATE, digest='new', **kwargs)


def recorded(moment, version):
    """A recorded moment after the latest request was applied."""
    return objects.recorded(moment, version, release=snapshot.Release(
        'deployed', digest='new'))


class RecordedTest(testtools.TestCase):
    """What a real Cluster API had, in both shapes of its API."""

    def assert_verdict(self, expected, moment, wanted, versions=VERSIONS):
        for version in versions:
            verdict = judge(recorded(moment, version), wanted)
            self.assertEqual(expected, verdict.status, verdict.reason)
        return verdict

    def test_created(self):
        verdict = self.assert_verdict(
            'CREATE_COMPLETE', 'created', objects.wanted())

        self.assertEqual('https://127.77.1.1:6443', verdict.api_address)
        self.assertEqual('v1.34.2', verdict.coe_version)
        self.assertEqual('', verdict.reason)

    def test_machines_that_run_and_are_not_ready_are_no_success(self):
        # B.4.3: the phase of the MachineDeployment is "Running".
        seen = objects.recorded('nodes-not-ready', objects.V1BETA2)
        self.assertEqual('Running', seen.machine_deployments[
            'default-worker']['status']['phase'])

        verdict = self.assert_verdict(
            'CREATE_IN_PROGRESS', 'nodes-not-ready', objects.wanted())

        self.assertEqual('CREATE_COMPLETE',
                         verdict.groups['default-master'].status)
        self.assertEqual('CREATE_IN_PROGRESS',
                         verdict.groups['default-worker'].status)
        self.assertIn('cni plugin not initialized', verdict.reason)

    def test_one_of_two_ready_is_no_success(self):
        verdict = self.assert_verdict(
            'CREATE_IN_PROGRESS', 'one-of-two-ready', objects.wanted())

        self.assertIn('1 of 2 machines ready', verdict.reason)

    def test_an_upgrade_that_just_began_is_no_success(self):
        # B.4.3: all machines are there and ready, of the old version.
        verdict = self.assert_verdict(UPDATE, 'upgrade-begun', upgrade())

        self.assertEqual('v1.34.2', verdict.coe_version)

    def test_an_upgrade_waits_for_the_last_worker(self):
        verdict = self.assert_verdict(
            UPDATE, 'upgrade-workers-left', upgrade())

        self.assertEqual('UPDATE_COMPLETE',
                         verdict.groups['default-master'].status)
        self.assertEqual(UPDATE, verdict.groups['default-worker'].status)

    def test_the_version_is_that_of_the_oldest_machine(self):
        workers = objects.workers()
        for machine, version in zip(workers, ('v1.35.0', 'v1.34.10')):
            machine['spec']['version'] = version
        plane = objects.control_plane(kube='v1.35.0')
        for seen, version in (
                (objects.complete(control_plane=plane, machines=workers),
                 'v1.34.10'),
                (objects.complete(control_plane=plane, machines=workers[:1]),
                 'v1.35.0')):
            self.assertEqual(version, judge(seen, upgrade()).coe_version)

    def test_upgraded(self):
        verdict = self.assert_verdict('UPDATE_COMPLETE', 'upgraded',
                                      upgrade())

        self.assertEqual('v1.35.0', verdict.coe_version)

    def test_a_failed_machine_fails_group_and_cluster(self):
        # B.4.4
        verdict = self.assert_verdict('UPDATE_FAILED', 'machine-failed',
                                      upgrade(groups=(
                                          objects.master(status=UPDATE),
                                          objects.group(status=UPDATE),
                                          objects.group(
                                              key='bad-group', count=1,
                                              name='bad-group'))))

        self.assertEqual(
            ['UPDATE_COMPLETE', 'UPDATE_COMPLETE', 'CREATE_FAILED'],
            [found.status for found in verdict.groups.values()])
        self.assertIn('No valid host was found', verdict.reason)
        self.assertIn('No valid host was found',
                      verdict.groups['bad-group'].reason)

    def test_failed_addons_fail_the_cluster_with_their_names(self):
        verdict = self.assert_verdict(
            'CREATE_FAILED', 'addons-failed', objects.wanted(
                objects.master(), objects.group(count=1)),
            [objects.V1BETA1])

        self.assertIn('addon ccm-openstack: phase Failed', verdict.reason)


class CompleteTest(testtools.TestCase):

    def test_complete_in_both_shapes(self):
        # B.4.13
        for version in VERSIONS:
            verdict = judge(objects.complete(version))

            self.assertEqual('CREATE_COMPLETE', verdict.status, version)
            self.assertEqual(status.NOTHING, verdict.action)

    def test_complete_with_the_old_vocabulary_only(self):
        seen = objects.complete(objects.V1BETA1)
        for obj in (seen.cluster, seen.control_plane, *seen.machine_sets,
                    *seen.machine_deployments.values()):
            counts = obj['status'].pop('v1beta2')
            obj['status']['readyReplicas'] = counts.get('readyReplicas')
            obj['status']['updatedReplicas'] = counts.get('upToDateReplicas')

        self.assertEqual('CREATE_COMPLETE', judge(seen).status)

    def test_conditions_that_are_well_when_false_do_not_block(self):
        # B.4.13
        seen = objects.complete()
        for obj in (seen.cluster, seen.control_plane):
            obj['status']['conditions'] += objects.conditions(
                ('Paused', 'Deleting', 'RollingOut', 'Remediating'), 'False')

        self.assertEqual('CREATE_COMPLETE', judge(seen).status)

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

    def test_a_new_cluster_says_which_conditions_it_lacks(self):
        seen = objects.complete()
        status = seen.cluster['status']
        status['conditions'] = status['deprecated']['v1beta1'][
            'conditions'] = []

        verdict = judge(seen)

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
        self.assertIn('Cluster: InfrastructureReady is not known',
                      verdict.reason)

    def test_a_part_that_blocks_says_no_more_of_a_cluster_that_is_well(self):
        seen = objects.complete()
        seen.control_plane['status']['readyReplicas'] = 0
        self.assertNotIn('is not known', judge(seen).reason)
        self.assertEqual('', judge(objects.complete()).reason)

    def test_a_rollout_tells_how_many_machines_are_replaced(self):
        for count, old, text in ((5, 2, '3 of 5'), (3, 3, '0 of 3'),
                                 (1, 2, '0 of 1'), (6, 5, '1 of 6')):
            deployment = objects.deployment(count=count, machine='t2')
            deployment['status']['readyReplicas'] = count - 1
            seen = objects.complete(
                machine_deployments={'default-worker': deployment},
                machine_sets=(
                    objects.machine_set(name='old', count=old),
                    objects.machine_set(
                        name='new', machine='t2', count=count)))
            wanted = objects.wanted(
                objects.master(), objects.group(count=count))
            self.assertIn(f'{text} machines replaced',
                          judge(seen, wanted).reason)

    def test_what_is_waited_for_is_told_of_who_is_in_progress_only(self):
        seen = objects.complete()
        seen.machine_deployments['default-worker']['status'][
            'readyReplicas'] = 1
        for said, told in (('CREATE_IN_PROGRESS', True),
                           ('UPDATE_FAILED', True),
                           ('UPDATE_COMPLETE', False)):
            verdict = judge(seen, objects.wanted(
                objects.master(), objects.group(status=said)))
            found = verdict.groups['default-worker']
            self.assertEqual((said, told),
                             (found.status, bool(found.reason)))

    def assert_blocked(self, seen, what):
        self.assertEqual('CREATE_IN_PROGRESS', judge(seen).status, what)
        self.assertNotEqual('', judge(seen).reason, what)

    def test_work_that_goes_on_blocks(self):
        seen = objects.complete()
        seen.control_plane['status']['conditions'] += objects.conditions(
            ('RollingOut',))

        verdict = judge(seen)

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
        self.assertIn('RollingOut is True', verdict.reason)

    def test_a_status_older_than_the_spec_counts_for_nothing(self):
        # B.4.3
        for version in VERSIONS:
            for part in (lambda s: s.cluster, lambda s: s.control_plane,
                         lambda s: s.machine_deployments['default-worker'],
                         lambda s: s.machine_sets[0]):
                seen = objects.complete(version)
                part(seen)['metadata']['generation'] = 2

                verdict = judge(seen)

                self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
                self.assertIn('not yet seen by its controller',
                              verdict.reason)

    def test_machines_of_an_older_template_block(self):
        # Counts of a MachineDeployment lag behind its own observedGeneration.
        new = objects.machine_set(count=0)
        for version_of in ({'machine': 't0'}, {'bootstrap': 'b0'},
                           {'kube': 'v1.34.1'}, {'zone': 'az2'}):
            old = objects.machine_set(name='old', **version_of)
            verdict = judge(objects.complete(machine_sets=(old, new)))

            self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
            self.assertIn('2 machines of an older template', verdict.reason)

    def test_a_control_plane_that_still_runs_the_old_version_blocks(self):
        seen = objects.complete()
        seen.control_plane['status']['version'] = 'v1.33.9'

        verdict = judge(seen)

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
        self.assertIn('runs version v1.33.9', verdict.reason)
        self.assertEqual('v1.33.9', verdict.coe_version)

    def test_an_empty_set_of_an_older_template_does_not_block(self):
        old = objects.machine_set(name='old', machine='t0', count=0)
        seen = objects.complete(machine_sets=(old, objects.machine_set()))

        self.assertEqual('CREATE_COMPLETE', judge(seen).status)

    def test_a_group_of_no_machines_is_complete(self):
        seen = objects.complete(
            machine_deployments={
                'default-worker': objects.deployment(count=0)},
            machine_sets=(objects.machine_set(count=0),))

        verdict = judge(seen, objects.wanted(
            objects.master(), objects.group(count=0)))

        self.assertEqual('CREATE_COMPLETE', verdict.status)

    def test_a_part_that_is_not_there_is_not_well(self):
        for part, nothing in (
                ('control_plane', None), ('machine_deployments', {}),
                ('machine_sets', ()), ('machines', ()), ('addons', ()),
                ('release', None)):
            verdict = judge(objects.complete(**{part: nothing}))

            self.assertEqual('CREATE_IN_PROGRESS', verdict.status, part)

    def test_a_paused_cluster_is_told(self):
        verdict = judge(objects.complete(
            cluster=objects.cluster(paused=True)))

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
        self.assertIn('paused', verdict.reason)

    def test_the_address_is_known_before_the_cluster_is_ready(self):
        seen = snapshot.Snapshot(objects.condition(
            objects.cluster(), 'Available', status='False'))

        self.assertEqual('https://192.0.2.7:6443', judge(seen).api_address)

    def test_an_address_that_is_not_known_is_none(self):
        for endpoint in ({}, None, {'host': '', 'port': 0}):
            seen = objects.complete(cluster=objects.cluster(
                controlPlaneEndpoint=endpoint))
            self.assertIsNone(judge(seen).api_address)

    def test_an_ipv6_address_is_a_url(self):
        seen = objects.complete(cluster=objects.cluster(
            controlPlaneEndpoint={'host': '2001:db8::1', 'port': 6443}))

        self.assertEqual('https://[2001:db8::1]:6443',
                         judge(seen).api_address)


class AddonsTest(testtools.TestCase):

    def verdict(self, *addons, **kwargs):
        return judge(objects.complete(addons=addons),
                     objects.wanted(**kwargs))

    def test_no_addons_seen_is_not_complete(self):
        # B.4.12: a provider that is down labels nothing.
        verdict = self.verdict()

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
        self.assertIn('addons: none', verdict.reason)

    def test_no_addons_wanted_is_complete(self):
        self.assertEqual('CREATE_COMPLETE',
                         self.verdict(addons=False).status)

    def test_every_addon_has_to_be_deployed(self):
        for phase in ('Pending', 'Installing', 'Upgrading', 'Unknown', None):
            verdict = self.verdict(objects.addon(),
                                   objects.addon('ccm', phase))

            self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
            self.assertIn('addon ccm: phase', verdict.reason)

    def test_a_failed_addon_fails_with_its_message(self):
        verdict = self.verdict(
            objects.addon('ccm', 'Failed', failureMessage='no chart'))

        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertIn('addon ccm: phase Failed: no chart', verdict.reason)

    def test_a_proxy_without_a_phase_is_complete_when_ready(self):
        # B.4.12: HelmChartProxy has conditions and no phase.
        proxy = {
            'apiVersion': 'addons.cluster.x-k8s.io/v1alpha1',
            'kind': 'HelmChartProxy',
            'metadata': {'name': 'cni', 'generation': 1},
            'status': {'observedGeneration': 1,
                       'conditions': objects.conditions(('Ready',))}}
        self.assertEqual('CREATE_COMPLETE', self.verdict(proxy).status)

        proxy['metadata']['generation'] = 2
        self.assertEqual('CREATE_IN_PROGRESS', self.verdict(proxy).status)


class FailureTest(testtools.TestCase):

    #: What a failed machine is remembered by.
    MACHINE = f'machines/{objects.NAME}-default-worker-x1'

    def failing(self, **kwargs):
        return judge(
            objects.complete(machines=(objects.failed_machine(),)),
            objects.wanted(**kwargs))

    def test_a_failed_group_fails_the_cluster(self):
        # B.4.4
        verdict = self.failing()

        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertEqual('CREATE_FAILED',
                         verdict.groups['default-worker'].status)
        self.assertIn('node group default-worker: machine default-worker-x1 '
                      'failed: CreateError: No valid host was found.',
                      verdict.reason)

    def test_self_healing_gets_its_time(self):
        verdict = self.failing(patience=61)

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
        self.assertIn('No valid host', verdict.reason)

    def test_patience_ends(self):
        for seconds, status_ in ((60, 'CREATE_FAILED'),
                                 (59, 'CREATE_IN_PROGRESS')):
            verdict = self.failing(
                patience=60, since=objects.ago(minutes=30), failing={
                    self.MACHINE: objects.ago(seconds=seconds)})
            self.assertEqual(status_, verdict.status)

    def test_failure_counts_from_when_it_was_first_seen(self):
        verdict = self.failing(patience=60, since=objects.ago(minutes=30))

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
        self.assertEqual({self.MACHINE: objects.NOW}, verdict.failing)

    def test_first_sight_stays_until_the_machine_is_well(self):
        known = {self.MACHINE: objects.ago(seconds=50)}

        again = self.failing(patience=60, failing=known)
        well = judge(
            objects.complete(machines=(objects.machine('x1'),)),
            objects.wanted(failing=known))

        self.assertEqual((known, {}), (again.failing, well.failing))

    def replaced(self, number, minutes=10, **wanted):
        """A machine fails now that so many others failed before."""
        return self.failing(patience=300, failing={
            f'machines/y{n}': objects.ago(minutes=minutes)
            for n in range(number)}, **wanted)

    def test_three_that_were_replaced_in_vain_are_enough(self):
        self.assertEqual(
            ['CREATE_IN_PROGRESS', 'CREATE_FAILED', 'CREATE_FAILED'],
            [self.replaced(number).status for number in (2, 3, 4)])

    def test_in_vain_is_not_before_the_patience_is_over(self):
        self.assertEqual('CREATE_IN_PROGRESS',
                         self.replaced(3, minutes=4).status)

    def test_progress_since_they_failed_is_not_in_vain(self):
        for minutes, status_ in ((9, 'CREATE_IN_PROGRESS'),
                                 (10, 'CREATE_FAILED'),
                                 (11, 'CREATE_FAILED')):
            verdict = self.replaced(3, progress=goal.Progress(
                objects.ago(minutes=minutes), objects.NOW, {}))
            self.assertEqual(status_, verdict.status)

    def test_machine_that_recovered_was_not_replaced(self):
        verdict = judge(
            objects.complete(machines=(objects.machine('x1'),)),
            objects.wanted(failing={self.MACHINE: objects.ago(minutes=9)}))

        self.assertEqual({}, verdict.failing)

    def test_each_failed_machine_is_told(self):
        verdict = judge(objects.complete(machines=tuple(
            objects.failed_machine(name) for name in ('x1', 'x2'))))

        for name in ('x1', 'x2'):
            self.assertIn(f'machine default-worker-{name} failed',
                          verdict.reason)

    def test_addon_that_is_tried_again_has_not_recovered(self):
        # Between two tries its provider says Installing.
        known = {f'addons/{objects.NAME}-ccm': objects.ago(minutes=9)}
        wanted = objects.wanted(failing=known, patience=300)

        for phase, kept in (('Installing', known), ('Deployed', {})):
            verdict = judge(objects.complete(
                addons=(objects.addon('ccm', phase),)), wanted)
            self.assertEqual(kept, verdict.failing)
        verdict = judge(objects.complete(
            addons=(objects.addon('ccm', 'Failed'),)), wanted)
        self.assertEqual('CREATE_FAILED', verdict.status)

    def test_failures_before_the_latest_request_are_forgotten(self):
        verdict = judge(
            objects.complete(machines=(objects.failed_machine(),)),
            objects.wanted(
                objects.master(status=UPDATE),
                objects.group(status=UPDATE, count=3), status=UPDATE,
                failing={self.MACHINE: objects.ago(days=1)}))

        self.assertEqual({}, verdict.failing)

    def test_a_machine_that_is_replaced_fails_nothing(self):
        machine = objects.failed_machine()
        machine['metadata']['deletionTimestamp'] = 'now'

        verdict = judge(objects.complete(
            machines=(*objects.complete().machines, machine)))

        self.assertEqual('CREATE_COMPLETE', verdict.status)

    def test_a_failure_is_seen_without_the_fields_of_v1beta1(self):
        seen = recorded('machine-failed', objects.V1BETA2)
        for machine in seen.machines:
            machine['status'].pop('deprecated', None)

        verdict = judge(seen, upgrade(groups=(
            objects.master(), objects.group(), objects.group(
                key='bad-group', name='bad-group', count=1))))

        self.assertEqual('UPDATE_FAILED', verdict.status)
        self.assertIn('InstanceStateError: No valid host', verdict.reason)

    def refused(self, message, **status):
        """A cluster whose only worker Nova has refused."""
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
                'instanceState': 'ERROR', 'conditions': [{
                    'type': 'InstanceReady', 'status': 'False',
                    'severity': 'Error', 'reason': 'InstanceCreateFailed',
                    'message': message}]}}
        return objects.complete(machines=(
            *objects.complete().machines[:-1], machine),
            servers={name: server})

    def test_a_server_that_nova_refuses_fails(self):
        verdict = judge(self.refused('Quota exceeded for cores'))

        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertIn('InstanceCreateFailed: Quota exceeded for cores',
                      verdict.reason)

    def test_a_server_that_fails_under_a_node_is_left_to_be_replaced(self):
        seen = self.refused('gone', nodeRef={'name': 'x'})

        self.assertEqual({}, judge(seen).failing)

    def test_a_server_that_is_being_built_is_waited_for(self):
        seen = self.refused('')
        for server in seen.servers.values():
            server['status']['instanceState'] = 'BUILD'

        self.assertNotIn('FAILED', judge(seen).status)

    def test_a_node_whose_instance_is_in_trouble_is_not_given_up(self):
        seen = objects.complete()
        seen.machines[-1]['status']['conditions'].append({
            'type': 'InfrastructureReady', 'status': 'False',
            'reason': 'InstanceStateError'})

        verdict = judge(seen)

        self.assertEqual('CREATE_COMPLETE', verdict.status)

    def test_a_phase_failed_fails(self):
        seen = objects.complete()
        seen.machine_deployments['default-worker']['status'][
            'phase'] = 'Failed'

        self.assertEqual('CREATE_FAILED', judge(seen).status)

    def test_a_failed_cluster_fails(self):
        seen = objects.complete(cluster=objects.condition(
            objects.cluster(), 'InfrastructureReady', status='False'))
        seen.cluster['status']['phase'] = 'Failed'

        verdict = judge(seen)

        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertIn('Cluster: phase Failed', verdict.reason)

    def test_a_failure_that_passed_does_not_fail_a_cluster(self):
        for version in (objects.V1BETA1, objects.V1BETA2):
            seen = objects.complete(version)
            seen.cluster['status'] |= {
                'phase': 'Failed', 'failureMessage': 'no Neutron',
                'deprecated': {'v1beta1': {'failureMessage': 'no Neutron'}}}

            self.assertEqual('CREATE_COMPLETE', judge(seen).status)

    def test_a_failed_control_plane_fails(self):
        # B.4.5
        seen = objects.complete(objects.V1BETA1)
        seen.control_plane['status']['failureMessage'] = 'no quorum'

        verdict = judge(seen)

        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertIn('control plane: no quorum', verdict.reason)

    def test_the_end_leaves_no_group_in_progress(self):
        # Magnum asks no more once the cluster is not in progress.
        seen = objects.complete(
            objects.V1BETA1,
            control_plane=objects.condition(
                objects.control_plane(), 'Available', status='False'),
            machines=(objects.failed_machine(),))

        verdict = judge(seen)

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

        verdict = judge(seen, objects.wanted(
            objects.master(), fails, waits, status=UPDATE))

        self.assertEqual(
            ('UPDATE_FAILED', 'UPDATE_FAILED', 'CREATE_COMPLETE'),
            (verdict.status, verdict.groups['default-worker'].status,
             verdict.groups['b'].status))

    def test_what_failed_before_the_latest_request_does_not_fail_it(self):
        seen = objects.complete(machines=(objects.failed_machine(),))

        verdict = judge(seen, objects.wanted(
            objects.master(status=UPDATE),
            objects.group(status=UPDATE, count=3), status=UPDATE))

        self.assertEqual((UPDATE, status.APPLY),
                         (verdict.status, verdict.action))


class TimeoutTest(testtools.TestCase):

    def verdict(self, **kwargs):
        return judge(
            objects.recorded('nodes-not-ready', objects.V1BETA2),
            objects.wanted(**kwargs))

    def test_create_timeout_ends_a_create_with_the_reason(self):
        # B.4.5
        verdict = self.verdict(since=objects.ago(minutes=60))

        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertStartsWith(
            verdict.reason, 'Not finished within 60 minutes, waiting for: '
            'node group default-worker: 0 of 2 machines ready')
        self.assertEqual(
            ['CREATE_COMPLETE', 'CREATE_FAILED'],
            [found.status for found in verdict.groups.values()])

    def test_it_is_not_before_its_time(self):
        verdict = self.verdict(since=objects.ago(minutes=59))

        self.assertEqual('CREATE_IN_PROGRESS', verdict.status)

    def test_no_timeout_is_none(self):
        for timeout in (0, None):
            verdict = self.verdict(since=objects.ago(days=9), timeout=timeout)
            self.assertEqual('CREATE_IN_PROGRESS', verdict.status)

    def test_what_is_complete_at_last_is_complete(self):
        verdict = judge(objects.complete(),
                        objects.wanted(since=objects.ago(days=9)))

        self.assertEqual('CREATE_COMPLETE', verdict.status)

    def test_a_request_that_never_arrived_ends_too(self):
        verdict = judge(snapshot.Snapshot(None),
                        objects.wanted(since=objects.ago(minutes=61)))

        self.assertEqual('CREATE_FAILED', verdict.status)

    def assertStartsWith(self, text, start):
        self.assertEqual(start, text[:len(start)])


class LostRequestTest(testtools.TestCase):

    def test_a_create_that_never_arrived_is_to_be_applied(self):
        verdict = judge(snapshot.Snapshot(None))

        self.assertEqual(('CREATE_IN_PROGRESS', status.APPLY), (
            verdict.status, verdict.action))

    def test_a_release_in_a_pending_state_is_to_be_repaired(self):
        # B.4.7
        for state in ('pending-install', 'pending-upgrade',
                      'pending-rollback', 'uninstalling'):
            verdict = judge(objects.complete(
                release=snapshot.Release(state)))

            self.assertEqual('CREATE_IN_PROGRESS', verdict.status)
            self.assertEqual(status.APPLY, verdict.action)
            self.assertIn(state, verdict.reason)

    def test_a_failed_release_is_to_be_applied_and_tells_why(self):
        verdict = judge(objects.complete(release=snapshot.Release(
            'failed', description='conflict\n with x')))

        self.assertEqual(status.APPLY, verdict.action)
        self.assertIn('failed: conflict with x', verdict.reason)

    def test_a_failed_release_without_a_reason(self):
        verdict = judge(objects.complete(release=snapshot.Release('failed')))

        self.assertEqual('Waiting for: Helm release: failed', verdict.reason)

    def test_a_resize_that_never_arrived_is_to_be_applied(self):
        # The last of quick resizes must win; what is there is content.
        verdict = judge(objects.complete(), objects.wanted(
            objects.master(status=UPDATE),
            objects.group(status=UPDATE, count=3), status=UPDATE))

        self.assertEqual((UPDATE, status.APPLY),
                         (verdict.status, verdict.action))
        self.assertIn('requests 2 machines instead of 3', verdict.reason)

    def test_a_resize_of_masters_that_never_arrived_too(self):
        verdict = judge(objects.complete(), objects.wanted(
            objects.master(count=3), objects.group()))

        self.assertEqual(status.APPLY, verdict.action)

    def test_an_upgrade_that_never_arrived_is_to_be_applied(self):
        verdict = judge(objects.complete(release=snapshot.Release(
            'deployed', digest='old')), upgrade())

        self.assertEqual((UPDATE, status.APPLY),
                         (verdict.status, verdict.action))

    def test_another_digest_is_to_be_applied(self):
        # Another image of the same version shows nowhere else.
        for release in (snapshot.Release('deployed', digest='mine'),
                        snapshot.Release('deployed', digest='old'), None):
            verdict = judge(objects.complete(release=release),
                            objects.wanted(digest='new'))

            self.assertEqual(status.APPLY, verdict.action)

    def test_a_release_that_is_as_wanted_is_not_applied(self):
        for state, wanted in (('deployed', 'new'), ('deployed', None),
                              ('superseded', 'new')):
            verdict = judge(
                objects.complete(release=snapshot.Release(
                    state, digest='new')),
                objects.wanted(digest=wanted))

            self.assertEqual(('CREATE_COMPLETE', status.NOTHING),
                             (verdict.status, verdict.action))

    def test_a_group_that_is_missing_is_to_be_applied(self):
        verdict = judge(objects.complete(machine_deployments={}))

        self.assertEqual(status.APPLY, verdict.action)

    def test_a_group_that_nobody_wants_is_named_and_left_alone(self):
        seen = objects.complete()
        for key in ('stranger', 'another'):
            seen.machine_deployments[key] = objects.deployment(key=key)
        seen.machine_deployments['another']['metadata'][
            'deletionTimestamp'] = '2026-01-01T00:00:00Z'

        verdict = judge(seen)

        self.assertEqual(('CREATE_COMPLETE', status.NOTHING),
                         (verdict.status, verdict.action))
        self.assertIn('-stranger', verdict.reason)
        self.assertNotIn('another', verdict.reason)


class GroupTest(testtools.TestCase):

    def going(self, **kwargs):
        return judge(objects.complete(**kwargs), objects.wanted(
            objects.master(status='CREATE_COMPLETE'),
            objects.group(status='CREATE_COMPLETE'),
            objects.group(key='pool', name='Pool',
                          status='DELETE_IN_PROGRESS'), status=UPDATE))

    def deployments(self, **metadata):
        going = objects.deployment(key='pool')
        going['metadata'].update(metadata)
        return {'default-worker': objects.deployment(), 'pool': going}

    def test_a_removed_group_stays_while_it_has_machines(self):
        verdict = self.going(machines=(objects.machine(key='pool'),))

        self.assertEqual(UPDATE, verdict.status)
        self.assertFalse(verdict.groups['pool'].gone)
        self.assertIn('1 machines left', verdict.reason)

    def test_a_removed_group_without_machines_is_gone(self):
        verdict = self.going()

        self.assertEqual('UPDATE_COMPLETE', verdict.status)
        self.assertTrue(verdict.groups['pool'].gone)

    def test_a_removal_that_never_arrived_is_to_be_applied(self):
        verdict = self.going(machine_deployments=self.deployments())

        self.assertEqual(status.APPLY, verdict.action)

    def test_a_removal_tells_what_it_waits_for(self):
        for said, told in (('True', True), ('False', False),
                           ('Unknown', False)):
            deployment = objects.deployment()
            deployment['metadata']['deletionTimestamp'] = '2026-11-21'
            deployment['status']['conditions'].append({
                'type': 'Deleting', 'status': said, 'message': 'drains'})
            verdict = judge(
                objects.complete(
                    machine_deployments={'default-worker': deployment}),
                objects.wanted(objects.master(), objects.group(
                    status='DELETE_IN_PROGRESS'), status=UPDATE))
            self.assertIn('is being deleted', verdict.reason)
            self.assertEqual(told, 'drains' in verdict.reason)

    def test_a_removal_under_way_is_not_asked_for_again(self):
        verdict = self.going(machine_deployments=self.deployments(
            deletionTimestamp='now'))

        self.assertEqual((UPDATE, status.NOTHING),
                         (verdict.status, verdict.action))

    def test_the_count_of_an_autoscaled_group_follows_what_is_there(self):
        seen = objects.complete(
            machine_deployments={
                'default-worker': objects.deployment(count=4)},
            machine_sets=(objects.machine_set(count=4),))

        verdict = judge(seen, objects.wanted(
            objects.master(), objects.group(autoscaled=True, count=2)))

        self.assertEqual('CREATE_COMPLETE', verdict.status)
        self.assertEqual(4, verdict.groups['default-worker'].count)

    def test_a_group_of_another_version_is_complete_with_that(self):
        seen = objects.complete(
            machine_deployments={
                'default-worker': objects.deployment(kube='v1.33.0')},
            machine_sets=(objects.machine_set(kube='v1.33.0'),))

        self.assertEqual('CREATE_COMPLETE', judge(seen).status)


class LaterTest(testtools.TestCase):
    """Asked again when no operation is in progress."""

    def test_what_repaired_itself_is_complete(self):
        for failed in ('CREATE_FAILED', 'UPDATE_FAILED'):
            verdict = judge(objects.complete(),
                            objects.wanted(status=failed))

            operation = failed.partition('_')[0]
            self.assertEqual(f'{operation}_COMPLETE', verdict.status)
            self.assertEqual({verdict.status}, {
                found.status for found in verdict.groups.values()})

    def test_what_is_not_repaired_stays_failed(self):
        verdict = judge(
            objects.recorded('nodes-not-ready', objects.V1BETA2),
            objects.wanted(status='CREATE_FAILED'))

        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertIn('Waiting for', verdict.reason)
        self.assertIn('0 of 2 machines ready', verdict.reason)
        verdict = judge(
            objects.complete(machines=(objects.failed_machine(),)),
            objects.wanted(status='CREATE_FAILED'))
        self.assertEqual('CREATE_FAILED', verdict.status)
        self.assertIn('Failed: ', verdict.reason)

    def test_nothing_is_done_unasked(self):
        for wanted in ('CREATE_FAILED', 'UPDATE_COMPLETE', 'DELETE_FAILED'):
            verdict = judge(objects.complete(machine_deployments={}),
                            objects.wanted(status=wanted))

            self.assertEqual((wanted, status.NOTHING),
                             (verdict.status, verdict.action))

    def test_what_breaks_later_is_a_matter_of_health(self):
        verdict = judge(
            objects.complete(machines=(objects.failed_machine(),)),
            objects.wanted(status='CREATE_COMPLETE'))

        self.assertEqual('CREATE_COMPLETE', verdict.status)
        self.assertEqual({'CREATE_COMPLETE'}, {
            found.status for found in verdict.groups.values()})
