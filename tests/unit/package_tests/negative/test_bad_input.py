# SPDX-License-Identifier: Apache-2.0

"""What is a refusal, and what is none."""

import testtools

from magnum_capi_tempest.tests.common.negative import bad_input


def refusal(status=400, detail='No.'):
    return bad_input.Answer(status, {'errors': [{'detail': detail}]})


class ComplaintTest(testtools.TestCase):

    def test_a_refusal_with_a_reason_is_good(self):
        self.assertIsNone(bad_input.complaint(refusal()))

    def test_tempest_unwraps_lists(self):
        self.assertIsNone(bad_input.complaint(
            bad_input.Answer(409, [{'title': 'No.', 'detail': ''}])))

    def test_success_is_none(self):
        self.assertEqual(
            'is accepted: 201', bad_input.complaint(bad_input.Answer(201, {})))

    def test_an_error_of_magnum_is_none(self):
        self.assertIn('is not an answer: 500',
                      bad_input.complaint(refusal(500)))

    def test_who_was_not_let_in_was_not_refused(self):
        for status in (401, 403):
            self.assertIn(f'is answered with {status}',
                          bad_input.complaint(refusal(status)))

    def test_other_statuses_can_be_expected(self):
        self.assertIsNone(
            bad_input.complaint(refusal(403), bad_input.DENIED))

    def test_a_refusal_needs_a_reason(self):
        for body in (None, {}, [], {'errors': []}, {'errors': [7]},
                     {'errors': [{'detail': '', 'title': None}]},
                     'Internal Server Error'):
            self.assertIn('without a reason', bad_input.complaint(
                bad_input.Answer(400, body)), body)

    def test_a_reason_is_none_with_words_from_inside(self):
        for detail in ('[SQL: SELECT 1]', 'File "/lib/site-packages/x.py"',
                       'Traceback (most recent call last): x'):
            self.assertIn('internal words', bad_input.complaint(
                refusal(detail=detail)), detail)

    def test_what_comes_back_can_be_written_anywhere(self):
        for text in bad_input.TEXTS.values():
            found = str(bad_input.Answer(500, {'errors': [{'detail': text}]}))

            self.assertTrue(found.isascii() and found.isprintable(), found)
