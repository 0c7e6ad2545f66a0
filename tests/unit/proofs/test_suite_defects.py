# SPDX-License-Identifier: Apache-2.0

"""Nothing of the seeded defects is lost, and none is seen by mistake."""

import testtools

from magnum_capi_tempest.report import model
from tests.proofs.suite_defects import tables
from tests.proofs.suite_defects import verdicts


def ended(name, status=model.PASSED, why=''):
    return model.Test(name, f'x.{name}', status, details=(
        model.Detail('reason', why),) if why else ())


class TableTest(testtools.TestCase):

    def test_every_driver_names_a_test_of_a_promise(self):
        # It raises errors for what cannot be read.
        defects = tables.defects()

        self.assertNotEqual((), defects)
        for defect in defects:
            self.assertNotEqual('', defect.known.promise, defect.name)


class VerdictTest(testtools.TestCase):

    defect = tables.Defect('lost', 'loses it', 'T.test', 'it is .* lost')

    def test_a_defect_is_seen_by_its_own_test_and_reason(self):
        for seen, tests in (
                (True, [ended('T.test', model.FAILED, 'it is\nquite lost')]),
                (False, [ended('T.test', model.FAILED, 'no such host')]),
                (False, [ended('T.test')]),
                (False, [ended('T.test', model.SKIPPED, 'it is all lost')]),
                (False, [ended('setUpClass (T)', model.FAILED,
                               'it is all lost')]),
                (False, [])):
            self.assertEqual(seen, verdicts.judge(
                self.defect, model.Run('', tests=tuple(tests)))[0], tests)

    def test_a_false_alarm_is_anything_but_a_pass(self):
        for alarms, tests, problems in (
                (0, [ended('T.test')], ()),
                (1, [ended('T.test', model.FAILED, 'why')], ()),
                (1, [ended('T.test', model.SKIPPED)], ()),
                (1, [], ()), (1, [ended('T.test')], ('cut',)),
                (1, [ended('T.test'), ended('setUpClass (T)', model.FAILED)],
                 ())):
            self.assertEqual(alarms, len(verdicts.false_alarms(
                ['a.T.test'], model.Run('', tests=tuple(tests),
                                        problems=problems))), tests)
