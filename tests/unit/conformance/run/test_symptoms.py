# SPDX-License-Identifier: Apache-2.0


import datetime

import testtools

from magnum_capi_tempest.conformance.run import symptoms

NOON = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.timezone.utc)
NO_CNI = ('container runtime network not ready: NetworkReady=false '
          'reason:NetworkPluginNotReady message:Network plugin returns '
          'error: cni plugin not initialized')
#: What kubelet says when flannel is gone; the id differs from pod to pod.
SANDBOX = ('Failed to create pod sandbox: rpc error: code = Unknown desc = '
           'failed to setup network for sandbox "{}": plugin type="flannel" '
           'failed (add): open /run/flannel/subnet.env: no such file')


def condition(kind, status, reason='', message=''):
    return {'type': kind, 'status': status, 'reason': reason,
            'message': message}


def node(*conditions, name='n1'):
    return {'metadata': {'name': name}, 'status': {
        'conditions': list(conditions)}}


READY = node(condition('Ready', 'True'))


def pod(name, namespace='kube-system', labels=None, created=NOON, **status):
    return {'metadata': {
        'name': name, 'namespace': namespace, 'labels': labels or {},
        'creationTimestamp': created.isoformat().replace('+00:00', 'Z')},
        'status': status}


DNS = pod('coredns-1', labels={'k8s-app': 'kube-dns'}, phase='Running',
          conditions=[condition('Ready', 'True')])


def event(reason, message, name='e2e-job', namespace='sonobuoy', kind='Pod',
          at=NOON):
    return {'metadata': {}, 'reason': reason, 'message': message,
            'lastTimestamp': at.isoformat().replace('+00:00', 'Z'),
            'involvedObject': {'kind': kind, 'name': name,
                               'namespace': namespace}}


def waiting(name):
    return pod(name, 'sonobuoy', phase='Pending')


class SymptomsTest(testtools.TestCase):

    def found(self, **objects):
        minutes = datetime.timedelta(minutes=5)
        return symptoms.diagnose(
            symptoms.Objects(**{'nodes': (READY,), 'pods': (DNS,), **objects}),
            'sonobuoy', NOON + minutes, NOON)

    def one(self, kind, *words, **objects):
        found = self.found(**objects)
        self.assertEqual([kind], [s.kind for s in found], found)
        for word in words:
            self.assertIn(word, str(found[0]))
        return found[0]

    def test_a_healthy_cluster(self):
        self.assertEqual((), self.found())

    def test_a_node_without_network(self):
        self.one(symptoms.NETWORK, 'node n1: not ready: KubeletNotReady: ',
                 'cni plugin not initialized', nodes=(node(condition(
                     'Ready', 'False', 'KubeletNotReady', NO_CNI)),))

    def test_a_node_that_is_off(self):
        self.one(symptoms.NODE, 'Kubelet stopped posting', nodes=(
            node(condition('Ready', 'Unknown', 'NodeStatusUnknown',
                           'Kubelet stopped posting node status.')),))

    def test_a_node_that_never_said_anything(self):
        self.one(symptoms.NODE, 'never', nodes=(node(),))

    def test_a_full_disk(self):
        self.one(symptoms.DISK, 'node n1: DiskPressure: kubelet has', nodes=(
            node(condition('Ready', 'True'), condition(
                'DiskPressure', 'True', 'KubeletHasDiskPressure',
                'kubelet has disk pressure')),))

    def test_a_dns_that_is_scaled_to_nothing(self):
        self.one(symptoms.DNS, 'kube-system/coredns is scaled to 0',
                 pods=(), deployments=({
                     'metadata': {'name': 'coredns',
                                  'labels': {'k8s-app': 'kube-dns'}},
                     'spec': {'replicas': 0}},))

    def test_a_dns_that_is_not_ready(self):
        down = pod('coredns-1', labels={'k8s-app': 'kube-dns'},
                   phase='Running', containerStatuses=[{'state': {
                       'waiting': {'reason': 'CrashLoopBackOff',
                                   'message': 'back-off'}}}])

        self.assertEqual(
            ['cluster DNS: none of its pods is ready',
             'pod kube-system/coredns-1: not ready: CrashLoopBackOff: '
             'back-off'], [str(s) for s in self.found(pods=(down,))])

    def test_new_pods_have_time(self):
        late = NOON + datetime.timedelta(minutes=4)
        self.assertEqual((), self.found(pods=(
            DNS, pod('flannel-1', 'kube-flannel', phase='Pending',
                     created=late))))
        self.one(symptoms.POD, 'pod kube-flannel/flannel-1: not ready: '
                 'Pending', pods=(DNS, pod('flannel-1', 'kube-flannel',
                                           phase='Pending')))

    def test_pods_of_tests_may_fail_and_jobs_may_end(self):
        self.assertEqual((), self.found(pods=(
            DNS, pod('x', 'pods-1234', phase='Failed', reason='Evicted'),
            pod('job', phase='Succeeded'))))

    def test_evicted_pods(self):
        for kind, message in (
                (symptoms.DISK, 'The node was low on resource: '
                                'ephemeral-storage.'),
                (symptoms.EVICTED, 'The node was low on resource: memory.')):
            self.one(kind, message, pods=(DNS, pod(
                'e2e-job', 'sonobuoy', phase='Failed', reason='Evicted',
                message=message)))

    def test_one_trouble_of_many_pods_is_told_once(self):
        events = tuple(
            event('FailedCreatePodSandBox', SANDBOX.format(f'{n:064x}'),
                  name=f'p{n}') for n in range(30))

        self.one(symptoms.NETWORK, 'pod sonobuoy/p0: FailedCreatePodSandBox',
                 'sandbox "..."', 'subnet.env', events=events,
                 pods=(DNS, *(waiting(f'p{n}') for n in range(30))))

    def test_what_a_pod_waited_for_is_over_when_it_runs(self):
        events = (event('FailedCreatePodSandBox', SANDBOX),)
        for pods in ((), (pod('e2e-job', 'sonobuoy', phase='Running'),)):
            self.assertEqual((), self.found(events=events,
                                            pods=(DNS, *pods)))

    def test_a_disk_that_is_full_by_its_words(self):
        for reason in ('Failed', 'FreeDiskSpaceFailed'):
            self.one(symptoms.DISK, 'no space left', events=(
                event(reason, 'write /x: no space left on device', 'n1', '',
                      'Node'),))

    def test_events_of_no_interest(self):
        old = NOON - datetime.timedelta(seconds=1)
        self.assertEqual((), self.found(events=(
            event('FailedCreatePodSandBox', 'x', at=old),
            event('FailedCreatePodSandBox', 'x', namespace='pods-1'),
            event('Unhealthy', 'Readiness probe failed'))))

    def test_secrets_and_escapes_are_taken_out(self):
        text = str(self.one(symptoms.POD, events=(event(
            'FailedMount', 'password=hunter22 \x1b[31mred\n'),),
            pods=(DNS, waiting('e2e-job'))))

        self.assertNotIn('hunter22', text)
        self.assertNotIn('\x1b', text)

    def test_the_weightiest_come_first_and_not_too_many(self):
        nodes = tuple(node(condition('MemoryPressure', 'True'),
                           condition('Ready', 'True'), name=f'n{n}')
                      for n in range(30))
        found = self.found(nodes=nodes, pods=())

        self.assertEqual(symptoms.MOST, len(found))
        self.assertEqual(symptoms.NODE, found[0].kind)


class CannotStartTest(testtools.TestCase):

    def test_the_newest_of_its_events(self):
        later = NOON + datetime.timedelta(seconds=1)
        self.assertEqual(('FailedMount', 'b'), symptoms.cannot_start(
            pod('e2e-job'), [
                event('FailedMount', 'b', at=later),
                event('FailedCreatePodSandBox', 'a'),
                event('FailedMount', 'of another', name='x', at=later),
                event('Scheduled', 'no trouble', at=later)]))

    def test_none(self):
        self.assertEqual(('', ''), symptoms.cannot_start(pod('x'), []))
