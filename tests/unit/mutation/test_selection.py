# SPDX-License-Identifier: Apache-2.0

import testtools

from tests.mutation import rooms
from tests.mutation import running
from tests.mutation import selection
from tests.unit.mutation import adding


class MeasureTest(testtools.TestCase):

    def test_what_each_test_reaches(self):
        package = self.useFixture(adding.Adding())

        measured = selection.measure(
            package.room, package.top / 'kept', running.Processes())

        self.assertEqual(
            {adding.SUM, adding.MORE, adding.NOTHING},
            set(measured.tests_of(adding.FILE, 3, adding.CODE)))


class RoomsTest(testtools.TestCase):

    def test_each_has_sources_and_tests(self):
        for room in rooms.ROOMS.values():
            for pattern in (*room.sources, *room.tests):
                self.assertTrue(list(rooms.TOP.glob(pattern)), pattern)
            self.assertTrue(room.files() and room.modules())
