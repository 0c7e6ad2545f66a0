# SPDX-License-Identifier: Apache-2.0


import datetime

import testtools

from magnum_capi_tempest.conformance.run import symptoms

NOON = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.timezone.utc)


def condition(kind, status, reason='', message=''):
    return {'type': kind, 'status': status, 'reason': reason,
            'message': message}


def node(*conditions, name='n1'):
    return {'metadata': {'name': name}, 'status': {
        'conditions': list(conditions)}}


READY = node(condition('Ready', 'True'), condition('DiskPressure', 'False'))


def pod(name, namespace='kube-system', labels=None, created=NOON, **status):
    return {'metadata': {
        'name': name, 'namespace': namespace, 'labels': labels or {},
        'creationTimestamp': created.isoformat().replace('+00:00', 'Z')},
        'status': status}


def waiting(reason, message='', **kwargs):
    return pod('p', **{'phase': 'Pending', 'containerStatuses': [{
        'state': {'waiting': {'reason': reason, 'message': message}}}],
        **kwargs})


DNS = pod('coredns-1', labels={'k8s-app': 'kube-dns'}, phase='Running',
          conditions=[condition('Ready', 'True')])


class SymptomsTest(testtools.TestCase):

    def signs(self, *pods, nodes=(READY,)):
        return symptoms.signs(nodes, (DNS, *pods),
                              NOON + datetime.timedelta(minutes=5))

    def test_nothing_wrong(self):
        self.assertEqual((), self.signs())

    def test_nodes(self):
        gone = [condition(kind, 'Unknown', 'NodeStatusUnknown',
                          'Kubelet stopped posting node status.')
                for kind in ('MemoryPressure', 'Ready')]
        full = condition('DiskPressure', 'True', 'Full', 'kubelet has')
        for found, words in (
                (node(*gone), 'Node n1 Ready=Unknown (NodeStatusUnknown: '
                 'Kubelet stopped posting node status.)'),
                (node(condition('Ready', 'True'), full),
                 'Node n1 DiskPressure=True (Full: kubelet has)')):
            self.assertEqual((words,), self.signs(nodes=(found,)))

    def test_dns(self):
        wrong = ('cluster DNS: none of its pods is ready',)
        other = pod('p', 'default', phase='Running')
        unready = {**DNS, 'status': {'phase': 'Running'}}

        for pods in ((other,), (other, unready)):
            self.assertEqual(wrong, symptoms.signs((READY,), pods))
        # They could not be listed.
        self.assertEqual((), symptoms.signs((READY,), ()))

    def test_system_pods(self):
        self.assertEqual(
            ('pod kube-flannel/p not ready: CrashLoopBackOff: back-off',),
            self.signs(waiting('CrashLoopBackOff', 'back-off',
                               namespace='kube-flannel')))
        self.assertEqual(
            ('pod kube-system/p not ready: Evicted: low on resource',),
            self.signs(pod('p', phase='Failed', reason='Evicted',
                           message='low on resource')))

    def test_other_pods_do_not_count(self):
        for other in (
                waiting('ImagePullBackOff', namespace='pods-1'),
                waiting('ContainerCreating', created=(
                    NOON + datetime.timedelta(minutes=4))),
                pod('p', phase='Succeeded', containerStatuses=[
                    {'state': {'terminated': {'reason': 'Completed'}}}])):
            self.assertEqual((), self.signs(other))

    def test_not_too_many_and_harmless(self):
        found = self.signs(nodes=[
            node(condition('Ready', 'False', 'x', f'\x1b[31m{n}'))
            for n in range(30)])

        self.assertEqual(symptoms.MOST, len(found))
        self.assertNotIn('\x1b', found[0])

    def test_pod_that_cannot_start(self):
        def event(reason, message, name='x', at='2026-11-21T12:00:00Z'):
            return {'metadata': {}, 'reason': reason, 'message': message,
                    'lastTimestamp': at, 'involvedObject': {'name': name}}

        self.assertEqual(('FailedMount', 'b'), symptoms.cannot_start(
            pod('x'), [
                event('FailedCreatePodSandBox', 'a'),
                event('FailedMount', 'b', at='2026-11-21T12:01:00Z'),
                event('Scheduled', 'c', at='2026-11-21T12:02:00Z'),
                event('FailedMount', 'd', 'other', '2026-11-21T12:03:00Z')]))
        self.assertEqual(('', ''), symptoms.cannot_start(pod('x'), []))
