# SPDX-License-Identifier: Apache-2.0

"""What a terminal shows of a test when it ends."""

import io

import fixtures
import testtools

from magnum_capi_tempest.workspace import live
from tests.unit.report import streams

TRACEBACK = '''Traceback (most recent call last):
  File "x.py", line 1, in test
    ask()
tempest.lib.exceptions.BadRequest: Bad request
Details: no such flavor
'''


class LiveTest(testtools.TestCase):

    def shown(self, stream):
        return self.written(stream)[0]

    def written(self, stream):
        """Lines of standard output and of standard error."""
        out, err = (self.useFixture(fixtures.StringStream(name)).stream
                    for name in ('out', 'err'))
        self.useFixture(fixtures.MonkeyPatch('sys.stdout', out))
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', err))
        live.Live().read(io.BytesIO(stream.data))
        return [text.seek(0) or text.read().splitlines()
                for text in (out, err)]

    def test_tests_of_a_class_that_was_not_set_up_are_done(self):
        stream = streams.Stream()
        for name in ('a.B.test_one[id-1]', 'a.B.test_two[id-2]',
                     'a.Bc.test_three[id-3]', 'a.D.test_four[id-4]'):
            stream.listed(name)
        stream.test('setUpClass (a.B)', 'skip', reason='no flavor')
        stream.test('setUpClass (a.D)', 'fail', traceback=TRACEBACK)

        self.assertIn('3 of 4 tests, 0 failed, 1 class failed',
                      self.written(stream)[1][-1])

    def test_a_failure_says_what_was_wrong(self):
        line, = self.shown(streams.Stream().test(
            'a.B.test_one[id-1,slow]', 'fail', tags=['worker-1'],
            traceback=TRACEBACK))

        self.assertIn('{1} a.B.test_one [1.0s] ... FAILED: ', line)
        self.assertIn('Bad request Details: no such flavor', line)

    def test_a_skip_says_why(self):
        line, = self.shown(streams.Stream().test(
            'a.B.test_one', 'skip', reason='no\nflavor'))

        self.assertEqual('{0} a.B.test_one ... SKIPPED: no flavor', line)
