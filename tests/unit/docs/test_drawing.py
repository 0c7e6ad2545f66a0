# SPDX-License-Identifier: Apache-2.0

"""The drawing of the rooms."""

from xml.etree import ElementTree

import testtools

from tests.unit.docs import extensions

drawing = extensions.load('drawing')

_SVG = '{http://www.w3.org/2000/svg}'


class DrawingTest(testtools.TestCase):

    def test_who_imports_stands_above(self):
        self.assertEqual([['cli'], ['a'], ['b'], ['c', 'd']], drawing.ranks(
            {'a': {'b', 'c'}, 'b': {'c'}, 'c': set(), 'd': set(),
             'cli': {drawing.ANY}}))

    def test_a_circle_is_named(self):
        error = self.assertRaises(ValueError, drawing.ranks,
                                  {'a': {'b'}, 'b': {'a'}})
        self.assertIn('a -> b', str(error))

    def test_every_room_and_door_of_this_house_is_drawn(self):
        table = drawing.doors()
        root = ElementTree.fromstring(drawing.svg(table))

        self.assertEqual(
            sorted(room.removeprefix('magnum_capi.') for room in table),
            sorted(text.text for text in root.iter(f'{_SVG}text')))
        self.assertEqual(
            sum(len(targets - {drawing.ANY}) for targets in table.values()),
            len(root.findall(f'{_SVG}path')))
        self.assertIn('magnum_capi.discovery', table['sandbox'])
