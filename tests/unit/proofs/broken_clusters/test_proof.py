# SPDX-License-Identifier: Apache-2.0

"""A cluster that is broken twice, without a cluster."""

import contextlib
import pathlib
import types

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi_tempest.conformance import verdict
from tests.proofs.broken_clusters import cases
from tests.proofs.broken_clusters import proof
from tests.proofs import proof as proof_module


class ProofTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.results = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.clusters = []
        self.box = types.SimpleNamespace(
            results=self.results, progress=progress.Silent(),
            cluster=self.cluster)
        self.useFixture(fixtures.MockPatch(
            'tests.proofs.broken_clusters.play.play', self.play))
        self.case = proof_module.Case('disk', data=cases.CLUSTERS['disk'])

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

    def test_all_cases_of_a_cluster_are_played_in_it(self):
        for _again in range(2):
            seen = list(proof.PROOF.run(self.box, self.case))

        self.assertEqual(['disk', 'disk-before'],
                         [one['case'] for one in seen])
        self.assertEqual(['disk', 'disk'], self.clusters)

    def test_each_is_judged_by_what_it_expects(self):
        rows = [proof.PROOF.judge(self.case, seen, self.results)
                for seen in proof.PROOF.run(self.box, self.case)]

        self.assertEqual([True, False], [row.good for row in rows])
        self.assertEqual(('Disk of a worker full', 'during the run',
                          'harness error', '3', 'e2e: node has DiskPressure',
                          '7', 'yes'), rows[0].cells)
