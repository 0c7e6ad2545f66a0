# SPDX-License-Identifier: Apache-2.0

"""A cluster that is broken twice, without a cluster."""

import contextlib
import types

import fixtures

from magnum_capi import progress
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import containers
from tests.proofs.broken_clusters import cases
from tests.proofs.broken_clusters import test_broken_clusters as proof
from tests.unit.proofs import base


class BrokenClusterTest(base.CaseTest):

    def setUp(self):
        super().setUp()
        self.clusters = []
        self.box = types.SimpleNamespace(
            results=self.results, progress=progress.Silent(),
            cluster=self.cluster)
        self.useFixture(fixtures.MockPatchObject(
            containers, 'problem', lambda: ''))
        self.useFixture(fixtures.MockPatch(
            'tests.proofs.broken_clusters.play.play', self.play))

    @contextlib.contextmanager
    def cluster(self, name):
        self.clusters.append(name)
        yield 'target'

    def play(self, box, one, target, folder):
        self.assertEqual('target', target)
        self.assertFalse(folder.exists())
        folder.mkdir()
        return {'verdict': verdict.HARNESS_ERROR, 'exit_code': 3,
                'report': 'e2e: node has DiskPressure', 'seconds': 7.0}

    def test_all_breaks_of_a_cluster_are_played_in_it_and_judged(self):
        for _again in range(2):
            passed, _texts, rows = self.run_case(
                proof.BrokenClusterTest, self.box, name='disk',
                its=cases.CLUSTERS['disk'])

        self.assertFalse(passed)
        self.assertEqual(['disk', 'disk'], self.clusters)
        self.assertEqual(['Disk of a worker full', 'during the run',
                          'harness error', '3', 'e2e: node has DiskPressure',
                          '7', 'yes'], rows[0])
        self.assertEqual(['yes', 'no'], [row[-1] for row in rows])
