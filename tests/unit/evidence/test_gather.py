# SPDX-License-Identifier: Apache-2.0

import threading
import time

import testtools

from magnum_capi_tempest.evidence import gather


class TogetherTest(testtools.TestCase):

    def test_values_and_errors_come_by_their_names(self):
        def fail():
            raise RuntimeError('broken')

        self.assertEqual(
            {'a': 1, 'b': [2], 'bad': 'not available: RuntimeError: broken'},
            gather.run_in_parallel(
                {'a': lambda: 1, 'b': lambda: [2], 'bad': fail}, 5))
        self.assertEqual({}, gather.run_in_parallel({}, 1))

    def test_what_hangs_is_named_and_holds_up_nobody(self):
        release = threading.Event()
        self.addCleanup(release.set)
        begin = time.monotonic()

        found = gather.run_in_parallel(
            {'hangs': release.wait, 'too': release.wait, 'good': lambda: 1},
            0.5)

        self.assertEqual('not available: no answer in 0.5 s', found['hangs'])
        self.assertEqual(1, found['good'])
        self.assertLess(time.monotonic() - begin, 30)
