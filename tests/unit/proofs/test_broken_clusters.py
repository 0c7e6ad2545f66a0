# SPDX-License-Identifier: Apache-2.0

"""What a report of a broken cluster must say."""

import testtools

from magnum_capi_tempest.conformance import verdict
from tests.proofs.broken_clusters import cases


class CasesTest(testtools.TestCase):

    def test_no_broken_cluster_may_pass(self):
        for case in (one for its in cases.CLUSTERS.values() for one in its):
            self.assertNotIn(verdict.PASSED, case.outcomes)
            self.assertEqual('', cases.cause(
                case, '# conformance: FAILED\n1 of 1 specs failed\n'))

    def test_the_cause_is_the_shortest_line_that_names_it(self):
        (dns,) = cases.CLUSTERS['dns']

        self.assertEqual(
            'cluster DNS: none of its pods is ready', cases.cause(dns, '''
- seen: cluster DNS: none of its pods is ready, for 3 minutes
| cluster DNS: none of its pods is ready |
'''))
