# SPDX-License-Identifier: Apache-2.0

import pathlib
import tarfile

import testtools

from magnum_capi_tempest.conformance.run import objects

DATA = pathlib.Path(__file__).parents[3] / 'data' / 'sonobuoy'


def condition(kind, status, reason='', message=''):
    return {'type': kind, 'status': status, 'reason': reason,
            'message': message}


def node(*conditions, name='n1'):
    return {'metadata': {'name': name}, 'status': {
        'conditions': list(conditions)}}


def pod(name='p', namespace='kube-system', labels=None, **status):
    return {'metadata': {'name': name, 'namespace': namespace,
                         'labels': labels or {}}, 'status': status}


def waiting(reason, message='', **kwargs):
    return pod(**{'phase': 'Pending', 'containerStatuses': [
        {'state': {'running': {}}},
        {'state': {'waiting': {'reason': reason, 'message': message}}}],
        **kwargs})


READY = node(condition('Ready', 'True'), condition('DiskPressure', 'False'))
DNS = pod('coredns-1', labels={'k8s-app': 'kube-dns'}, phase='Running',
          conditions=[condition('Ready', 'True')])


class TestPod(testtools.TestCase):

    def test_why_it_waits(self):
        for obj, reason in (
                (waiting('ImagePullBackOff', 'no such host'),
                 ('ImagePullBackOff', 'no such host')),
                (waiting('ContainerCreating'), ('', '')),
                (pod(phase='Pending', conditions=[
                    condition('PodScheduled', 'False', 'Unschedulable',
                              '0/2 nodes')]), ('Unschedulable', '0/2 nodes')),
                (pod(reason='Evicted', message='low on memory'),
                 ('Evicted', 'low on memory'))):
            found = objects.pod(obj)
            self.assertEqual(reason, (found.reason, found.message))

    def test_of_its_events_the_newest_says_why(self):
        def event(reason, message, name='p', at='2026-11-21T12:00:00Z'):
            return {'metadata': {}, 'reason': reason, 'message': message,
                    'lastTimestamp': at, 'involvedObject': {'name': name}}

        found = objects.with_cause(objects.pod(pod()), [
            event('FailedCreatePodSandBox', 'a'),
            event('FailedMount', 'b', at='2026-11-21T12:01:00Z'),
            event('Scheduled', 'c', at='2026-11-21T12:02:00Z'),
            event('FailedMount', 'd', 'other', '2026-11-21T12:03:00Z')])
        self.assertEqual(('FailedMount', 'b'), (found.reason, found.message))
        self.assertEqual('', objects.with_cause(
            objects.pod(pod()), []).reason)


class TestWarnings(testtools.TestCase):

    def test_nodes(self):
        gone = [condition(kind, 'Unknown', 'NodeStatusUnknown',
                          'Kubelet stopped posting node status.')
                for kind in ('MemoryPressure', 'Ready')]
        full = condition('DiskPressure', 'True', 'Full', 'kubelet has')
        for found, words in (
                (READY, ()),
                (node(*gone), ('Node n1 Ready=Unknown (NodeStatusUnknown: '
                               'Kubelet stopped posting node status.)',)),
                (node(condition('Ready', 'True'), full),
                 ('Node n1 DiskPressure=True (Full: kubelet has)',))):
            self.assertEqual(words, objects.warnings([found]))

    def test_pods(self):
        dns = 'cluster DNS: none of its pods is ready'
        unready = {**DNS, 'status': {'phase': 'Running'}}
        for pods, words in (
                (None, ()), ((), ()), ((DNS,), ()), ((unready,), (dns,)),
                ((pod('x', 'default', phase='Running'),), (dns,)),
                ((DNS, waiting('CrashLoopBackOff', 'back-off',
                               namespace='kube-flannel')),
                 ('pod kube-flannel/p not ready: CrashLoopBackOff: '
                  'back-off',)),
                ((DNS, pod(phase='Failed', reason='Evicted',
                           message='low on resource')),
                 ('pod kube-system/p not ready: Evicted: low on resource',)),
                # Tests let pods fail on purpose; pods begin, and complete.
                ((DNS, waiting('ImagePullBackOff', namespace='pods-1'),
                  waiting('ContainerCreating'),
                  pod(phase='Succeeded', containerStatuses=[
                      {'state': {'terminated': {'reason': 'x'}}}])), ())):
            self.assertEqual(words, objects.warnings([READY], pods))

    def test_not_too_many_and_harmless(self):
        found = objects.warnings([
            node(condition('Ready', 'False', 'x', f'\x1b[31m{n} Authorization:'
                                                  ' Bearer abc.def-ghi12345'))
            for n in range(30)])

        self.assertEqual(20, len(found))
        self.assertNotIn('\x1b', found[0])
        self.assertNotIn('abc.def', found[0])


class TestCounts(testtools.TestCase):

    def log(self, name):
        file, = DATA.glob(f'{name}-v1.*.tar.gz')
        with tarfile.open(file) as archive:
            return archive.extractfile(
                'plugins/e2e/results/global/e2e.log').read().decode()

    def test_real_logs(self):
        for name, expected in (
                ('conformance-parallel', (388, 384, 4)),
                ('magnum-parallel', (383, 382, 1)),
                ('one-failed', (1, 0, 1)), ('quick-e2e', (1, 1, 0))):
            self.assertEqual(expected, objects.counts(self.log(name)), name)

    def test_a_run_that_goes_on(self):
        text = self.log('conformance-parallel')
        middle = text[:text.index('• [FAILED]')]

        self.assertEqual((388, middle.count('•'), 0), objects.counts(middle))
        self.assertIsNone(objects.counts('Running Suite: e2e\n'))

    def test_verbose(self):
        self.assertEqual((9, 1, 2), objects.counts(
            'Will run 9 of 99 specs\n'
            '• [3.4 seconds]\n[sig-x] a\n'
            '• [PANICKED] [1.0 seconds]\n'
            '[SynchronizedAfterSuite] PASSED [0.1 seconds]\n'
            'S [SKIPPED] [0.1 seconds]\n• [TIMEDOUT] [1.0 seconds]\n'))
