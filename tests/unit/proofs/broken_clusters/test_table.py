# SPDX-License-Identifier: Apache-2.0


import re

import testtools

from magnum_capi_tempest.conformance import verdict
from tests.proofs.broken_clusters import cases
from tests.proofs.broken_clusters import table

REPORT = '''# conformance: FAILED
**FAILED**: 1 of 1 specs failed
- seen in the cluster: cluster DNS: the Deployment coredns is scaled to 0
| wrong with the cluster | cluster DNS: the Deployment coredns is scaled to 0 |
'''


def row(report=REPORT, outcome=verdict.FAILED):
    case = cases.Case('x', 'DNS gone', 'before the run', None, None,
                      table.Expected((verdict.FAILED,), 'coredns is scaled'))
    return table.row(case, outcome, 1, report, 61.26)


class RowTest(testtools.TestCase):

    def test_right_verdict_and_cause(self):
        found = row()

        self.assertTrue(found.kept)
        self.assertEqual('seen in the cluster: cluster DNS: the Deployment '
                         'coredns is scaled to 0', found.told)

    def test_another_verdict_is_wrong(self):
        for outcome in (verdict.PASSED, verdict.HARNESS_ERROR,
                        table.NOT_BEGUN):
            self.assertFalse(row(outcome=outcome).kept)

    def test_a_report_without_the_cause_is_wrong(self):
        found = row('1 of 1 specs failed')

        self.assertEqual((True, '', False), (found.right, found.told,
                                             found.kept))

    def test_forms(self):
        self.assertIn('x: DNS gone before the run: failed, exit code 1, 61 s',
                      row().as_text())
        self.assertEqual(
            ('DNS gone', 'before the run', 'failed', '1', 'seen in the '
             'cluster: cluster DNS: the Deployment coredns is scaled to 0',
             '61', 'yes'), row().cells())
        self.assertEqual('no', row('', verdict.PASSED).cells()[-1])

    def test_nodes_without_the_name_of_their_release(self):
        found = row(REPORT + f'\nc{"0af" * 10}12-pool-x: coredns is scaled')

        self.assertEqual('pool-x: coredns is scaled', found.cells()[4])


class CasesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.all = [c for group in cases.CLUSTERS.values() for c in group]

    def test_names_differ_and_make_namespaces(self):
        names = [case.name for case in self.all]

        self.assertEqual(sorted(set(names)), sorted(names))
        for name in names:
            self.assertRegex(name, '^[a-z][a-z-]*$')

    def test_no_broken_cluster_may_pass(self):
        for case in self.all:
            self.assertNotIn(verdict.PASSED, case.expected.verdicts)
            re.compile(case.expected.cause)

    def test_every_break_that_was_asked_for_is_there(self):
        self.assertEqual(
            {'dns', 'network', 'disk', 'power'}, set(cases.CLUSTERS))
        self.assertEqual({cases.BEFORE, cases.DURING},
                         {case.when for case in self.all})
