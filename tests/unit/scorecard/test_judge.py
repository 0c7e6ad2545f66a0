# SPDX-License-Identifier: Apache-2.0

"""What a run says of promises, profiles and a driver."""

import testtools

from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import report
from magnum_capi_tempest.scorecard import results
from tests.unit.scorecard import samples

WORKERS = samples.WORKERS
TWO = (samples.test('test_a', WORKERS), samples.test('test_b', WORKERS))
ROTATION = 'lifecycle.credential.rotation'


class PromiseTest(testtools.TestCase):

    def judged(self, described=None, **outcomes):
        return judge.judge(
            samples.outcomes(**outcomes), described, TWO)[WORKERS]

    def test_states(self):
        passed, skipped = {'test_a': 'passed'}, {'test_a': ('skipped', 'no')}
        left = ('failed', 'a port is left')
        for outcomes, state, reason in (
                ({**passed, 'test_b': 'passed'}, 'passed', '2 of 2 tests'),
                # one failure is enough
                ({**passed, 'test_b': ('failed', 'too few')}, 'failed',
                 'too few'),
                # a skip proves nothing
                ({**passed, 'test_b': ('skipped', 'no')}, 'passed',
                 '1 of 2 tests'),
                ({**skipped, 'test_b': 'skipped'}, 'untested', 'no'),
                ({}, 'untested', 'not among the tests that ran'),
                # a class that was not set up tried nothing
                ({'_': ('failed', 'boom')}, 'untested',
                 'its class was not set up: boom'),
                # one that left something fails what ran
                ({**passed, '_': left}, 'failed',
                 f'{samples.GROUP}: a port is left'),
                ({**skipped, 'test_b': 'skipped', '_': left}, 'untested',
                 'no')):
            found = self.judged(**outcomes)

            self.assertEqual((state, reason),
                             (found['state'], found['reason']),
                             outcomes)

    def test_the_tests_that_it_is_based_on(self):
        for outcomes, tests in (
                ({'test_a': 'passed', 'test_b': 'passed'}, TWO),
                ({'test_a': 'passed', 'test_b': 'failed'}, TWO[1:])):
            self.assertEqual([test.id for test in tests],
                             self.judged(**outcomes)['tests'])

    def test_what_the_driver_says_it_does_not_do(self):
        for described in (samples.described(unsupported=[WORKERS]),
                          samples.described(profiles=['upgrade'])):
            self.assertEqual('unsupported', self.judged(
                described, test_a='failed')['state'])

    def test_what_is_known_still_fails(self):
        for described, reason in (
                (samples.described(known_issues={WORKERS: 'bug 7'}), 'bug 7'),
                (samples.described(known_races={'XTest.test_a': 'bug 8'}),
                 'bug 8')):
            found = self.judged(described, test_a=('failed', 'x'))
            self.assertEqual(('failed', reason),
                             (found['state'], found['known_issue']))
            self.assertNotIn('known_issue', self.judged(
                described, test_a='passed'))
        # A race of one test explains no failure of another.
        self.assertNotIn('known_issue', self.judged(
            described, test_a='failed', test_b='failed'))


class MagnumTest(testtools.TestCase):

    def test_its_tests_fail_no_driver(self):
        tests = (*TWO, samples.test('test_api'), samples.test('test_other'))
        outcomes = samples.outcomes(test_api=('failed', '500'),
                                    test_other='skipped', test_a='passed')

        self.assertEqual(
            {'passed': 0, 'skipped': 1,
             'failures': [f'{samples.GROUP}.test_api']},
            judge.of_magnum(outcomes, tests))
        self.assertEqual('passed', judge.judge(
            outcomes, None, tests)[WORKERS]['state'])

    def test_what_a_release_has_not_got_is_not_asked(self):
        for magnum, state, profile in (
                ('20.0.2', 'unsupported', 'passed'),
                ('21.0.1', 'untested', 'untested'),
                # Clouds only tell their highest microversion.
                ('microversion 1.11', 'unsupported', 'passed'),
                ('microversion 1.12', 'untested', 'untested'),
                ('microversion 1.14', 'untested', 'untested'),
                ('', 'untested', 'untested')):
            one = judge.judge({}, None, magnum=magnum)[ROTATION]
            self.assertEqual(state, one['state'], magnum)

            found = samples.a_report()
            found['promises'][ROTATION] = one
            found = report.document(found, promises.PROFILES) | judge.totals(
                found['promises'], promises.PROFILES)
            self.assertEqual((profile, profile), (
                found['profiles']['lifecycle']['state'], found['verdict']))
            self.assertEqual([], report.problems(found))

    def test_what_fails_there_has_failed(self):
        tests = (samples.test('test_a', ROTATION),)

        found = judge.judge({tests[0].id: results.Outcome('failed', '404')},
                            None, tests, '20.0.2')

        self.assertEqual('failed', found[ROTATION]['state'])


class TotalsTest(testtools.TestCase):

    def totals(self, states=(), problems=(), asked=promises.PROFILES):
        found = judge.totals(samples.judgements(states), asked, problems)
        return found['verdict'], {name: one['state'] for name, one
                                  in found['profiles'].items()}

    def test_verdicts(self):
        passed = dict.fromkeys(promises.PROFILES, 'passed')
        scaling = dict.fromkeys((
            one.id for one in promises.known().values()
            if one.core and one.profile == 'autoscaling'), 'unsupported')
        for states, verdict, profiles in (
                ({}, 'passed', {}),
                # core decides, and is all of core
                ({WORKERS: 'failed'}, 'failed', {'lifecycle': 'failed'}),
                *(({WORKERS: state}, 'untested', {'lifecycle': 'untested'})
                  for state in ('untested', 'unsupported')),
                *(({samples.LAST: state}, 'passed', {})
                  for state in judge.STATES),
                # a profile that is not supported is left out
                (scaling, 'passed', {'autoscaling': 'unsupported'})):
            self.assertEqual((verdict, passed | profiles),
                             self.totals(states), states)

    def test_only_profiles_that_were_asked_for_count(self):
        self.assertEqual(('passed', {'upgrade': 'passed'}), self.totals(
            {WORKERS: 'failed'}, asked=('upgrade',)))

    def test_what_proves_nothing(self):
        self.assertEqual('untested', self.totals(
            problems=('the stream was cut',))[0])
        self.assertEqual('untested', judge.totals(
            judge.judge({}, None), promises.PROFILES)['verdict'])
