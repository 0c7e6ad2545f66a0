# SPDX-License-Identifier: Apache-2.0

"""The comparison of the proof: what it must not let pass."""

import testtools

from magnum_capi_tempest.report import model
from tests.proofs.discovery import compare

PLAIN = compare.expected('T.plain', ['smoke'])
CURED = compare.expected('T.cured', ['smoke', 'magnum-d1'])
UNCURED = compare.expected('T.uncured', ['magnum-d7', 'uncured'])
APART = compare.expected('T.apart', [compare.BROKEN])


def ended(name, status=model.PASSED, why=''):
    return model.Test(name, f'x.{name}', status, details=(
        model.Detail('reason', why),) if why else ())


def run(*tests, problems=()):
    return model.Run('a run', tests=tests, problems=problems)


class ExpectedTest(testtools.TestCase):

    def test_with_the_filter_only_what_it_cannot_cure_fails(self):
        self.assertEqual(
            [False, False, True],
            [t.fails(True) for t in (PLAIN, CURED, UNCURED)])

    def test_without_it_every_deviation_fails(self):
        self.assertEqual(
            [False, True, True],
            [t.fails(False) for t in (PLAIN, CURED, UNCURED)])

    def test_what_has_sandboxes_of_its_own(self):
        self.assertEqual([False, False, True], [
            t.apart for t in (PLAIN, UNCURED, APART)])


class DifferencesTest(testtools.TestCase):

    def differences(self, *tests, problems=()):
        return compare.differences(
            run(*tests, problems=problems), [PLAIN, UNCURED],
            # Any true value will do.
            lambda t: t.deviations)

    def assert_differs(self, expected, *tests):
        self.assertEqual([expected], self.differences(*tests))

    def test_as_expected(self):
        self.assertEqual([], self.differences(
            ended('T.plain'), ended('T.uncured', model.FAILED)))

    def test_one_fails_that_must_pass(self):
        self.assert_differs(
            'T.plain must pass and failed: for a reason',
            ended('T.plain', model.FAILED, 'for\na reason'),
            ended('T.uncured', model.FAILED))

    def test_one_passes_that_must_fail(self):
        self.assert_differs('T.uncured must fail and passed',
                            ended('T.plain'), ended('T.uncured'))

    def test_one_that_was_skipped_proves_nothing(self):
        self.assert_differs(
            'T.uncured must fail and was skipped: not set', ended('T.plain'),
            ended('T.uncured', model.SKIPPED, 'not set'))

    def test_one_did_not_run(self):
        self.assert_differs('T.plain must pass and did not run',
                            ended('T.uncured', model.FAILED))

    def test_one_did_not_end(self):
        self.assert_differs(
            'T.uncured must fail and is unfinished', ended('T.plain'),
            ended('T.uncured', model.UNFINISHED))

    def test_a_fixture_of_a_class_failed(self):
        self.assert_differs(
            'setUpClass (T) is no test that was wanted, and failed: x',
            ended('T.plain'), ended('T.uncured', model.FAILED),
            ended('setUpClass (T)', model.FAILED, 'x'))

    def test_what_is_left_by_one_that_must_fail(self):
        def leaks(*left):
            return ended('tearDownClass (T)', model.FAILED, '\n'.join((
                'x.LeakFound: 2 left behind; last seen:', *(
                    f'cluster c (1), left by: a.{name}[id-1,magnum-d7]'
                    for name in left))))

        others = ended('T.plain'), ended('T.uncured', model.FAILED)
        self.assertEqual([], self.differences(*others, leaks('T.uncured')))
        for left in ['T.plain'], ['T.uncured', 'T.plain'], []:
            found, = self.differences(*others, leaks(*left))
            self.assertIn('is no test that was wanted', found)

    def test_one_ran_twice(self):
        self.assert_differs(
            'T.plain ended twice', ended('T.plain'), ended('T.plain'),
            ended('T.uncured', model.FAILED))

    def test_a_cut_record(self):
        self.assertEqual(['cut'], self.differences(
            ended('T.plain'), ended('T.uncured', model.FAILED),
            problems=('cut',)))

    def test_one_of_no_deviation_may_be_skipped(self):
        self.assertEqual([], self.differences(
            ended('T.plain', model.SKIPPED, 'of no promise of discovery'),
            ended('T.uncured', model.FAILED)))


class FindingsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.name = ('ShadowedDriverTest.'
                     'test_a_beta_driver_stops_nobody')
        self.test = compare.expected(self.name, ['magnum-d5', 'uncured'])
        self.finding = {'code': 'beta-wins',
                        'subject': 'type (vm, fedora, kubernetes)'}

    def test_found(self):
        self.assertEqual([], compare.without_finding(
            [self.test, PLAIN], [self.finding]))

    def test_not_found(self):
        for other in ({'code': 'clash'}, {'subject': 'type (vm, x, y)'}):
            found, = compare.without_finding(
                [self.test], [self.finding | other])
            self.assertIn(self.name, found)

    def test_a_test_that_nobody_thought_of(self):
        found, = compare.without_finding([UNCURED], [self.finding])

        self.assertIn('add it to FINDINGS', found)

    def test_still_found(self):
        self.assertEqual([], compare.still_found([self.test], []))
        self.assertEqual(
            ['The audit still says beta-wins of '
             'type (vm, fedora, kubernetes)'],
            compare.still_found([self.test], [self.finding]))


class UncleanTest(testtools.TestCase):

    VALUES = "os_distro is '<script>alert(1)</script>'"

    def test_clean(self):
        self.assertEqual([], compare.unclean(
            f'a line\n{self.VALUES}\n\tTraceback of somebody\n'))

    def test_raw_values(self):
        for value in ('\x1b[2J', 'one\r', '\u202eeerht', 'w' * 4096):
            found, = compare.unclean(f'{self.VALUES}\nis {value}\n')
            self.assertTrue(found.isprintable())

    def test_values_that_were_not_logged(self):
        found, = compare.unclean('a line\n')

        self.assertIn('says nothing', found)
