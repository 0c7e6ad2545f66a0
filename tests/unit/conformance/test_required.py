# SPDX-License-Identifier: Apache-2.0

"""The tests that certify a release: the version of the cluster decides."""

import pathlib
import unittest

import fixtures
import testtools

from magnum_capi_tempest.conformance.record import reading
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance.submission import check
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand
from tests.unit.conformance import submissions

#: What Kubernetes v1.36.5 does not require any more, v1.36.4 does.
DROPPED = '[sig-node] Pod InPlace Resize Container guaranteed pods with mul'


class VersionTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)

    def judged(self, version, names):
        """Verdict on the archive of a certified run of these tests."""
        path = self.folder / 'run.tar.gz'
        path.write_bytes(archives.by_library(submissions.certified(
            version=version, names=names)))
        return by_hand.judged(reading.read(path))

    @unittest.expectedFailure
    def test_a_patch_release_that_requires_less(self):
        names = [name for name in required.names('v1.36.0')
                 if not name.startswith(DROPPED)]
        self.assertEqual(443, len(names))

        found = self.judged('v1.36.5', names)

        self.assertEqual((verdict.PASSED, True),
                         (found.outcome, found.eligible))

    @unittest.expectedFailure
    def test_what_the_patch_release_before_required(self):
        names = [name for name in required.names('v1.36.4')
                 if not name.startswith(DROPPED)]

        found = self.judged('v1.36.4', names)

        self.assertEqual((verdict.INCOMPLETE, 3),
                         (found.outcome, len(found.missing)))
        self.assertEqual(443, len(required.names('v1.36.5')))

    @unittest.expectedFailure
    def test_the_current_release_is_known(self):
        self.assertEqual('v1.37', required.minors()[-1])
        self.assertEqual(462, len(required.names('v1.37.2')))

    @unittest.expectedFailure
    def test_a_release_that_is_not_certified_any_more(self):
        report = check.check(submissions.write(self.folder),
                             title=submissions.TITLE)

        self.assertEqual(['12'], [f.rule for f in report.findings])

    @unittest.expectedFailure
    def test_a_newer_release_is_compared_with_the_nearest_list(self):
        found = self.judged('v1.99.0', required.names('v1.36.0')[:-1])

        self.assertEqual((verdict.PASSED, False),
                         (found.outcome, found.eligible))
        self.assertRegex(found.hindrances[0], 'conformance lists update')
