# SPDX-License-Identifier: Apache-2.0


import datetime

import testtools

from magnum_capi_tempest.tests.common.workloads import downtime

LOG = """\
2026-11-21T12:00:00.500000001Z address=ok name=ok
2026-11-21T12:00:02.25Z address=ok name=no
2026-11-21T13:00:03+01:00 address=no name=no
sh: something else
2026-11-21T12:00:04Z address=maybe name=ok
2026-11-21T25:00:04Z address=ok name=ok
"""
NOON = datetime.datetime(2026, 11, 21, 12,
                         tzinfo=datetime.timezone.utc).timestamp()


def rounds(client, *pairs):
    """Rounds of (second, answered); by address and by name alike."""
    return [downtime.Round(at, client, frozenset(downtime.WAYS) if ok
                           else frozenset()) for at, ok in pairs]


class ParseTest(testtools.TestCase):

    def test_a_log(self):
        found = list(downtime.parse(LOG, 'c'))

        self.assertEqual([0.5, 2.25, 3.0], [r.at - NOON for r in found])
        self.assertEqual(
            [{'address', 'name'}, {'address'}, set()],
            [r.answered for r in found])


class SummariseTest(testtools.TestCase):

    def summary(self, *found, begin=0, end=10):
        return downtime.summarise(found, 'address', begin, end)

    def test_a_gap_is_between_answers_of_anybody(self):
        found = self.summary(
            *rounds('a', (0, True), (2, False), (4, False), (9, True),
                    (10, False)),
            *rounds('b', (5, True), (10, True)))

        self.assertEqual((5, ('a', 2)), (found.gap, found.worst))

    def test_before_the_first_and_after_the_last_answer(self):
        self.assertEqual(6, self.summary(
            *rounds('a', (3, True), (4, True))).gap)
        self.assertEqual(10, self.summary().gap)

    def test_what_was_before_or_after_does_not_count(self):
        found = self.summary(*rounds('a', (-1, False), (1, True), (11, False)),
                             end=2)

        self.assertEqual((1, 0), (found.rounds, found.failed))

    def test_ways_are_apart(self):
        named = downtime.Round(1, 'a', frozenset(('name',)))

        self.assertEqual(1, self.summary(named).failed)
        self.assertEqual(0, downtime.summarise(
            [named], 'name', 0, 2).failed)

    def test_what_people_read(self):
        text = str(self.summary(
            *rounds('a', (0, True), (1, False), (3, False), (4, True)),
            end=4))

        self.assertEqual('2 of 4 rounds without an answer, none at all for '
                         '4.0 s, longest 2.0 s for a', text)
