# SPDX-License-Identifier: Apache-2.0

"""Reports: there and back, and what is none."""

import json

import testtools

from magnum_capi import errors
from magnum_capi_tempest.scorecard import report
from tests.unit.scorecard import samples

PATHS = (('kind', 'Pod'), ('verdict', 'good'), ('nodes', 'cloud'),
         ('stream', 'sha256:1'), ('promises', {}), ('more', 1),
         ('promises', {'lifecycle.resize.workers': {'state': 'kept'}}))


class ReportTest(testtools.TestCase):

    def test_there_and_back(self):
        found = samples.a_report(last_resize_wins=('failed', 'lost'))

        self.assertEqual(found, report.loads(report.dumps(found)))

    def test_a_right_one_has_no_problems(self):
        self.assertEqual([], report.problems(
            report.document(samples.a_report())))

    def test_what_does_not_fit_the_schema(self):
        for key, value in PATHS:
            document = {**report.document(samples.a_report()), key: value}

            self.assertNotEqual([], report.problems(document), key)
            self.assertRaises(errors.UsageError, report.loads,
                              json.dumps(document))

    def test_a_verdict_that_the_promises_do_not_give(self):
        document = report.document(samples.a_report(
            **{samples.WORKERS: 'failed'}))
        document['verdict'] = 'passed'

        found, = report.problems(document)
        self.assertIn('$.verdict: "passed"', found)

    def test_a_promise_that_nobody_knows(self):
        document = report.document(samples.a_report())
        document['promises']['lifecycle.resize.magic'] = {'state': 'passed'}

        self.assertIn('$.promises: there is no promise '
                      'lifecycle.resize.magic', report.problems(document))

    def test_what_is_no_json(self):
        self.assertRaises(errors.UsageError, report.loads, '{')

    def test_only_profiles_that_were_asked_for_count(self):
        found = samples.a_report(
            asked=('upgrade',), **{samples.WORKERS: 'failed'})

        self.assertEqual(('passed', ['upgrade']),
                         (found.verdict, list(found.profiles)))

    def test_a_driver_that_nobody_has_described(self):
        self.assertEqual({'name': 'k8s_y', 'described': False},
                         report.of_driver(None, 'k8s_y'))
