# SPDX-License-Identifier: Apache-2.0


import json
from unittest import mock

import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import observe
from magnum_capi_tempest.kubeclient import kube
from tests.unit import fake_clock

STATUS = json.dumps({'status': 'running', 'plugins': [
    {'plugin': 'e2e', 'node': 'global', 'status': 'running',
     'progress': {'total': 388, 'completed': 0}}]})
PODS = [
    {'metadata': {'name': 'sonobuoy',
                  'labels': {'sonobuoy-component': 'aggregator'}},
     'status': {'phase': 'Running'}},
    {'metadata': {'name': 'e2e-job', 'labels': {'sonobuoy-plugin': 'e2e'}},
     'spec': {'nodeName': 'n1'}, 'status': {'phase': 'Running'}}]


NODE = {'metadata': {'name': 'n1'}, 'status': {'conditions': [
    {'type': 'Ready', 'status': 'True'}]}}


class TestObserver(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.clock = fake_clock.FakeClock()
        self.program = mock.Mock()
        self.program.commands.namespace = 'sonobuoy'
        self.program.status.return_value = STATUS
        self.reader = mock.Mock()
        self.reader.items.side_effect = self.items
        self.reader.text.return_value = 'Will run 388 of 7144 specs\n•••'
        self.observer = observe.Observer(self.program, self.reader,
                                         self.clock)
        self.lists = {'/api/v1/namespaces/sonobuoy/pods': PODS,
                      '/api/v1/nodes': [NODE], '/api/v1/pods': [],
                      '/api/v1/namespaces': [
                          {'metadata': {'name': 'pods-1',
                                        'labels': {'e2e-run': 'x'}}}]}

    def items(self, path, **query):
        found = self.lists[path]
        if isinstance(found, Exception):
            raise found
        return found

    def fails(self, text):
        self.program.status.side_effect = errors.CommandFailed(
            ['s'], 1, text)

    def test_a_run_that_goes_on(self):
        seen = self.observer.look()

        self.assertEqual('running', seen.status.status)
        self.assertEqual(['', 'e2e'], [p.plugin for p in seen.pods])
        self.assertEqual({'n1'}, seen.nodes)
        self.assertEqual(('pods-1',), seen.tests)
        self.assertEqual('', seen.error)

    def test_the_log_counts_where_sonobuoy_does_not(self):
        self.assertEqual((388, 3, 0), self.observer.look().log)

    def test_the_log_is_not_read_at_each_look(self):
        self.observer.look()
        self.clock.sleep(30)
        self.observer.look()
        self.assertEqual(1, self.reader.text.call_count)

        self.clock.sleep(31)
        self.observer.look()
        self.assertEqual(2, self.reader.text.call_count)

    def test_the_log_is_not_read_where_sonobuoy_counts(self):
        self.program.status.return_value = STATUS.replace(
            '"completed": 0', '"completed": 1')
        self.observer.look()

        self.reader.text.assert_not_called()

    def test_a_log_that_cannot_be_read_is_no_error(self):
        self.reader.text.side_effect = kube.KubeError('no', status=400)

        self.assertEqual('', self.observer.look().error)

    def test_prose_is_no_status(self):
        self.program.status.return_value = 'It is \x1b[31mPending\x1b[0m\n'

        seen = self.observer.look()
        self.assertEqual((None, 'It is Pending', ''),
                         (seen.status, seen.said, seen.error))

    def test_no_answer_at_all(self):
        self.fails('connection refused')
        self.lists['/api/v1/namespaces/sonobuoy/pods'] = kube.KubeError('x')

        seen = self.observer.look()
        self.assertEqual(('connection refused', False),
                         (seen.error, seen.gone))

    def test_a_missing_aggregator_is_asked_for_twice(self):
        self.fails('namespaces "sonobuoy" not found')
        self.lists['/api/v1/namespaces/sonobuoy/pods'] = []

        seen = self.observer.look()
        self.assertEqual((True, ''), (seen.gone, seen.error))

    def test_sonobuoys_word_alone_does_not_make_it_gone(self):
        self.fails('something not found')

        seen = self.observer.look()
        self.assertEqual((False, 'something not found'),
                         (seen.gone, seen.error))

    def test_a_node_that_is_not_ready(self):
        self.lists['/api/v1/nodes'] = [{**NODE, 'status': {'conditions': [
            {'type': 'Ready', 'status': 'Unknown',
             'reason': 'NodeStatusUnknown',
             'message': 'Kubelet stopped posting node status.'}]}}]

        seen = self.observer.look()
        self.assertEqual((('n1', 'NodeStatusUnknown: Kubelet stopped posting '
                           'node status.'),), seen.bad)
        self.assertIn('Node n1 Ready=Unknown', seen.signs[0])

    def test_everything_else_is_not_read_at_each_look(self):
        self.assertEqual((), self.observer.look().signs)
        self.assertIsNone(self.observer.look().signs)
        self.clock.sleep(20)
        self.assertEqual((), self.observer.look().signs)

    def test_what_cannot_be_read_is_left_out(self):
        self.lists['/api/v1/pods'] = kube.KubeError('no', status=403)

        self.assertEqual(((), ''), (self.observer.look().signs,
                                    self.observer.look().error))

    def test_a_pod_that_waits_for_no_reason_has_one_in_its_events(self):
        waits = {**PODS[1], 'status': {'phase': 'Pending'}}
        self.lists['/api/v1/namespaces/sonobuoy/pods'] = [PODS[0], waits]
        self.lists['/api/v1/namespaces/sonobuoy/events'] = [
            {'metadata': {}, 'involvedObject': {'name': 'e2e-job'},
             'reason': 'FailedCreatePodSandBox', 'message': 'no cni'}]

        seen = self.observer.look()
        self.assertEqual(('FailedCreatePodSandBox', 'no cni'), (
            seen.pods[1].reason, seen.pods[1].message))

    def test_sonobuoys_answer_is_enough(self):
        self.lists['/api/v1/nodes'] = kube.KubeError('x', status=500)

        seen = self.observer.look()
        self.assertEqual(('', None), (seen.error, seen.nodes))


class TestPod(testtools.TestCase):

    def reason(self, **status):
        found = observe.pod({'metadata': {'name': 'p'}, 'status': {
            'phase': 'Pending', **status}})
        return found.reason, found.message

    def test_a_waiting_container(self):
        self.assertEqual(('ImagePullBackOff', 'no such host'), self.reason(
            containerStatuses=[
                {'state': {'running': {}}},
                {'state': {'waiting': {'reason': 'ImagePullBackOff',
                                       'message': 'no such host'}}}]))

    def test_a_container_that_begins_is_no_news(self):
        self.assertEqual(('', ''), self.reason(containerStatuses=[
            {'state': {'waiting': {'reason': 'ContainerCreating'}}}]))

    def test_a_pod_without_a_node(self):
        self.assertEqual(
            ('Unschedulable', '0/2 nodes'), self.reason(conditions=[
                {'type': 'PodScheduled', 'status': 'False',
                 'reason': 'Unschedulable', 'message': '0/2 nodes'}]))

    def test_an_evicted_pod(self):
        self.assertEqual(('Evicted', 'low on memory'), self.reason(
            reason='Evicted', message='low on memory'))
