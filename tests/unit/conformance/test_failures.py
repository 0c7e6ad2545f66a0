# SPDX-License-Identifier: Apache-2.0
"""Which failures are one: messages of Gomega's and of the e2e framework."""

import testtools

from magnum_capi_tempest.conformance import failures
from tests.unit.conformance import by_hand

TIMED_OUT = """[FAILED] Unexpected error:
    <*errors.errorString | 0xc000{0}>:
    timed out waiting for pod {1} on worker-1
    {{
        s: "timed out",
    }}
occurred
In [It] at: /go/src/k8s.io/kubernetes/test/e2e/network/dns.go:{2} @ 01/02/26 \
03:04:05.678
"""


class SameTest(testtools.TestCase):
    """What differs between failures of one cause, and what does not."""

    def count(self, *lines, nodes=('worker-one', 'worker-one-b')):
        return len(failures.causes(
            [by_hand.failed(f't{number}', f'[FAILED] {line}')
             for number, line in enumerate(lines)], nodes))

    def test_words_that_differ_from_run_to_run(self):
        for one, other in (
                ('pod-1c9f3c52-94e4-4d55-8d21-5a1b1d6d5e3f failed',
                 'pod-2d0a4d63-05f5-4e66-9e32-6b2c2e7e6f40 failed'),
                ('dial tcp 10.96.0.1:443: i/o timeout',
                 'dial tcp 10.96.0.77:443: i/o timeout'),
                ('dial tcp [fd00:10:96::1]:443: refused',
                 'dial tcp [fd00:10:96::2]:443: refused'),
                ('at 2026-11-21T09:39:12.359Z', 'at 2026-11-21T10:00:00.1Z'),
                ('&Pod{0xc0012af3d0}', '&Pod{0xc0012af3e0}'),
                ('Timed out after 300.001s.', 'Timed out after 300.017s.'),
                ('pod coredns-7d9f8b6c5d-x2x4z is gone',
                 'pod coredns-7d9f8b6c5d-hjkpq is gone'),
                ('pod daemon-set-bcdfg', 'pod daemon-set-xkqzt'),
                ('pods "dns-4711" not found', 'pods "dns-815" not found'),
                ('no answer of worker-one', 'no answer of worker-one-b')):
            self.assertEqual(1, self.count(one, other), (one, other))

    def test_words_that_say_something(self):
        for one, other in (
                ('no route to host', 'connection refused'),
                ('pod kube-proxy is gone', 'pod web-server is gone'),
                ('no answer of worker-one', 'no answer of worker-one-x')):
            self.assertEqual(2, self.count(one, other), (one, other))


class CauseTest(testtools.TestCase):

    def cause(self, failure='', **kwargs):
        """The only cause of one failure."""
        cause, = failures.causes([by_hand.failed('a', failure, **kwargs)])
        return cause

    def test_failures_of_ginkgo_v1(self):
        # The first place is always that of the framework's own wrapper.
        wrapper = '/go/src/k8s.io/kubernetes/test/e2e/framework/framework.go'
        text = (f'{wrapper}:630\nJul 12 08:47:53.571: %s\n'
                '/go/src/k8s.io/kubernetes/test/e2e/%s')

        found = {str(self.cause(text % one))
                 for one in (('no DNS', 'network/dns.go:12'),
                             ('no node', 'apps/daemon_set.go:34'))}

        self.assertEqual({'no DNS (test/e2e/network/dns.go:12)',
                          'no node (test/e2e/apps/daemon_set.go:34)'}, found)

    def test_bare_first_line_takes_what_it_is_about(self):
        found = self.cause(TIMED_OUT.format('12af3', 'dns-bcd5g', 77))

        self.assertIn('timed out waiting for pod dns-bcd5g on worker-1',
                      found.message)
        self.assertEqual('test/e2e/network/dns.go:77', found.place)

    def test_same_words_elsewhere_are_another_cause(self):
        self.assertEqual(2, len(failures.causes([
            by_hand.failed('a', TIMED_OUT.format('12af3', 'dns-bcd5g', line))
            for line in (77, 78)])))

    def test_silent_failures(self):
        for spec, wanted in (
                (by_hand.unfinished('a'), 'It began and did not end'),
                (by_hand.failed('a'), 'It failed without a message'),
                (by_hand.failed('a', detail='panicked'),
                 'It panicked without a message')):
            self.assertEqual([wanted], list(map(
                str, failures.causes([spec]))))

    def test_message_of_a_megabyte(self):
        found = self.cause('[FAILED] ' + 'a1:' * 400_000)

        self.assertLessEqual(len(found.message), 300)

    def test_messages_and_events_show_no_secret(self):
        cause = self.cause(
            'no login with token: 0123456789abcdef', output=(
                'password=hunter2hunter2\nAt 2026-11-21 09:39:08 +0000 UTC - '
                'event for p: {kubelet n2} password=hunter2hunter2'))

        for text in (cause.message, failures.excerpt(cause.specs[0]),
                     *failures.events(cause.specs[0])):
            self.assertNotIn('hunter2', text)
            self.assertNotIn('0123456789abcdef', text)


class CausesTest(testtools.TestCase):

    def test_real_run_has_one_cause(self):
        result = by_hand.real(by_hand.PARALLEL)

        cause, = failures.causes(result.failures, result.cluster.nodes)

        self.assertEqual(4, len(cause.specs))
        self.assertEqual(('node',), cause.sigs)
        self.assertEqual(
            'test/e2e/framework/pod/output/output.go:263',
            cause.place)
        self.assertIn('[FAILED] expected "data-1=value-1"',
                      failures.excerpt(cause.specs[0]).splitlines()[-1])

    def test_real_events(self):
        result = by_hand.real(by_hand.PARALLEL)
        cause, = failures.causes(result.failures, result.cluster.nodes)

        events = failures.events(cause.specs[0])

        self.assertEqual(['Scheduled:', 'Pulled:', 'Created:', 'Started:'], [
            event.partition('} ')[2].split()[0] for event in events])
        self.assertTrue(events[1].startswith(
            '2026-11-21 09:39:08 pod-configmaps-'), events[1])
        self.assertEqual(('n2',), cause.nodes)


class ExcerptTest(testtools.TestCase):

    def test_ends_with_the_failure(self):
        lines = [f'line {i}' for i in range(100)]
        lines[50] = '[FAILED] here'

        found = failures.excerpt(by_hand.failed(
            'a', output='\n'.join(lines)), lines=3)

        self.assertEqual('line 48\nline 49\n[FAILED] here', found)


class SlowestTest(testtools.TestCase):

    def test_longest_first_without_those_not_timed_or_skipped(self):
        result = by_hand.result(
            by_hand.passed('a', 2.0), by_hand.passed('b', None),
            by_hand.failed('c', seconds=3.0), by_hand.passed('e', 1.0),
            by_hand.skipped('d', seconds=9.0))

        self.assertEqual(
            ['c', 'a'], [s.name for s in failures.slowest(result, 2)])
