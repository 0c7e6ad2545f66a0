# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.report import model
from tests.proofs.suite_defects import tables
from tests.proofs.suite_defects import verdicts

DEFECT = tables.Defect('one', 'nothing', 'scenario.test_x.XTest.test_y',
                       'wanted [0-9]+ nodes')


def test(status=model.FAILED, why='', name='XTest.test_y'):
    details = (model.Detail('reason', why),) if why else ()
    return model.Test(name, f'a.{name}', status, 1.0, details)


def run(*tests, **kwargs):
    return model.Run('run', tests=tests, seconds=12.3, **kwargs)


class JudgeTest(testtools.TestCase):

    def judge(self, *tests):
        return verdicts.judge(DEFECT, run(*tests))

    def test_a_failure_of_the_defect_has_seen_it(self):
        trial = self.judge(test(why='it wanted\n  3 nodes'))

        self.assertTrue(trial.seen)
        self.assertEqual(('it wanted 3 nodes', 12.3),
                         (trial.text, trial.seconds))

    def test_a_failure_of_something_else_has_not(self):
        trial = self.judge(test(why='no network'))

        self.assertFalse(trial.seen)
        self.assertEqual('its test failed of something else: no network',
                         trial.text)

    def test_what_passes_or_is_skipped_has_not(self):
        for status in (model.PASSED, model.SKIPPED, model.UNFINISHED):
            trial = self.judge(test(status, 'wanted 3 nodes'))

            self.assertFalse(trial.seen)
            self.assertIn(status, trial.text)

    def test_what_did_not_run_has_not(self):
        trial = self.judge(test(why='wanted 3 nodes',
                                name='setUpClass (a.XTest)'))

        self.assertFalse(trial.seen)
        self.assertIn('did not run, but setUpClass', trial.text)
        self.assertFalse(self.judge().seen)


class FalseAlarmsTest(testtools.TestCase):

    def alarms(self, *tests, **kwargs):
        return verdicts.false_alarms([DEFECT.id], run(*tests, **kwargs))

    def test_none(self):
        self.assertEqual([], self.alarms(test(model.PASSED)))

    def test_what_fails_or_is_skipped_or_never_ran(self):
        for status in (model.FAILED, model.SKIPPED, model.UNFINISHED):
            self.assertEqual([f'XTest.test_y {status}: why'],
                             self.alarms(test(status, 'why')))
        self.assertEqual(['XTest.test_y did not run'], self.alarms())

    def test_a_fixture_of_a_class(self):
        self.assertEqual(
            ['tearDownClass (a.XTest) failed: leak'],
            self.alarms(test(model.PASSED), test(
                why='leak', name='tearDownClass (a.XTest)')))

    def test_a_record_that_is_cut(self):
        self.assertEqual(['cut'], self.alarms(
            test(model.PASSED), problems=('cut',)))


class TextTest(testtools.TestCase):

    def test_cells(self):
        self.assertEqual(
            [('one', 'nothing', DEFECT.test, 'text', '12'),
             ('one', 'nothing', DEFECT.test, 'MISSED: text', '12')],
            [verdicts.Trial(DEFECT, seen, 'text', 12.3).cells()
             for seen in (True, False)])

    def test_terminal(self):
        self.assertEqual(
            '  12 s  one: XTest.test_y\n                 text',
            verdicts.Trial(DEFECT, False, 'text', 12.3).as_text())
