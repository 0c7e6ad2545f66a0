# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.discovery import answers


class ErrorTest(testtools.TestCase):

    def test_it_has_magnums_shape(self):
        answer = answers.error(400, 'It is so. Do that.', 'req-1')
        self.assertEqual({'errors': [{
            'request_id': 'req-1', 'code': 'client', 'status': 400,
            'title': 'It is so. Do that', 'detail': 'It is so. Do that.',
            'links': []}]}, answer.json)
        self.assertEqual('400 Bad Request', answer.status)
        self.assertEqual('application/json', answer.headers['Content-Type'])

    def test_whose_fault_it_is(self):
        for status, whose in ((400, 'client'), (451, 'client'),
                              (500, 'server'), (503, 'server')):
            answer = answers.error(status, 'x')
            self.assertEqual(whose, answer.json['errors'][0]['code'])

    def test_markup_is_escaped_and_comes_back(self):
        answer = answers.error(400, '<b>&"é\u2028')
        self.assertEqual(b'', bytes(
            set(answer.body) & set('<>&\u2028é'.encode())))
        self.assertEqual('<b>&"é\u2028', answer.json['errors'][0]['detail'])
