# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.discovery import request_log

#: As oslo.log writes it before each message.
HEAD = '2026-11-25 01:02:03.456 7 INFO magnum_capi.discovery.middleware [-] '


def line(text):
    return f'{HEAD}{text}\n'


class FindTest(testtools.TestCase):

    def found(self, request, *lines):
        return request_log.find(map(line, lines), request)

    def test_refused(self):
        entry = self.found(
            'req-2',
            request_log.decided('template create', 'req-1', ['x'], 201, 0, 0),
            request_log.decided('template create', 'req-2',
                                ['refused, ambiguous (a; b)'],
                                '400 by the filter', .001, .002),
            request_log.refused('template create', 'req-2', 400, 'No. Why?'))
        self.assertEqual(
            {'request': 'req-2', 'what': 'template create', 'status': 400,
             'decisions': 'refused, ambiguous (a; b)', 'said': 'No. Why?'},
            entry.data())
        self.assertFalse(entry.good)
        self.assertEqual([
            "This is about the template create 'req-2', which the filter "
            'answered with 400.', 'Decided: refused, ambiguous (a; b).',
            'The user was told: No. Why?'], entry.lines())

    def test_accepted(self):
        entry = self.found('r', request_log.decided(
            'cluster create', 'r', ['driver a'], 202, 0, 0))
        self.assertTrue(entry.good)
        self.assertIn('which Magnum answered with 202', entry.lines()[0])

    def test_without_an_answer(self):
        entry = self.found('r', request_log.decided(
            'cluster create', 'r', [], None, 0, 0))
        self.assertEqual((None, False), (entry.status, entry.good))
        self.assertIn('had no answer', entry.lines()[0])

    def test_before_any_decision(self):
        entry = self.found('r', request_log.refused(
            'request', 'r', 405, 'Not allowed.'))
        self.assertEqual(('', 'Not allowed.'), (entry.decisions, entry.said))

    def test_nothing(self):
        self.assertIsNone(self.found('req-1', 'x', request_log.refused(
            'request', 'req-12', 405, 'x')))

    def test_values_of_users_are_no_lines(self):
        # Quotes of users are escaped, so that nobody can write such a line.
        forged = request_log.decided(
            'template create', "req-1': ", ['x'], 201, 0, 0)
        self.assertIsNone(self.found('req-1', forged))

    def test_a_decision_that_speaks_of_answers(self):
        entry = self.found('r', request_log.decided(
            'template create', 'r', ["a '; answered 201; filter 1 ms'"],
            '400 by the filter', 0, 0))
        self.assertEqual(400, entry.status)
