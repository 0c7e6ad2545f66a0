# SPDX-License-Identifier: Apache-2.0
import base64
import json
import urllib.parse

import testtools

from magnum_capi_tempest import redact

VALUE = 'h/4 "x"\\y+7'


class KnownTest(testtools.TestCase):

    def test_a_value_goes_in_every_form(self):
        known = redact.Known([VALUE])
        for form in (VALUE, json.dumps(VALUE)[1:-1], repr(VALUE)[1:-1],
                     json.dumps(json.dumps(VALUE)),
                     urllib.parse.quote(VALUE, safe='')):
            shown = redact.examine(f'the user said {form}, twice', known)

            self.assertIn('<redacted>', shown.text)
            self.assertNotIn('x', shown.text)
            self.assertEqual({redact.SECRET: 1}, shown.counts)

    def test_a_value_goes_in_base64_of_more(self):
        known = redact.Known([VALUE])
        for before in range(6):
            text = base64.b64encode(
                ('u' * before + VALUE + 'v').encode()).decode()

            shown = redact.redact(f'got {text}', known)

            # Its neighbours share a character with it at each end.
            self.assertLess(len(shown.replace('<redacted>', '')),
                            len('got ') + 4 * before / 3 + 8)

    def test_words_and_short_ones_are_not_looked_for(self):
        text = 'the password is a secret, 12345'

        self.assertEqual(text, redact.redact(
            text, redact.Known(['password', 'secret', '12345'])))

    def test_secrets_of_a_file(self):
        text = ('[auth]\nadmin_username = admin\nadmin_password = hunter2,x\n'
                '[x]\nuri = mysql://bob:pa55@host\ntoken = None\n')

        self.assertEqual(['pa55', 'hunter2,x'], redact.secrets(text))
