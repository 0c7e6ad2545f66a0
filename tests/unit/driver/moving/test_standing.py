# SPDX-License-Identifier: Apache-2.0

"""How what a cluster is made of is told, and who cannot be moved."""

import testtools

from magnum_capi.driver.desired import pins
from magnum_capi.driver.moving import standing


def standing_of(chart, version, name, uuid='u'):
    made_of = pins.Pins(chart=chart and pins.ChartPin(chart, None, version))
    return standing.Standing(uuid, name, 'p', 'CREATE_COMPLETE', made_of,
                             None, 'cannot be told')


class VersionTest(testtools.TestCase):

    def test_chart_that_is_a_folder_has_a_digest(self):
        chart = pins.ChartPin('/charts/c', None, None, 'abcdef0123456789')
        self.assertEqual('sha256:abcdef012345', standing.version(chart))
        self.assertEqual('/charts/c sha256:abcdef012345',
                         standing.said(chart))

    def test_chart_that_nobody_knows(self):
        self.assertEqual([standing.UNKNOWN] * 2, [
            standing.version(None), standing.said(None)])


class OrderedTest(testtools.TestCase):

    def test_by_chart_version_name_and_uuid(self):
        expected = [
            standing_of('a', '2', 'z'), standing_of('b', '1', 'y'),
            standing_of('b', '2', None), standing_of('b', '2', 'x', 'u1'),
            standing_of('b', '2', 'x', 'u2')]
        self.assertEqual(expected, standing.ordered(expected[::-1]))


class RefusalTest(testtools.TestCase):

    def test_statuses(self):
        for status, expected in (
                (None, ''), ('CREATE_COMPLETE', ''), ('UPDATE_COMPLETE', ''),
                ('UPDATE_FAILED', ''),
                ('CREATE_FAILED', 'its creation failed'),
                ('CREATE_IN_PROGRESS', 'an operation on it is in progress '
                 '(CREATE_IN_PROGRESS)'),
                ('DELETE_IN_PROGRESS', 'it is being deleted '
                 '(DELETE_IN_PROGRESS)')):
            self.assertEqual(expected, standing.refusal(status))
