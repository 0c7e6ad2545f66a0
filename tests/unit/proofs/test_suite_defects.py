# SPDX-License-Identifier: Apache-2.0

"""Nothing of the seeded defects is lost, and none is seen by mistake."""

import pathlib
import tomllib

import testtools

from magnum_capi_tempest.report import model
from magnum_capi_tempest.scorecard import suite
from tests.proofs.suite_defects import tables
from tests.proofs.suite_defects import verdicts

DRIVERS = pathlib.Path(__file__).resolve().parents[2] / 'defects'


def ended(name, status=model.PASSED, why=''):
    return model.Test(name, f'x.{name}', status, details=(
        model.Detail('reason', why),) if why else ())


class TableTest(testtools.TestCase):

    def test_every_driver_is_in_the_table_with_a_test_of_a_promise(self):
        with open(DRIVERS / 'pyproject.toml', 'rb') as file:
            entries = tomllib.load(file)['project']['entry-points'][
                'magnum.drivers']
        # It raises ValueError for names and expressions that are wrong.
        defects = tables.defects()

        self.assertEqual(sorted(entries),
                         sorted(defect.driver for defect in defects))
        for defect in defects:
            # It raises LookupError for those that are not.
            self.assertNotEqual('', suite.get(defect.id).promise, defect.name)


class VerdictTest(testtools.TestCase):

    defect = tables.Defect('lost', 'loses it', 'a.T.test', 'it is .* lost')

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
