# SPDX-License-Identifier: Apache-2.0

"""What is a refusal, and what is none."""

import testtools

from magnum_capi_tempest.tests.common.negative import bad_input


def refusal(status=400, detail='No.'):
    return bad_input.Answer(status, {'errors': [{'detail': detail}]})


class ComplaintTest(testtools.TestCase):

    def test_what_is_wrong(self):
        denied, unwrapped = bad_input.DENIED, bad_input.Answer(
            409, [{'title': 'No.', 'detail': ''}])
        for answer, expected, said in (
                (refusal(), bad_input.REFUSED, None),
                # Tempest unwraps objects of one member.
                (unwrapped, bad_input.REFUSED, None),
                (refusal(403), denied, None),
                (bad_input.Answer(201, {}), bad_input.REFUSED,
                 'is accepted: 201'),
                (refusal(500), bad_input.REFUSED, 'is not an answer: 500'),
                # Who was not let in was not refused.
                *((refusal(status), bad_input.REFUSED,
                   f'is answered with {status}') for status in (401, 403)),
                *((bad_input.Answer(400, body), bad_input.REFUSED,
                   'without a reason') for body in (
                       None, {}, [], {'errors': []}, {'errors': [7]},
                       {'errors': [{'detail': '', 'title': None}]},
                       'Internal Server Error')),
                *((refusal(detail=detail), bad_input.REFUSED,
                   'internal words') for detail in (
                       '[SQL: SELECT 1]', 'File "/lib/site-packages/x.py"',
                       'Traceback (most recent call last): x'))):
            found = bad_input.complaint(answer, expected)
            if said is None:
                self.assertIsNone(found, answer)
            else:
                self.assertIn(said, found or '', answer)

    def test_what_comes_back_can_be_written_anywhere(self):
        for text in bad_input.TEXTS.values():
            found = str(bad_input.Answer(500, {'errors': [{'detail': text}]}))

            self.assertTrue(found.isascii() and found.isprintable(), found)
