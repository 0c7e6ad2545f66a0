# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.leaks import model
from magnum_capi_tempest import rehearsal
from magnum_capi_tempest.sandbox import releases


class SummaryTest(testtools.TestCase):

    def test_an_outage(self):
        seen = [(0, 1, True), (2, 2.5, True), (3, 8, False), (9, 9.5, True)]

        self.assertEqual(
            rehearsal.Answers('x', 4, 1, 1, 7.0),
            rehearsal.summary('x', seen))

    def test_what_ends_without_an_answer_counts(self):
        seen = [(0, 1, False), (2, 3, True), (4, 9, False)]

        self.assertEqual(6, rehearsal.summary('x', seen).gap)

    def test_no_answer_at_all(self):
        self.assertEqual(
            rehearsal.Answers('x', 1, 1, 0.0, 5),
            rehearsal.summary('x', [(0, 5, False)]))

    def test_nobody_asked(self):
        self.assertEqual(rehearsal.Answers('x', 0, 0, 0.0, 0.0),
                         rehearsal.summary('x', []))


class ProbeTest(testtools.TestCase):

    def test_an_error_is_no_answer(self):
        asked = []

        def ask():
            asked.append(1)
            if len(asked) == 2:
                probe._over.set()
            if len(asked) == 1:
                raise ConnectionResetError
            return True

        with rehearsal.Probe('x', ask) as probe:
            probe._thread.join(10)

        self.assertEqual((2, 1), (probe.answers().asked,
                                  probe.answers().failed))


class ForgottenTest(testtools.TestCase):

    def forgotten(self, start, end, *thing):
        plan = rehearsal.Plan(releases.get(start), releases.get(end), 'd')
        return rehearsal.is_forgotten(plan, model.Thing(*thing), ['uuid-1'])

    def test_trusts_and_trustees_of_the_clusters(self):
        for thing in (('trust', 'x'), ('user', 'x', 'uuid-1_project')):
            self.assertTrue(self.forgotten('20', '23', *thing))
            self.assertFalse(self.forgotten('20', '22', *thing))

    def test_others(self):
        for thing in (('user', 'x', 'somebody'), ('port', 'x', 'uuid-1')):
            self.assertFalse(self.forgotten('20', '23', *thing))
