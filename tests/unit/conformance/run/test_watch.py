# SPDX-License-Identifier: Apache-2.0

"""What is known of a run that is watched, and what people are told?"""

import json

from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import watch
from tests.unit.conformance.run import looks

LIMITS = looks.LIMITS
seen = looks.seen
status = looks.status


class TestErrors(looks.TestCase):

    SILENT = {'status': None, 'pods': None, 'nodes': None,
              'error': 'etcdserver: leader changed'}

    def test_one_error_is_not_the_end(self):
        state = self.play(
            seen(1, status=status(total=5, passed=2)), seen(2, **self.SILENT),
            seen(3, **self.SILENT), seen(40))

        self.assertEqual('', state.outcome)
        self.assertEqual(['no answer, asking again: etcdserver: leader '
                          'changed', 'answers again after 39 s'],
                         [n for n in self.notes if 'answer' in n])

    def test_counts_survive_it(self):
        state = self.play(seen(1, status=status(total=5, passed=2)),
                          seen(2, **self.SILENT))

        self.assertEqual(2, state.counts.passed)
        self.assertIn('no answer', messages.line(state, 2))

    def test_what_the_cluster_says_counts_without_sonobuoy(self):
        one = 'node n1: DiskPressure'
        state = self.play(seen(1), seen(
            2, status=None, error='x', signs=(one,),
            bad=(('n1', 'DiskPressure'),), nodes=frozenset(('n1',))))

        self.assertEqual(('node n1: DiskPressure',), state.signs)
        self.assertTrue(any('nodes left: n2' in n for n in self.notes))

    def test_prose_is_not_told_again_after_an_error(self):
        prose = {'status': None, 'said': 'The aggregator is Pending'}
        self.play(seen(1, **prose), seen(2, **self.SILENT), seen(3, **prose))

        self.assertEqual(1, self.notes.count('The aggregator is Pending'))

    def test_an_api_that_never_comes_back(self):
        state = self.play(seen(1), seen(400, **self.SILENT),
                          seen(900, **self.SILENT))
        self.assertEqual('', state.outcome)

        self.assertEqual(completion.UNREACHABLE, watch.step(
            state, seen(902, **self.SILENT), LIMITS).outcome)


class TestTold(looks.TestCase):

    def test_nodes_that_leave_and_join(self):
        self.play(seen(1), seen(2, nodes=frozenset(('n1', 'n3'))), seen(3))

        self.assertIn('nodes joined: n3', self.notes)
        self.assertTrue(any(n.startswith('nodes left: n2;')
                            for n in self.notes))

    def test_nodes_that_changed_while_nobody_watched(self):
        self.play(seen(1, nodes=frozenset(('n1',))))

        self.assertTrue(any('nodes left: n2' in n for n in self.notes))

    def test_what_is_wrong_with_the_cluster_is_told_once(self):
        one = 'node n2: not ready: x'
        state = self.play(seen(1, signs=(one,)), seen(2),
                          seen(3, signs=(one,)), seen(4, signs=()))

        self.assertEqual(
            ['the cluster: node n2: not ready: x'],
            [note for note in self.notes if 'cluster' in note])
        self.assertEqual(('node n2: not ready: x',), state.signs)

    def test_plugins_that_the_run_still_waits_for(self):
        def plugins(tests):
            return sonobuoy.Status('running', (
                sonobuoy.Plugin('e2e', 'global', tests),
                sonobuoy.Plugin('systemd-logs', 'n1', 'complete'),
                sonobuoy.Plugin('systemd-logs', 'n2', 'running')))

        self.play(*(seen(at, status=plugins(word)) for at, word in (
            (1, 'running'), (2, 'complete'), (3, 'complete'))))

        self.assertEqual(
            ['The tests have ended, and Sonobuoy waits for systemd-logs'],
            [note for note in self.notes if 'waits' in note])

    def test_prose_is_told_once(self):
        prose = {'status': None, 'said': 'The aggregator is Pending'}
        self.play(seen(1, **prose), seen(2, **prose))

        self.assertEqual(1, self.notes.count('The aggregator is Pending'))

    def test_a_line_with_counts_and_their_age(self):
        state = self.play(seen(1), seen(
            100, status=status(total=400, passed=99, failed=1)))

        self.assertEqual(
            'running, [######..................] 100/400, 1 failed, '
            'counted 0:01:00 ago, 0:02:40', messages.line(state, 160))

    def test_a_line_that_does_not_pretend(self):
        state = self.play(seen(1, status=status(total=388)))

        self.assertIn('nothing counted yet', messages.line(state, 2))

    def test_counts_of_the_log_stay_when_it_is_not_read(self):
        state = self.play(
            seen(1, status=status(total=388), log=(388, 7, 1)),
            seen(2, status=status(total=388)))

        self.assertEqual((8, 'e2e log', 1), (
            state.counts.done, state.counts.source, state.counts.updated))


class TestPlugins(looks.TestCase):

    def plugin(self, name, node='global', status='running', **kwargs):
        return {'plugin': name, 'node': node, 'status': status, **kwargs}

    def told(self, *plugins):
        return list(messages.plugins(sonobuoy.parse_status(json.dumps(
            {'status': 'running', 'plugins': plugins}))))

    def test_one_is_told_by_the_line(self):
        self.assertEqual([], self.told(self.plugin('e2e')))
        self.assertEqual([], list(messages.plugins(None)))

    def test_others_beside_the_tests(self):
        self.assertEqual(
            ['plugin e2e: running',
             'plugin systemd-logs: complete (passed) on 2 of 3 nodes, '
             'failed on 1 of 3 nodes'],
            self.told(self.plugin('e2e'),
                      *(self.plugin('systemd-logs', node, status, **{
                          'result-status': result}) for node, status, result
                        in (('n1', 'complete', 'passed'), ('n2', 'failed', ''),
                            ('n3', 'complete', 'passed')))))

    def test_failures_so_far(self):
        self.assertEqual(
            ['failed: [sig-x] a b'],
            self.told(self.plugin('e2e', progress={
                'failures': ['[It] [sig-x] a  b\x1b[31m']})))
