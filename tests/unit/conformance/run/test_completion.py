# SPDX-License-Identifier: Apache-2.0

"""When is a run over, and what is said of it then?"""

import dataclasses

from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import watch
from tests.unit.conformance.run import looks

AGGREGATOR = looks.AGGREGATOR
LIMITS = looks.LIMITS
NODES = looks.NODES
TARBALL = looks.TARBALL
TESTS = looks.TESTS
seen = looks.seen
status = looks.status


class TestEnds(looks.TestCase):

    def test_complete_needs_an_archive(self):
        state = self.play(
            seen(1), seen(2, status=status('post-processing')),
            seen(3, status=status('complete')),
            seen(4, status=status('complete', tarball=TARBALL)))

        self.assertEqual((completion.COMPLETE, TARBALL),
                         (state.outcome, state.tarball))

    def test_a_failed_aggregator(self):
        state = self.play(seen(1, status=status('failed')))

        self.assertEqual(completion.AGGREGATOR_FAILED, state.outcome)

    def test_a_failed_plugin_is_no_end(self):
        state = self.play(seen(1, status=sonobuoy.Status('running', (
            sonobuoy.Plugin('e2e', 'global', 'failed', 'failed'),))))

        self.assertEqual('', state.outcome)

    def test_a_namespace_is_gone_after_a_while_only(self):
        gone = {'status': None, 'gone': True, 'pods': (), 'error': ''}
        state = self.play(seen(1), seen(2, **gone), seen(30, **gone))
        self.assertEqual('', state.outcome)

        state = watch.step(state, seen(62, **gone), LIMITS)
        self.assertEqual(completion.LOST, state.outcome)

    def test_a_namespace_that_comes_back_was_not_gone(self):
        gone = {'status': None, 'gone': True, 'pods': ()}
        state = self.play(seen(1), seen(2, **gone), seen(30),
                          seen(65, **gone))

        self.assertEqual('', state.outcome)

    def test_an_evicted_aggregator_has_lost_everything(self):
        evicted = dataclasses.replace(
            AGGREGATOR, phase='Failed', reason='Evicted',
            message='The node was low on memory', node='n1')
        # As Sonobuoy 0.57.5 says it: with an error, not with a status.
        state = self.play(seen(1), seen(
            2, status=None, pods=(evicted,),
            error="sonobuoy aggregator is in the 'Failed' state"))

        self.assertEqual(completion.LOST, state.outcome)
        self.assertIn('Evicted on n1: The node was low', state.reason)

    def test_pods_that_were_not_read_are_not_dead(self):
        failed = dataclasses.replace(AGGREGATOR, phase='Failed')
        state = self.play(
            seen(1), seen(2, status=None, pods=None, error='x'))
        state = dataclasses.replace(state, pods=(failed,))

        self.assertEqual('', watch.step(
            state, seen(3, status=None, pods=None, error='x'),
            LIMITS).outcome)

    def test_an_aggregator_that_does_not_answer_in_a_cluster_that_does(self):
        silent = {'status': None, 'error': 'no route to host'}
        state = self.play(seen(1), seen(2, **silent), seen(900, **silent))
        self.assertEqual('', state.outcome)

        state = watch.step(state, seen(902, **silent), LIMITS)
        self.assertEqual(
            (completion.SILENT, 'no answer for 901 s: no route to host'),
            (state.outcome, state.reason))

    def test_a_namespace_that_was_gone_before_the_api_was(self):
        gone = {'status': None, 'gone': True, 'pods': ()}
        state = self.play(
            seen(1), seen(2, **gone),
            seen(30, status=None, pods=None, nodes=None, error='x'))

        self.assertEqual(completion.LOST, watch.step(
            state, seen(62, **gone), LIMITS).outcome)

    def test_the_pod_of_the_tests_is_gone(self):
        """Sonobuoy issue 1978: it would wait for hours."""
        alone = {'pods': (AGGREGATOR,)}
        state = self.play(seen(1), seen(2, **alone), seen(200, **alone))
        self.assertEqual('', state.outcome)

        state = watch.step(state, seen(303, **alone), LIMITS)
        self.assertEqual(completion.LOST, state.outcome)

    def test_tests_that_have_not_begun_are_not_gone(self):
        alone = {'pods': (AGGREGATOR,)}
        state = self.play(seen(1, **alone), seen(301, **alone))

        self.assertEqual('', state.outcome)

    def test_an_image_that_cannot_be_pulled(self):
        waiting = dataclasses.replace(
            TESTS, phase='Pending', reason='ImagePullBackOff',
            message='no such host')
        state = self.play(seen(1, pods=(AGGREGATOR, waiting)),
                          seen(200, pods=(AGGREGATOR, waiting)))
        self.assertEqual('', state.outcome)
        self.assertIn('pod e2e-job: Pending, ImagePullBackOff: no such host',
                      self.notes)

        state = watch.step(state, seen(302, pods=(AGGREGATOR, waiting)),
                           LIMITS)
        self.assertEqual(completion.STUCK, state.outcome)
        self.assertIn('no such host', state.reason)

    def test_another_plugin_waits_for_its_image(self):
        # The tests go on, or their results are with the aggregator, which
        # gives the other plugin up by itself.
        waiting = watch.Pod('logs-x', 'systemd-logs', 'Pending',
                            'ImagePullBackOff', 'no such host')
        done = dataclasses.replace(TESTS, phase='Succeeded')
        state = self.play(
            seen(1, pods=(AGGREGATOR, TESTS, waiting)),
            seen(310, pods=(AGGREGATOR, TESTS, waiting), log=(9, 1, 0)),
            seen(620, pods=(AGGREGATOR, done, waiting)))
        self.assertEqual('', state.outcome)

    def test_the_node_of_another_plugin_is_lost(self):
        logs = watch.Pod('logs-x', 'systemd-logs', 'Running', node='n2')
        off = {'pods': (AGGREGATOR, TESTS, logs), 'bad': (('n2', 'x'),)}
        state = self.play(seen(1, **off), seen(310, **off))

        self.assertEqual('', state.outcome)

    def test_a_run_of_other_plugins_only(self):
        waiting = watch.Pod('mine', 'mine', 'Pending', 'ImagePullBackOff')
        state = self.play(seen(1, pods=(AGGREGATOR, waiting)),
                          seen(302, pods=(AGGREGATOR, waiting)))

        self.assertEqual(completion.STUCK, state.outcome)

    def test_pulls_that_are_tried_again_are_no_movement(self):
        def pods(reason):
            return AGGREGATOR, TESTS, watch.Pod(
                'logs-x', 'systemd-logs', 'Pending', reason)

        state = self.play(*(
            seen(1 + 100 * n, pods=pods(
                'ErrImagePull' if n % 2 else 'ImagePullBackOff'))
            for n in range(6)), seen(602, pods=pods('ErrImagePull')))

        self.assertEqual(completion.STALLED, state.outcome)
        self.assertEqual(1, sum('logs-x' in note for note in self.notes))

    def test_a_pod_that_gets_no_network(self):
        waiting = dataclasses.replace(
            TESTS, phase='Pending', reason='FailedCreatePodSandBox',
            message='plugin type="flannel" failed')
        state = self.play(seen(1, pods=(AGGREGATOR, waiting)),
                          seen(302, pods=(AGGREGATOR, waiting)))

        self.assertEqual(completion.STUCK, state.outcome)
        self.assertIn('plugin type="flannel" failed', state.reason)

    def test_the_node_of_the_tests_is_lost(self):
        tests = dataclasses.replace(TESTS, node='n2')
        off = {'pods': (AGGREGATOR, tests), 'bad': (('n2', 'no kubelet'),)}
        state = self.play(seen(1, pods=(AGGREGATOR, tests)), seen(2, **off),
                          # The API may be away for a moment.
                          seen(100, status=None, pods=None, nodes=None,
                               error='x'),
                          seen(300, **off))
        self.assertEqual('', state.outcome)

        state = watch.step(state, seen(303, **off), LIMITS)
        self.assertEqual(
            (completion.LOST, 'the node n2 of pod e2e-job has not been ready '
             'for 301 s: no kubelet'), (state.outcome, state.reason))

    def test_a_node_that_comes_back_was_not_lost(self):
        tests = dataclasses.replace(TESTS, node='n2')
        pods = AGGREGATOR, tests
        state = self.play(
            seen(1, pods=pods, bad=(('n2', 'x'),)), seen(200, pods=pods),
            seen(302, pods=pods, bad=(('n2', 'x'),)))

        self.assertEqual('', state.outcome)

    def test_other_nodes_may_be_bad(self):
        state = self.play(seen(1, bad=(('n9', 'x'),)),
                          seen(400, bad=(('n9', 'x'),)))

        self.assertEqual('', state.outcome)

    def test_an_image_that_comes_late_is_no_end(self):
        waiting = dataclasses.replace(TESTS, reason='ErrImagePull')
        state = self.play(seen(1, pods=(waiting,)), seen(290),
                          seen(310, pods=(waiting,)))

        self.assertEqual('', state.outcome)

    def test_the_deadline_is_of_the_whole_run(self):
        state = watch.step(watch.start(0.0, NODES, elapsed=3590), seen(9),
                           LIMITS)
        self.assertEqual('', state.outcome)

        self.assertEqual(completion.DEADLINE, watch.step(
            state, seen(11), LIMITS).outcome)


class TestStall(looks.TestCase):

    def test_nothing_moves(self):
        state = self.play(seen(1), seen(300), seen(600))
        self.assertEqual('', state.outcome)

        self.assertEqual(completion.STALLED, watch.step(
            state, seen(602), LIMITS).outcome)

    def test_a_log_that_grows_is_progress(self):
        """Sonobuoy issue 1966: its own counts stay at 0."""
        state = self.play(*(
            seen(at, log=(388, at // 100, 0), log_size=at)
            for at in range(100, 3000, 100)))

        self.assertEqual('', state.outcome)
        self.assertEqual((388, 29, 'e2e log'), (
            state.counts.total, state.counts.passed, state.counts.source))

    def test_namespaces_of_tests_that_come_and_go_are_progress(self):
        """The log of parallel tests may stand still for long."""
        state = self.play(*(seen(at, tests=(f'pods-{at}',))
                            for at in range(100, 3000, 100)))

        self.assertEqual('', state.outcome)

    def test_an_old_run_is_not_stalled_at_once_when_it_is_resumed(self):
        state = watch.step(watch.start(0.0, NODES, elapsed=3000), seen(1),
                           LIMITS)

        self.assertEqual('', state.outcome)

    def test_silence_is_no_stall(self):
        silent = {'status': None, 'pods': None, 'nodes': None,
                  'error': 'connection refused'}
        state = self.play(seen(1), seen(100, **silent), seen(700, **silent))

        self.assertEqual('', state.outcome)
