# SPDX-License-Identifier: Apache-2.0


"""The single command from a Magnum cluster with real nodes to its report.

Needs root, containers, existing image archives (otherwise tens of minutes)
and MAGNUM_CAPI_LONG=1.
"""

import json
import pathlib

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi_tempest.conformance import sources
from tests.functional import boxes
from tests.system.nodes import real_nodes

TOP = pathlib.Path(__file__).parents[3]
COMMAND = TOP / 'tools' / 'run_conformance.sh'


@boxes.LONG
class RealNodesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        if found := real_nodes.problem():
            self.skipTest(found)
        self.results = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'results')
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(self.results.parent / 'state')))

    def test_quick(self):
        processes.run([COMMAND, '--driver', 'k8s_capi_v1', '--output',
                       self.results], timeout=1800, merge=True)

        page, = self.results.glob('*/conformance/**/report.html')
        said = json.loads(page.with_name('report.json').read_text())
        self.assertEqual('passed', said['conformance']['outcome'])
        self.assertTrue(said['conformance']['stand_in_images'])
        self.assertEqual(2, len(said['conformance']['cluster']['nodes']))
        archive, = page.parent.glob('*.tar.gz')
        self.assertTrue(sources.load(str(archive)).result.stand_in_images)
