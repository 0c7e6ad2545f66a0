# SPDX-License-Identifier: Apache-2.0

"""When is a run over, what is known of it, and what are people told?"""

import dataclasses
import json
import math
from unittest import mock

import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import objects
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.kubeclient import kube
from tests.unit import fake_clock

LIMITS = watch.Limits(deadline=3600, stall=600, silence=900, stuck=300,
                      gone=60)
AGGREGATOR = objects.Pod('sonobuoy', '', 'Running')
TESTS = objects.Pod('e2e-job', 'e2e', 'Running')
NODES = {'n1': '', 'n2': ''}
#: Nothing answers.
SILENT = {'status': None, 'pods': None, 'nodes': None, 'error': 'refused'}


def status(word='running', total=0, passed=0, failed=0):
    return runner.Status(word, (runner.Plugin(
        'e2e', 'global', 'running', '', total, passed, failed),))


def seen(at, **kwargs):
    return watch.Observation(at, **{'status': status(), 'nodes': NODES,
                             'pods': (AGGREGATOR, TESTS), **kwargs})


def changed(pod, **kwargs):
    return dataclasses.replace(pod, **kwargs)


class TestCase(testtools.TestCase):

    def play(self, *looks, elapsed=0.0):
        """The state after looks, of which only the last may end the run."""
        state = watch.start(0.0, elapsed, NODES)
        self.notes = []
        for one in looks:
            self.assertEqual('', state.outcome, state.reason)
            state = watch.step(state, one, LIMITS)
            self.notes += state.notes
        return state

    def assert_ends(self, outcome, words, at, *looks, last=None):
        """Check that a run ends at a time, and not before."""
        state = self.play(*looks)
        self.assertEqual('', state.outcome, state.reason)
        last = last if last is not None else dataclasses.asdict(looks[-1])
        if 'at' in last:
            last = {f.name: getattr(looks[-1], f.name)
                    for f in dataclasses.fields(looks[-1]) if f.name != 'at'}
        early = watch.step(state, seen(at - 1, **last), LIMITS)
        self.assertEqual('', early.outcome, early.reason)
        ended = watch.step(early, seen(at, **last), LIMITS)
        self.assertEqual(outcome, ended.outcome)
        self.assertIn(words, ended.reason)
        return ended


class TestEnds(TestCase):

    def test_a_failed_aggregator_and_a_failed_plugin(self):
        self.assertEqual(watch.FAILED, self.play(
            seen(1, status=status('failed'))).outcome)
        self.assertEqual('', self.play(seen(1, status=runner.Status(
            'running', (runner.Plugin('e2e', 'global', 'failed'),)))).outcome)

    def test_what_lasts_too_long(self):
        pulls = changed(TESTS, phase='Pending', reason='ImagePullBackOff',
                        message='no such host')
        network = changed(pulls, reason='FailedCreatePodSandBox',
                          message='plugin type="flannel" failed')
        off = changed(TESTS, node='n2')
        other = objects.Pod('mine', 'mine', 'Pending', 'ImagePullBackOff')
        for outcome, words, at, looks in (
                (watch.STUCK, 'no such host', 301,
                 (seen(1, pods=(AGGREGATOR, pulls)),)),
                (watch.STUCK, 'plugin type="flannel" failed', 301,
                 (seen(1, pods=(AGGREGATOR, network)),)),
                # Without the tests, every plugin is needed.
                (watch.STUCK, 'pod mine', 301,
                 (seen(1, pods=(AGGREGATOR, other)),)),
                (watch.LOST, 'the namespace or the pod with the results is '
                 'gone', 62, (seen(1), seen(2, status=None, pods=()))),
                # Sonobuoy issue 1978: it would wait for hours.
                (watch.LOST, 'the pod of the tests is gone', 302,
                 (seen(1), seen(2, pods=(AGGREGATOR,)))),
                (watch.LOST, 'the node n2 of pod e2e-job has not been ready '
                 'for 300 s: no kubelet', 302,
                 (seen(1, pods=(AGGREGATOR, off)),
                  seen(2, pods=(AGGREGATOR, off),
                       nodes={'n1': '', 'n2': 'no kubelet'}))),
                (watch.SILENT, 'no answer for 900 s: no route', 901,
                 (seen(1), seen(2, status=None, error='no route'))),
                (watch.UNREACHABLE, 'no answer for 900 s: refused', 901,
                 (seen(1), seen(2, **SILENT))),
                (watch.STALLED, 'nothing has changed for 600 s', 601,
                 (seen(1), seen(300)))):
            self.assert_ends(outcome, words, at, *looks)

    def test_what_comes_back_was_not_lost(self):
        gone = {'status': None, 'pods': ()}
        pods = AGGREGATOR, changed(TESTS, node='n2')
        bad = {'pods': pods, 'nodes': {'n2': 'x'}}
        late = {'pods': (AGGREGATOR, changed(TESTS, reason='ErrImagePull'))}
        for looks in (
                (seen(1), seen(2, **gone), seen(30), seen(65, **gone)),
                (seen(1, **bad), seen(200, pods=pods), seen(302, **bad)),
                (seen(1, **late), seen(290), seen(310, **late))):
            self.assertEqual('', self.play(*looks).outcome)

    def test_what_was_lost_before_the_api_was_stays_lost(self):
        gone = {'status': None, 'pods': ()}
        self.assert_ends(watch.LOST, 'gone', 62, seen(1), seen(2, **gone),
                         seen(30, **SILENT), last=gone)

    def test_an_evicted_aggregator_has_lost_everything(self):
        evicted = changed(AGGREGATOR, phase='Failed', reason='Evicted',
                          message='The node was low on memory', node='n1')
        # As Sonobuoy 0.57.5 says it: with an error, not with a status.
        state = self.play(seen(1), seen(
            2, status=None, pods=(evicted,),
            error="sonobuoy aggregator is in the 'Failed' state"))

        self.assertEqual(watch.LOST, state.outcome)
        self.assertIn('Evicted on n1: The node was low', state.reason)

    def test_what_is_no_end(self):
        # The aggregator gives another plugin up by itself.
        waits = objects.Pod('logs-x', 'systemd-logs', 'Pending',
                            'ImagePullBackOff', 'no such host')
        logs = objects.Pod('logs-x', 'systemd-logs', 'Running', node='n2')
        done = changed(TESTS, phase='Succeeded')
        alone = {'pods': (AGGREGATOR,)}
        off = {'pods': (AGGREGATOR, TESTS, logs), 'nodes': {'n2': 'x'}}
        for looks in (
                (seen(1, pods=(AGGREGATOR, TESTS, waits)),
                 seen(310, pods=(AGGREGATOR, TESTS, waits), counts=(9, 1, 0)),
                 seen(620, pods=(AGGREGATOR, done, waits))),
                (seen(1, **off), seen(310, **off)),
                # Tests that have not begun are not gone.
                (seen(1, **alone), seen(301, **alone)),
                # Silence is no stall.
                (seen(1), seen(100, **SILENT), seen(700, **SILENT)),
                # Nodes without pods of the run may be bad.
                (seen(1, nodes={'n9': 'x'}), seen(400, nodes={'n9': 'x'}))):
            self.assertEqual('', self.play(*looks).outcome)

    def test_the_deadline_is_of_the_whole_run(self):
        self.assertEqual('', self.play(seen(9), elapsed=3590).outcome)
        state = self.play(seen(11), elapsed=3590)
        self.assertEqual((watch.DEADLINE, 'the run took longer than 3600 s'),
                         (state.outcome, state.reason))
        endless = dataclasses.replace(LIMITS, deadline=math.inf)
        self.assertEqual('', watch.step(watch.start(0.0, 10**6), seen(11),
                                        endless).outcome)

    def test_without_an_answer_the_deadline_is_not_judged(self):
        """The run may have ended in time, and its results may wait."""
        late = dict(elapsed=7200)
        for error in SILENT, {'status': None, 'error': 'refused'}:
            self.assertEqual('', self.play(seen(1, **error), **late).outcome)
            self.assertEqual(watch.COMPLETE, self.play(
                seen(1, **error), seen(5, status=status('complete')),
                **late).outcome)

    def test_what_moves(self):
        """Sonobuoy issue 1966: its own counts stay at 0."""
        for parts in (
                lambda at: {'counts': (388, at // 100, 0)},
                # The log of parallel tests may stand still for long.
                lambda at: {'movement': (0, f'pods-{at}')}):
            state = self.play(*(seen(at, **parts(at))
                                for at in range(100, 3000, 100)))
            self.assertEqual('', state.outcome)

    def test_pulls_that_are_tried_again_do_not_move(self):
        def pods(reason):
            return AGGREGATOR, TESTS, objects.Pod(
                'logs-x', 'systemd-logs', 'Pending', reason)

        state = self.play(*(
            seen(1 + 100 * n, pods=pods(
                'ErrImagePull' if n % 2 else 'ImagePullBackOff'))
            for n in range(6)), seen(602, pods=pods('ErrImagePull')))

        self.assertEqual(watch.STALLED, state.outcome)
        self.assertEqual(1, sum('logs-x' in note for note in self.notes))

    def test_an_old_run_is_not_stalled_at_once_when_it_is_attached(self):
        self.assertEqual('', self.play(seen(1), elapsed=3000).outcome)


class TestTold(TestCase):

    def test_notes(self):
        waits = {'pods': (AGGREGATOR, changed(
            TESTS, phase='Pending', reason='ImagePullBackOff',
            message='no such host'))}
        prose = {'status': runner.Status('', message='It is Pending')}
        one = {'warnings': ('Node n2 Ready=False',)}

        def plugins(tests):
            return {'status': runner.Status('running', (
                runner.Plugin('e2e', 'global', tests),
                runner.Plugin('systemd-logs', 'n1', 'complete'),
                runner.Plugin('systemd-logs', 'n2', 'running')))}

        for words, looks in (
                ('no answer, asking again: refused',
                 ({}, SILENT, SILENT)),
                ('answers again after 2 s', ({}, SILENT, {}, {})),
                ('It is Pending', (prose, prose, SILENT, prose)),
                ('pod e2e-job: Pending, ImagePullBackOff: no such host',
                 (waits, waits)),
                ('pod e2e-job is gone', ({}, {'pods': (AGGREGATOR,)})),
                ('nodes joined: n3', ({}, {'nodes': {**NODES, 'n3': ''}})),
                # Also if nobody watched.
                ('nodes left: n2; tests that used them may fail because of '
                 'that', ({'nodes': {'n1': ''}}, {'nodes': {'n1': ''}})),
                ('the cluster: Node n2 Ready=False', ({}, one, {}, one)),
                ('The tests have ended, and Sonobuoy waits for systemd-logs',
                 (plugins('running'), plugins('complete'),
                  plugins('complete')))):
            self.play(*(seen(at, **look)
                        for at, look in enumerate(looks, 1)))
            self.assertEqual(1, self.notes.count(words), (words, self.notes))

    def test_what_is_known_survives_an_error(self):
        state = self.play(
            seen(1, status=status(total=5, passed=2), warnings=('w',)),
            seen(2, **SILENT))

        self.assertEqual((2, ('w',), 2), (
            state.counts.passed, state.warnings, len(state.seen.pods)))
        self.assertIn('no answer', messages.line(state, 2))

    def test_lines(self):
        for words, looks in (
                ('running, [######..................] 100/400, 1 failed, '
                 'counted 0:01:00 ago, 0:02:40',
                 (seen(1), seen(100, status=status(
                     total=400, passed=99, failed=1)))),
                ('0/388, 0 failed, nothing counted yet',
                 (seen(1, status=status(total=388)),)),
                ('8/388, 1 failed, counted 0:02:39 ago in the log',
                 (seen(1, status=status(total=388), counts=(388, 7, 1)),
                  seen(2, status=status(total=388))))):
            self.assertIn(words, messages.line(self.play(*looks), 160))

    def test_details(self):
        def told(*plugins):
            found = sonobuoy.parse_status(json.dumps(
                {'status': 'running', 'plugins': [
                    {'plugin': name, 'node': node, 'status': word, **more}
                    for name, node, word, more in plugins]}))
            return list(messages.details(self.play(seen(1, status=found))))

        self.assertEqual([], told(('e2e', 'global', 'running', {})))
        self.assertEqual(['failed: [sig-x] a b'], told(
            ('e2e', 'global', 'running', {'progress': {
                'failures': ['[It] [sig-x] a  b\x1b[31m']}})))
        passed = {'result-status': 'passed'}
        self.assertEqual(
            ['plugin e2e: running',
             'plugin systemd-logs: complete (passed) on 2 of 3 nodes, '
             'failed on 1 of 3 nodes'],
            told(('e2e', 'global', 'running', {}),
                 ('systemd-logs', 'n1', 'complete', passed),
                 ('systemd-logs', 'n2', 'failed', {}),
                 ('systemd-logs', 'n3', 'complete', passed)))

    def test_a_document(self):
        state = self.play(seen(
            1, status=status(total=4, passed=1, failed=1), warnings=('w',)))

        said = json.loads(json.dumps(messages.document(state, 61)))
        self.assertEqual(
            ('running', '', 61, ['w'], 'Running',
             {'total': 4, 'passed': 1, 'failed': 1, 'source': 'sonobuoy',
              'counted': 60}),
            (said['state'], said['outcome'], said['seconds'],
             said['warnings'], said['pods'][0]['phase'], said['counts']))


class TestLook(testtools.TestCase):

    PODS = [
        {'metadata': {'name': 'sonobuoy',
                      'labels': {'sonobuoy-component': 'aggregator'}},
         'status': {'phase': 'Running'}},
        {'metadata': {'name': 'e2e-job', 'labels': {'sonobuoy-plugin': 'e2e'}},
         'spec': {'nodeName': 'n1'}, 'status': {'phase': 'Running'}}]

    def setUp(self):
        super().setUp()
        driven = sonobuoy.Sonobuoy(runner.Plan(), '/s', '/k')
        self.driven = mock.Mock(wraps=driven, namespace='sonobuoy',
                                tests='e2e', container='e2e')
        self.driven.status = mock.Mock(return_value=status())
        self.reader = mock.Mock()
        self.reader.items.side_effect = self.items
        self.reader.text.return_value = 'Will run 388 of 7144 specs\n•••'
        self.lists = {
            '/api/v1/namespaces/sonobuoy/pods': self.PODS,
            '/api/v1/nodes': [{'metadata': {'name': 'n1'}, 'status': {
                'conditions': [{'type': 'Ready', 'status': 'Unknown',
                                'reason': 'Gone', 'message': 'no kubelet'}]}}],
            '/api/v1/namespaces': [{'metadata': {
                'name': 'pods-1', 'labels': {'e2e-run': 'x'}}}]}

    def items(self, path, **query):
        found = self.lists[path]
        if isinstance(found, Exception):
            raise found
        return found

    def observe(self, **kwargs):
        return watch.observe(self.driven, self.reader, fake_clock.FakeClock(),
                             **kwargs)

    def test_everything(self):
        found = self.observe()

        self.assertEqual(
            (status(), '', ['', 'e2e'], {'n1': 'Gone: no kubelet'},
             (388, 3, 0), 'pods-1'),
            (found.status, found.error, [p.plugin for p in found.pods],
             found.nodes, found.counts, found.movement[1]))
        self.assertIn('Node n1 Ready=Unknown', found.warnings[0])

    def test_how_often_the_rest_is_read(self):
        clock = fake_clock.FakeClock()
        found = watch.follow(
            self.driven, self.reader, watch.start(0.0),
            watch.Limits(deadline=290), mock.MagicMock(), clock)

        self.assertEqual(watch.DEADLINE, found.outcome)
        asked = [call.args[0] for call in self.reader.items.mock_calls]
        self.assertEqual(5, asked.count('/api/v1/nodes'))
        self.assertGreater(self.driven.status.call_count, 20)

    def test_what_does_not_answer(self):
        away = kube.KubeError('no route', status=500)
        failed = errors.CommandFailed(['s'], 1, 'connection refused')
        for pods, nodes, said, expected in (
                (away, [], failed, (None, 'connection refused', None)),
                # One of the two answers.
                (away, [], None, (status(), '', None)),
                (self.PODS, away, None, (status(), '', 2)),
                (self.PODS, [], failed, (None, 'connection refused', 2)),
                # Without a pod with the results, nobody has to be asked.
                ([], [], failed, (None, '', 0))):
            self.lists.update({'/api/v1/namespaces/sonobuoy/pods': pods,
                               '/api/v1/nodes': nodes})
            self.driven.status.side_effect = said
            found = self.observe()
            self.assertEqual(expected, (
                found.status, found.error,
                None if found.pods is None else len(found.pods)))

    def test_what_may_not_be_read_hides_nothing_else(self):
        """Without counts, a parallel run would seem to stall."""
        self.lists['/api/v1/nodes'] = kube.KubeError('no', status=403)

        found = self.observe()
        self.assertEqual((None, (388, 3, 0), 'pods-1', ''), (
            found.nodes, found.counts, found.movement[1], found.error))
        self.lists['/api/v1/namespaces'] = kube.KubeError('no', status=403)
        self.assertEqual((388, 3, 0), self.observe().counts)

    def test_a_log_that_cannot_be_read_is_no_error(self):
        self.reader.text.side_effect = kube.KubeError('no', status=400)

        found = self.observe()
        self.assertEqual(('', None), (found.error, found.counts))

    def test_a_pod_that_waits_for_no_reason_has_one_in_its_events(self):
        waits = {**self.PODS[1], 'status': {'phase': 'Pending'}}
        self.lists['/api/v1/namespaces/sonobuoy/pods'] = [self.PODS[0], waits]
        path = '/api/v1/namespaces/sonobuoy/events'
        for events, reason in (
                (kube.KubeError('no'), ''),
                ([{'metadata': {}, 'involvedObject': {'name': 'e2e-job'},
                   'reason': 'FailedCreatePodSandBox', 'message': 'no cni'}],
                 'FailedCreatePodSandBox')):
            self.lists[path] = events
            self.assertEqual(reason, self.observe().pods[1].reason)
