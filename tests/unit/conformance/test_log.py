# SPDX-License-Identifier: Apache-2.0

"""The two ends of an e2e log, and names."""

import fixtures
import testtools

from magnum_capi_tempest.conformance import log as logs
from magnum_capi_tempest.conformance import names
from tests.unit.conformance import archives


def scan(data, size=1000):
    reader = logs.Reader()
    for at in range(0, len(data), size):
        reader.feed(memoryview(data)[at:at + size].tobytes())
    return reader.close()


class LogTest(testtools.TestCase):

    def test_both_ends(self):
        log = scan(archives.log(2, 1, 1, 9))

        self.assertEqual((2, 2, 3.423), (log.planned, log.ran, log.seconds))
        self.assertFalse(log.success)
        self.assertEqual({'Passed': 1, 'Failed': 1, 'Pending': 0,
                          'Skipped': 7}, log.counts)

    def test_what_lies_between_is_not_kept(self):
        more = 'STEP: something\n' * 50_000
        self.useFixture(fixtures.MockPatchObject(logs, 'HEAD', 5000))
        self.useFixture(fixtures.MockPatchObject(logs, 'TAIL', 5000))
        reader = logs.Reader()
        data = archives.log(3, 3, 0, 9, more)
        for at in range(0, len(data), 777):
            reader.feed(data[at:at + 777])

        self.assertLess(len(reader._tail), 20_000)
        log = reader.close()
        self.assertEqual((3, 3), (log.planned, log.ran))
        self.assertTrue(log.success)

    def test_versions_have_their_lines(self):
        log = scan(b'I1 e2e.go:132] e2e test version: v1.34.1\n\n'
                   b'I1 e2e.go:143] kube-apiserver version: v1.33.1+x\n'
                   b'Random Seed: 17\n\n\x1b[1mRan 424 of 7137 Specs in '
                   b'7425.407 seconds\x1b[0m\n\x1b[1mSUCCESS!\x1b[0m -- 424 '
                   b'Passed | 0 Failed | 0 Pending | 6713 Skipped')

        self.assertEqual(
            ((('v1.34', 1), ('v1.33', 3)), 'v1.33.1+x', '17', True),
            (log.versions, log.server, log.seed, log.success))
        self.assertTrue(log.end.startswith('SUCCESS! -- 424 Passed'))

    def test_cut(self):
        log = scan(archives.log(2, 1, 1)[:-70])

        self.assertEqual((2, None, {}), (log.planned, log.ran, log.counts))
        self.assertIn('SSSSS', log.last)

    def test_colours_flakes_and_timeouts(self):
        log = scan(b'\x1b[1mWill run 3 of 5 specs\x1b[0m\n'
                   b'\x1b[1mRan 3 of 5 Specs in 1.000 seconds\x1b[0m\n'
                   b'FAIL! - Suite Timeout Elapsed -- \x1b[32m1 Passed\x1b[0m'
                   b' | 2 Failed | 1 Flaked | 0 Pending | 2 Skipped\n')

        self.assertEqual((3, 3, 1, 2, 1), (
            log.planned, log.ran, log.counts['Passed'],
            log.counts['Failed'], log.counts['Flaked']))

    def test_nothing_and_noise(self):
        for data in (b'', b'\xff\xfe' * 100, b'Will run many of 3 specs\n'):
            with self.subTest(data):
                self.assertIsNone(scan(data).planned)


class NamesTest(testtools.TestCase):

    def test_specs(self):
        self.assertEqual('[sig-a] b c', names.spec(
            '[It] [sig-a] b  c '))
