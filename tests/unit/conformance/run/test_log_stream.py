# SPDX-License-Identifier: Apache-2.0

import itertools

import testtools

from magnum_capi_tempest.conformance.run import log_stream
from magnum_capi_tempest.kubeclient import kube
from tests.unit import fake_clock

ENDED = {'status': {'containerStatuses': [
    {'name': 'e2e', 'state': {'terminated': {'exitCode': 0}}}]}}
GOES_ON = {'status': {'phase': 'Running', 'containerStatuses': [
    {'name': 'e2e', 'state': {'running': {}}}]}}


def at(second, text):
    return f'2026-11-23T10:00:{second:02}.000000000Z {text}\n'.encode()


class Reader:
    """A log of several connections, each of pieces and perhaps an error.

    A number among the pieces is so many seconds without any.
    """

    def __init__(self, connections, pods=()):
        self.clock, self.queries = fake_clock.FakeClock(), []
        self._connections = iter(connections)
        self._pods = itertools.chain(pods, itertools.repeat(ENDED))

    def follow(self, path, quiet, **query):
        self.queries.append((path, query))
        for piece in next(self._connections):
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, int):
                self.clock.now += piece
            else:
                yield piece

    def get(self, path):
        return next(self._pods)


class FollowerTest(testtools.TestCase):

    def follow(self, *connections, pods=(), tail=None):
        self.said = []
        self.reader = Reader(connections, pods)
        return log_stream.Follower(
            self.reader, 'sonobuoy', 'e2e-job', 'e2e', self.said.append,
            self.reader.clock).texts(tail)

    def test_until_the_container_has_ended(self):
        self.assertEqual('a\nb\n', ''.join(self.follow(
            [at(1, 'a')[:40], at(1, 'a')[40:] + at(2, 'b')], tail=7)))

        (path, query), = self.reader.queries
        self.assertEqual('/api/v1/namespaces/sonobuoy/pods/e2e-job/log', path)
        self.assertEqual({'container': 'e2e', 'follow': 'true',
                          'timestamps': 'true', 'tailLines': 7}, query)
        self.assertEqual([], self.said)

    def test_a_pod_that_is_removed_has_ended(self):
        for pods, connections in (
                ([None], [[at(1, 'a')]]),
                ([], [[at(1, 'a'), kube.Quiet('x')],
                      [kube.KubeError('x', status=404)]])):
            self.assertEqual(['a\n'], list(self.follow(
                *connections, pods=pods)))

    def test_lines_come_while_it_goes_on(self):
        texts = self.follow([at(1, 'a'), 3, at(4, 'b'), at(4, 'c'), 3,
                             at(7, 'd'), kube.Quiet('x')], [])

        self.assertEqual(['a\n', 'b\nc\n', 'd\n'], list(texts))

    def test_silence_is_no_end_of_a_connection(self):
        self.assertEqual(['a\n', 'b\n'], list(self.follow(
            [at(1, 'a'), kube.Quiet('x')], [at(1, 'a'), at(2, 'b')])))

        self.assertEqual([], self.said)
        self.assertEqual('2026-11-23T10:00:01.000000000Z',
                         self.reader.queries[1][1]['sinceTime'])

    def test_a_lost_connection_is_told_once_and_goes_on(self):
        lost = kube.KubeError('no answer')
        texts = list(self.follow(
            [at(1, 'a'), 3, at(4, 'b'), lost], [lost], [lost],
            [at(1, 'a'), at(4, 'b'), at(5, 'c')], [at(6, 'd')],
            pods=[GOES_ON]))

        self.assertEqual('a\nb\nc\nd\n', ''.join(texts))
        self.assertEqual(2, len(self.said))
        self.assertIn('no log of e2e-job: no answer; reconnecting',
                      self.said[0])
        self.assertIn('the connection ended', self.said[1])

    def test_gives_up(self):
        lost = kube.KubeError('no answer')
        error = self.assertRaises(kube.KubeError, list, self.follow(
            *itertools.repeat([lost], 1000)))
        self.assertIn('for 10 minutes', str(error))
        self.assertIn('no answer', str(error))
        self.assertLess(len(self.reader.queries), 130)

        refused = kube.KubeError('no', status=403)
        self.assertIs(refused, self.assertRaises(
            kube.KubeError, list, self.follow([refused])))

    def test_a_key_stays_in_one_piece(self):
        texts = list(self.follow(
            [at(1, '-----BEGIN RSA PRIVATE KEY-----'), 3, at(4, 'MIIE'), 3,
             at(7, '-----END RSA PRIVATE KEY-----'), 3, at(9, 'z')]))

        self.assertEqual(['z\n'], texts[1:])
        # What a connection has cut is read again as a whole.
        key = [at(1, '-----BEGIN RSA PRIVATE KEY-----'), at(2, 'MIIE')]
        texts = list(self.follow([*key, kube.KubeError('x')], [
            *key, at(3, '-----END RSA PRIVATE KEY-----')]))
        self.assertEqual(1, len(texts))

    def test_memory_is_bounded(self):
        long = at(1, 'x' * 100_000)
        texts = list(self.follow(
            [long[:70_000], *[b'y' * 60_000] * 9, long[70_000:],
             *[at(2, 'z' * 60_000)] * 100]))

        self.assertLess(max(map(len, texts)), 1_200_000)
        self.assertTrue(texts[0].split('\n')[0].endswith('x [...]'))
        self.assertNotIn('y', texts[0])
        self.assertEqual(100, ''.join(texts).count('z' * 60_000))
