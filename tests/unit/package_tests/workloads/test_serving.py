# SPDX-License-Identifier: Apache-2.0


import time
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.tests.common.workloads import serving
from tests.unit import fake_clock


def client(name, node, address, **status):
    return {'metadata': {'name': name, 'namespace': 'magnum-capi-workload'},
            'spec': {'nodeName': node},
            'status': {'phase': 'Running', 'podIP': address, **status}}


CLIENTS = [client('c1', 'n1', '10.0.0.1'), client('c2', 'n2', '10.0.1.1')]


def counted(name, **status):
    return {'metadata': {'name': name, 'generation': 1},
            'status': {'observedGeneration': 1, **status}}


class ServingTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.hands = mock.Mock()
        self.hands.nodes.return_value = [
            {'metadata': {'name': name}} for name in ('n1', 'n2')]
        self.hands.core.return_value = []
        self.hands.ask.side_effect = self.ask
        self.useFixture(fixtures.MockPatchObject(
            kube, 'Client', mock.Mock(return_value=self.hands)))
        self.answers = {
            '/deployments/web': counted('web', readyReplicas=2),
            '/daemonsets/client': counted('client', numberReady=2),
            'labelSelector': {'items': CLIENTS},
            'c1:8080/proxy/dial': {'responses': ['c2']},
            'c2:8080/proxy/dial': {'responses': ['c1']}}
        self.posted = []
        self.serving = serving.Serving('/kubeconfig', 'image', 5,
                                       fake_clock.FakeClock())

    def ask(self, method, path, body=None):
        if method == 'POST':
            self.posted.append(body['kind'])
            return {}
        found = next(a for part, a in self.answers.items() if part in path)
        if isinstance(found, Exception):
            raise found
        return found

    def test_start(self):
        self.serving.start()

        self.assertEqual(['Namespace', 'Service', 'Deployment',
                          'PodDisruptionBudget', 'DaemonSet'], self.posted)

    def test_what_is_not_ready_is_named(self):
        self.answers['/deployments/web'] = counted('web', readyReplicas=1)
        self.hands.core.return_value = [client(
            'web-1', 'n2', '', phase='Pending', containerStatuses=[{
                'state': {'waiting': {'reason': 'ErrImagePull'}}}])]

        error = self.assertRaises(errors.WaitTimeout, self.serving.wait)

        self.assertIn('1 of 2 of web are ready', str(error))
        self.assertIn('ErrImagePull', str(error))

    def test_an_old_answer_does_not_count(self):
        self.answers['/daemonsets/client']['metadata']['generation'] = 2

        self.assertEqual(['2 of 2 of client are ready'],
                         self.serving._missing())

    def test_an_api_that_is_away_is_waited_for_and_a_refusal_is_not(self):
        self.answers['/deployments/web'] = kube.KubeError('no answer')
        self.assertIn('no answer', self.serving._missing()[0])

        self.answers['/deployments/web'] = kube.KubeError(
            'refused', status=403)
        self.assertRaises(kube.KubeError, self.serving._missing)

    def test_all_pairs_of_nodes_talk(self):
        self.assertEqual(([], 2), self.serving.silent_pairs())

    def test_a_pair_that_does_not(self):
        self.answers['c1:8080/proxy/dial'] = {'errors': ['timeout']}
        self.answers['c2:8080/proxy/dial'] = kube.KubeError('no route')

        bad, asked = self.serving.silent_pairs()

        self.assertEqual(2, asked)
        self.assertIn("n1 -> n2: {'errors': ['timeout']}", bad[0])
        self.assertIn('n2 -> n1: no route', bad[1])

    def test_a_pod_of_a_node_that_is_gone_is_not_asked(self):
        self.answers['labelSelector'] = {'items': [
            *CLIENTS, client('c3', 'n3', '10.0.2.1')]}

        self.assertEqual(([], 2), self.serving.silent_pairs())

    def test_what_a_change_left_behind_goes_away(self):
        # The node is gone, its object not yet.
        self.answers['c1:8080/proxy/dial'] = {'errors': ['timeout']}

        def sleep(seconds):
            self.answers['c1:8080/proxy/dial'] = {'responses': ['c2']}

        with mock.patch.object(self.serving._clock, 'sleep', sleep):
            self.assertEqual(2, self.serving.reach_each_other())

    def test_an_api_that_is_away_does_not_end_the_wait_for_traffic(self):
        self.answers['labelSelector'] = kube.KubeError('no answer')

        def sleep(seconds):
            self.answers['labelSelector'] = {'items': CLIENTS}

        with mock.patch.object(self.serving._clock, 'sleep', sleep):
            self.assertEqual(2, self.serving.reach_each_other())

    def test_nodes_that_never_reach_each_other_are_named(self):
        self.answers['c1:8080/proxy/dial'] = {'errors': ['timeout']}

        error = self.assertRaises(errors.WaitTimeout,
                                  self.serving.reach_each_other)

        self.assertIn("n1 -> n2: {'errors': ['timeout']}", str(error))

    def test_clients_that_leave_are_not_asked(self):
        gone = client('c3', 'n3', '10.0.2.1')
        gone['metadata']['deletionTimestamp'] = 'now'
        self.answers['labelSelector'] = {'items': [
            *CLIENTS, gone, client('c4', 'n4', '', phase='Pending')]}

        self.assertEqual(2, len(self.serving.clients()))


class WatchTest(testtools.TestCase):

    def line(self, ago, word):
        stamp = time.strftime('%Y-%m-%dT%H:%M:%S',
                              time.gmtime(time.time() - ago))
        return f'{stamp}Z address={word} name={word}'

    def watch(self, clients=lambda: CLIENTS, text=None):
        reader = mock.Mock()
        reader.text.side_effect = text
        watch = serving.Watch(clients, reader)
        watch.start()
        # As if it had been going on for a while.
        watch._began -= 10
        watch._started -= 10
        watch.stop()
        return watch, reader

    def test_what_clients_wrote_is_counted_once(self):
        log = f'{self.line(8, "ok")}\n{self.line(2, "no")}\n'
        watch, reader = self.watch(text=lambda *args, **kwargs: log)
        watch.stop()

        seen = watch.seen.ways['address']
        # Two clients.
        self.assertEqual((4, 2), (seen.rounds, seen.failed))
        self.assertEqual('client', reader.text.call_args.kwargs['container'])

    def test_clocks_of_nodes_that_differ_from_ours(self):
        for ahead in (-600, 600):
            log = '\n'.join(self.line(ago - ahead, 'ok') for ago in (9, 5, 1))
            watch, reader = self.watch(text=lambda *args, **kwargs: log)

            seen = watch.seen.ways['address']
            self.assertEqual((6, 0), (seen.rounds, seen.failed), ahead)
            self.assertLess(seen.gap, 6, ahead)
            # The API refuses others.
            self.assertGreater(min(
                call.kwargs['sinceSeconds']
                for call in reader.text.call_args_list), 0)

    def test_a_log_that_cannot_be_read_is_no_error(self):
        watch, _ = self.watch(text=kube.KubeError('node gone'))

        self.assertEqual(0, watch.seen.ways['name'].rounds)

    def test_an_api_that_is_away_is_a_gap_of_its_own(self):
        def away():
            raise kube.KubeError('no answer')

        watch, _ = self.watch(clients=away)

        self.assertGreaterEqual(watch.seen.api, 10)
        self.assertIn('Kubernetes API: no answer for 1', str(watch.seen))
