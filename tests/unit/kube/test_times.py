# SPDX-License-Identifier: Apache-2.0

import datetime

import testtools

from magnum_capi.kube import times


class TimesTest(testtools.TestCase):

    def test_with_and_without_a_fraction_of_a_second(self):
        for text, microsecond in (('2026-11-21T14:59:00Z', 0),
                                  ('2026-11-21T14:59:00.250000Z', 250000),
                                  ('2026-11-21T15:59:00+01:00', 0)):
            self.assertEqual(
                datetime.datetime(2026, 11, 21, 14, 59, 0, microsecond,
                                  datetime.timezone.utc), times.parse(text))

    def test_what_is_none(self):
        for text in ('', 'Z', 'now'):
            self.assertRaises(ValueError, times.parse, text)
