# SPDX-License-Identifier: Apache-2.0
"""The rehearsal of an upgrade, from the oldest Magnum to the newest."""

import json
import pathlib

from magnum_capi_tempest.sandbox import releases
from tests.functional import boxes

DRIVER = pathlib.Path(__file__).resolve().parents[3] / 'drivers/k8s_capi_v1'


class RehearsalTest(boxes.TestCase):

    @boxes.LONG
    def test_from_the_oldest_to_the_newest(self):
        box = self.box()
        seen = box.base / 'seen.json'

        ended = box.call(
            'rehearse', '--from', releases.RELEASES[0].name, '--install',
            str(DRIVER), '--driver', DRIVER.name, '--results', str(seen))

        self.assert_done(ended)
        found = json.loads(seen.read_text())
        self.assertEqual([], found['left'])
        # A trust and its user for each of the two earlier clusters.
        self.assertEqual(4, len(found['forgotten']))
        *workloads, magnum = found['answers']
        self.assertEqual([0, 0], [w['failed'] for w in workloads])
        # It was replaced twice, so its absence must have been noticed.
        self.assertGreater(magnum['failed'], 0)
        seen.unlink()
        self.assert_nothing_left(box)


class RefusalTest(boxes.TestCase):

    def test_a_way_back(self):
        box = self.box()

        self.assertIn('only upgrades are possible', self.assert_one_line(
            2, box.call('rehearse', '--from', '2026.2', '--to', '2026.1',
                        '--driver', 'x')))
        self.assert_nothing_left(box)
