# SPDX-License-Identifier: Apache-2.0

"""Reports: there and back, and what is none."""

import json

import testtools

from magnum_capi import errors
from magnum_capi_tempest.report import model
from magnum_capi_tempest.scorecard import report
from tests.unit.scorecard import samples


class ReportTest(testtools.TestCase):

    def test_there_and_back(self):
        for found in (samples.a_report({samples.LAST: ('failed', 'lost')}),
                      # of a run that was ended before its first test
                      samples.a_report(date='')):
            self.assertEqual([], report.problems(found))
            self.assertEqual(found, report.loads(json.dumps(found)))

    def test_what_is_none(self):
        for key, value in (
                ('kind', 'Pod'), ('verdict', 'good'), ('nodes', 'cloud'),
                ('stream', 'sha256:1'), ('promises', {}), ('more', 1),
                ('promises', {samples.WORKERS: {'state': 'kept'}}),
                # what the promises do not give, or nobody knows
                ('verdict', 'failed'),
                ('promises', samples.judgements({samples.WORKERS: 'failed'})),
                ('promises', {**samples.judgements(), 'lifecycle.resize.magic':
                              {'state': 'passed'}})):
            document = {**samples.a_report(), key: value}

            self.assertNotEqual([], report.problems(document), key)
            self.assertRaises(errors.UsageError, report.loads,
                              json.dumps(document))
        for text in ('{', '', '[' * 200_000, '{"seconds": NaN}'):
            error = self.assertRaises(errors.UsageError, report.loads, text)
            self.assertIn('not JSON', str(error))

    def test_of_a_run(self):
        run = model.Run('x', problems=('cut',), tests=(model.Test(
            'x', 'magnum_capi_tempest.tests.api.test_x.X.test_a',
            model.UNFINISHED),))

        found = report.of_run(
            run, f'sha256:{"0" * 64}', report.of_driver(None, 'k8s_y'), None,
            {'suite': '1', 'magnum': '23.0.0'}, 'memory', ('upgrade',),
            ['cut', 'interrupted'])

        self.assertEqual([], report.problems(found))
        self.assertEqual(
            ('untested', {'name': 'k8s_y', 'described': False}, ['upgrade']),
            (found['verdict'], found['driver'], [*found['profiles']]))
        first, second, third = found['problems']
        self.assertEqual(('cut', 'interrupted'), (first, third))
        self.assertIn('1 test did not end', second)
