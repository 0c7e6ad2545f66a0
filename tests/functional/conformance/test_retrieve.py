# SPDX-License-Identifier: Apache-2.0


"""Archives that finally arrive complete, through a real exec stream."""

import dataclasses
import pathlib

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import verdict
from tests.functional.conformance import base as base
from tests.functional.conformance import scripted_cluster as scripted
from tests.unit import fake_clock


class TestRetrieve(base.BaseTest):
    """Through a real exec stream, of k8s.io/apimachinery."""

    def setUp(self):
        super().setUp()
        self.announced = base.complete(base.QUICK)

    def retrieve(self, *execs, announced=None):
        self.there = self.cluster(announced or self.announced, running=True,
                                  execs=execs)
        runs.save(runs.Run(
            self.base / 'r1', self.request(self.there).target,
            runner.Plan(mode=model.QUICK), keep=True,
            started='2026-11-21T09:24:00+00:00'))
        return lifecycle.attach(self.base / 'r1', dataclasses.replace(
            self.runtime, clock=fake_clock.FakeClock()))

    def attempts(self):
        return [line for line in self.progress.lines
                if line.startswith('attempt')]

    def test_streams_that_break(self):
        ended = self.retrieve(
            scripted.Exec(), self.sent(base.QUICK, limit=5000),
            self.sent(base.QUICK, limit=0), scripted.Exec(code=1),
            self.sent(base.FAILED), self.sent(base.QUICK))

        self.assertEqual(base.QUICK.read_bytes(),
                         pathlib.Path(ended.result.source).read_bytes())
        self.assertEqual(5, len(self.attempts()), self.attempts())
        self.assertIn('instead of', self.attempts()[4])
        # The run stays where it is.
        self.assertTrue(self.there.objects)

    def test_another_archive_of_the_same_size(self):
        content = bytearray(base.QUICK.read_bytes())
        content[1000] ^= 1
        other = self.base / base.QUICK.name
        other.write_bytes(content)

        error = self.assertRaises(errors.WaitAborted, self.retrieve,
                                  self.sent(other))
        self.assertIn('conformance attach', str(error))
        self.assertEqual([runs.FILE], [
            path.name for path in (self.base / 'r1').iterdir()])

    def test_a_hash_that_does_not_match(self):
        error = self.assertRaises(
            errors.WaitAborted, self.retrieve, self.sent(base.QUICK),
            announced=base.complete(base.QUICK, sha256='ab' * 32))

        self.assertIn('SHA-256', str(error))

    def test_nothing_is_fetched_before_there_is_something(self):
        self.announced = base.complete(base.QUICK, size=0)
        limits = watch.Limits(10**9, stall=2)
        self.runtime = dataclasses.replace(self.runtime, limits=limits)

        ended = self.retrieve(self.sent(base.QUICK))

        self.assertEqual(verdict.HARNESS_ERROR, ended.outcome)
        self.assertNotIn(f'POST {scripted.SPACE}/pods/sonobuoy/exec',
                         self.there.asked)
