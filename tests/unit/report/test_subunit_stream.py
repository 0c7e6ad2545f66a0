# SPDX-License-Identifier: Apache-2.0
"""A run that was written as a stream is the same when it is read."""

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import subunit_stream
from tests.unit.report import streams


class RoundTripTest(testtools.TestCase):

    def again(self, run):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path = folder / 'run.subunit'
        path.write_bytes(subunit_stream.render(run))
        return subunit.read(path, title=run.title)

    def test_every_status(self):
        tests = tuple(
            model.Test(f'[sig-a] {status}.', f'[sig-a] {status}.', status,
                       None if status == model.UNFINISHED else 1.5,
                       (model.Detail('reason', 'why [x]\nmore'),
                        model.Detail('log', 'the log')), ('slow',)
                       if status != model.UNFINISHED else ())
            # The reader gives those without an end last, and finds what the
            # cloud lacked in the reason.
            for status in sorted({*model.STATUSES} - {model.ENVIRONMENT}))
        run = model.Run('T', streams.START, 1.5, tests)

        self.assertEqual(run, self.again(run))

    def test_without_a_start_there_are_no_times(self):
        found = self.again(model.Run('T', tests=(
            model.Test('a', 'a', model.PASSED, 5.0),)))

        self.assertEqual((None, None), (found.started,
                                        found.tests[0].seconds))
        self.assertTrue(found.ok)

    def test_red_for_another_reason_than_a_test(self):
        found = self.again(model.Run(
            'T', tests=(model.Test('a', 'a', model.PASSED),),
            problems=('cut',)))

        failure, = found.failures
        self.assertEqual(subunit_stream.VERDICT, failure.id)
        self.assertEqual('the record is damaged\ncut', failure.reason)

    def test_hostile_texts(self):
        evil = 'a\x1b[31m\x00b\n\udc80'
        found = self.again(model.Run('T', tests=(model.Test(
            evil, evil, model.FAILED, details=(model.Detail(
                evil, evil),)),)))

        test, = found.tests
        self.assertNotRegex(test.id + test.details[0].text,
                            '[\x00\x1b\udc80]')
