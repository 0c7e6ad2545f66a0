# SPDX-License-Identifier: Apache-2.0

"""What is a refusal, what is none, and which deviations are known."""

import pathlib

import testtools

from magnum_capi_tempest.tests.common import bad_input

DOCUMENT = (pathlib.Path(__file__).parents[3] / 'doc' / 'source'
            / 'api-deviations.rst')


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
            'is taken: 201', bad_input.complaint(bad_input.Answer(201, {})))

    def test_an_error_of_magnum_is_none(self):
        self.assertIn('is no answer: 500', bad_input.complaint(refusal(500)))

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
            self.assertIn('words from inside', bad_input.complaint(
                refusal(detail=detail)), detail)

    def test_what_comes_back_can_be_written_anywhere(self):
        for text in bad_input.TEXTS.values():
            found = str(bad_input.Answer(500, {'errors': [{'detail': text}]}))

            self.assertTrue(found.isascii() and found.isprintable(), found)


class KnownTest(testtools.TestCase):

    def test_it_is_the_status_that_was_measured(self):
        self.assertTrue(bad_input.is_known(
            'boolean', 'a word', bad_input.Answer(500)))
        self.assertFalse(bad_input.is_known(
            'boolean', 'a word', bad_input.Answer(503)))
        self.assertFalse(bad_input.is_known(
            'boolean', 'a word', bad_input.Answer(201)))

    def test_success_has_several_statuses(self):
        for status in (200, 201, 202):
            self.assertTrue(bad_input.is_known(
                'number', 'a fraction', bad_input.Answer(status)))
        self.assertFalse(bad_input.is_known(
            'number', 'a fraction', bad_input.Answer(500)))

    def test_refusal_is_known_with_words_from_inside_only(self):
        known = ('signing request', 'SQL')
        self.assertTrue(bad_input.is_known(*known, refusal(
            detail='Received invalid csr.\n'
                   'Traceback (most recent call last):')))
        self.assertFalse(bad_input.is_known(*known, refusal(detail='')))
        self.assertFalse(bad_input.is_known(*known, bad_input.Answer(500)))

    def test_nothing_else_is_known(self):
        self.assertFalse(bad_input.is_known(
            'text', 'a number', bad_input.Answer(500)))

    def test_values_of_kinds_have_the_names_of_the_table(self):
        for kind, value in bad_input.KNOWN:
            if kind in bad_input.KINDS and value not in ('null', 'nothing'):
                self.assertIn(value, bad_input.KINDS[kind], kind)

    def test_the_document_has_them_all_and_no_others(self):
        rows = [line.strip()[2:] for line in
                DOCUMENT.read_text().splitlines()
                if line.strip().startswith('- ``')]
        wanted = [f'``{kind}``: {value!a}: {status}' for
                  (kind, value), status in bad_input.KNOWN.items()]

        self.assertEqual(sorted(wanted), sorted(rows))
