# SPDX-License-Identifier: Apache-2.0

"""Sequences of messages: the text, and the drawing."""

from xml.etree import ElementTree

import testtools

from tests.unit.docs import extensions

sequence = extensions.load('sequence')

_SVG = '{http://www.w3.org/2000/svg}'

LINES = ('user -> API: POST /v1/clusters: <one>', '', 'later',
         'API -> API: think', 'API --> user: 202')


class SequenceTest(testtools.TestCase):

    def test_messages_and_remarks(self):
        self.assertEqual(
            [('user', '->', 'API', 'POST /v1/clusters: <one>'),
             ('', '', '', 'later'), ('API', '->', 'API', 'think'),
             ('API', '-->', 'user', '202')], sequence.parse(LINES))
        self.assertRaises(ValueError, sequence.parse, ['user -> API'])

    def test_everything_is_drawn_once(self):
        messages = sequence.parse(LINES)

        root = ElementTree.fromstring(sequence.svg(messages, 'A & B'))

        texts = [' '.join(text.itertext())
                 for text in root.iter(f'{_SVG}text')]
        self.assertEqual(
            sorted(['user', 'API', *(text for *_, text in messages)]),
            sorted(texts))
        self.assertEqual('A & B', root.find(f'{_SVG}title').text)
        self.assertEqual(['call', 'call', 'answer'], [
            path.get('class') for path in root.findall(f'{_SVG}path')
            if path.get('class') != 'life'])

    def test_a_message_is_drawn_below_the_one_before(self):
        root = ElementTree.fromstring(sequence.svg(
            sequence.parse(LINES), ''))

        heights = [float(span.get('y')) for span in root.iter(f'{_SVG}tspan')]

        self.assertEqual(sorted(set(heights)), heights)
        self.assertLess(heights[-1],
                        float(root.get('viewBox').split()[-1]))
