# SPDX-License-Identifier: Apache-2.0

"""What a run says of promises, profiles and a driver."""

import dataclasses
import json

import testtools

from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import report
from magnum_capi_tempest.scorecard import results
from tests.unit.scorecard import samples

WORKERS = samples.WORKERS
TWO = (samples.test('test_a', WORKERS), samples.test('test_b', WORKERS))


class PromiseTest(testtools.TestCase):

    def judged(self, *, described=None, tests=TWO, **outcomes):
        return samples.of_tests(
            tests, described, **outcomes).promises[WORKERS]

    def test_all_passed(self):
        self.assertEqual(
            judge.Judgement('passed', '2 of 2 tests', tuple(
                test.id for test in TWO)),
            self.judged(test_a='passed', test_b='passed'))

    def test_one_that_failed_is_enough(self):
        found = self.judged(test_a='passed', test_b=('failed', 'too few'))

        self.assertEqual(('failed', 'too few', (TWO[1].id,)),
                         (found.state, found.said, found.tests))

    def test_what_the_cloud_lacked_is_no_pass(self):
        found = self.judged(test_a='passed', test_b=('environment', 'quota'))

        self.assertEqual(('environment', 'quota'), (found.state, found.said))

    def test_a_failure_counts_before_what_the_cloud_lacked(self):
        self.assertEqual('failed', self.judged(
            test_a=('failed', 'x'), test_b=('environment', 'q')).state)

    def test_a_skip_proves_nothing_and_is_not_counted(self):
        self.assertEqual('1 of 2 tests', self.judged(
            test_a='passed', test_b=('skipped', 'no')).said)
        found = self.judged(test_a=('skipped', 'no'), test_b='skipped')
        self.assertEqual(('untested', 'no'), (found.state, found.said))

    def test_what_did_not_run(self):
        self.assertEqual('not among the tests that ran', self.judged().said)

    def test_a_class_that_was_not_set_up_tried_nothing(self):
        found = self.judged(_=('failed', 'boom'))

        self.assertEqual(('untested', 'its class was not set up: boom'),
                         (found.state, found.said))
        self.assertEqual('environment',
                         self.judged(_=('environment', 'quota')).state)

    def test_a_class_that_left_something_fails(self):
        found = self.judged(test_a='passed', _=('failed', 'a port is left'))

        self.assertEqual('failed', found.state)
        self.assertIn('a port is left', found.said)

    def test_a_class_that_left_something_says_nothing_of_skipped_tests(self):
        found = self.judged(test_a=('skipped', 'no'), test_b='skipped',
                            _=('failed', 'a port is left'))

        self.assertEqual(('untested', 'no'), (found.state, found.said))

    def test_what_the_driver_says_it_does_not_do(self):
        for described in (samples.described(unsupported=[WORKERS]),
                          samples.described(profiles=['upgrade'])):
            self.assertEqual('unsupported', self.judged(
                described=described, test_a='failed').state)

    def test_an_issue_that_is_known_still_fails(self):
        described = samples.described(known_issues={WORKERS: 'bug 7'})

        found = self.judged(described=described, test_a=('failed', 'x'))
        self.assertEqual(('failed', 'bug 7'),
                         (found.state, found.known_issue))
        self.assertEqual('', self.judged(
            described=described, test_a='passed').known_issue)

    def test_a_race_that_is_known_still_fails(self):
        described = samples.described(known_races={'XTest.test_a': 'bug 8'})

        found = self.judged(described=described, test_a=('failed', 'x'))
        self.assertEqual(('failed', 'bug 8'),
                         (found.state, found.known_issue))
        self.assertEqual('', self.judged(
            described=described, test_a='failed', test_b='failed'
        ).known_issue)


class MagnumTest(testtools.TestCase):

    def test_its_tests_fail_no_driver(self):
        found = samples.of_tests((*TWO, samples.test('test_api')),
                                 test_api=('failed', '500'), test_a='passed')

        self.assertEqual((f'{samples.GROUP}.test_api',),
                         found.magnum.failures)
        self.assertEqual('passed', found.promises[WORKERS].state)


class VerdictTest(testtools.TestCase):

    def of(self, **states):
        found = samples.judgements(**states)
        return judge.profiles(found), judge.verdict(found)

    def core(self, profile):
        return [one.id for one in promises.known().values()
                if one.core and one.profile == profile]

    def test_everything(self):
        profiles, verdict = self.of()

        self.assertEqual({'passed'}, {one.state for one in profiles.values()})
        self.assertEqual('passed', verdict)

    def test_core_that_failed_fails_its_profile_and_all(self):
        profiles, verdict = self.of(**{WORKERS: 'failed'})

        self.assertEqual(('failed', 'passed', 'failed'), (
            profiles['lifecycle'].state, profiles['upgrade'].state, verdict))

    def test_core_is_all_of_core(self):
        for state in ('untested', 'environment', 'unsupported'):
            profiles, verdict = self.of(**{WORKERS: state})

            self.assertEqual(('untested', 'untested'),
                             (profiles['lifecycle'].state, verdict), state)

    def test_what_a_release_has_not_got_is_not_asked(self):
        rotation = 'lifecycle.credential.rotation'
        for magnum, state, profile in (
                ('20.0.2', 'unsupported', 'passed'),
                ('21.0.1', 'untested', 'untested'),
                # Clouds only tell their highest microversion.
                ('microversion 1.11', 'unsupported', 'passed'),
                ('microversion 1.12', 'untested', 'untested'),
                ('microversion 1.14', 'untested', 'untested'),
                ('', 'untested', 'untested')):
            one = judge.judge({}, None, magnum=magnum).promises[rotation]
            self.assertEqual(state, one.state, magnum)
            judged = samples.judgements() | {rotation: one}
            self.assertEqual((profile, profile), (
                judge.profiles(judged)['lifecycle'].state,
                judge.verdict(judged)), magnum)
            self.assertEqual([], report.problems(json.loads(report.dumps(
                dataclasses.replace(samples.a_report(), promises=judged)))))

    def test_what_fails_there_has_failed(self):
        rotation = 'lifecycle.credential.rotation'
        tests = (samples.test('test_a', rotation),)
        found = judge.judge(
            {tests[0].id: results.Outcome('failed', '404')}, None, tests,
            '20.0.2')

        self.assertEqual('failed', found.promises[rotation].state)

    def test_what_is_extended_fails_nothing(self):
        for state in judge.STATES:
            self.assertEqual('passed', self.of(**{samples.LAST: state})[1])

    def test_a_profile_that_is_not_supported_is_left_out(self):
        profiles, verdict = self.of(**dict.fromkeys(
            self.core('autoscaling'), 'unsupported'))

        self.assertEqual(('unsupported', 'passed'),
                         (profiles['autoscaling'].state, verdict))

    def test_a_run_that_cannot_be_trusted_proves_nothing(self):
        self.assertEqual('untested', judge.verdict(
            samples.judgements(), ('the stream was cut',)))

    def test_nothing_is_no_proof(self):
        found = judge.judge({}, None)

        self.assertEqual('untested', judge.verdict(found.promises))
