# SPDX-License-Identifier: Apache-2.0

"""One sandbox, and a cluster for each kind of break."""

import shutil

import testscenarios

from magnum_capi import errors
from magnum_capi_tempest import containers
from tests.proofs import boxes
from tests.proofs.broken_clusters import box as box_module
from tests.proofs.broken_clusters import cases
from tests.proofs.broken_clusters import play
from tests.proofs.broken_clusters import table
from tests.proofs import case

load_tests = testscenarios.load_tests_apply_scenarios


class BrokenClusterTest(case.ProofTest):
    """A conformance run gives the right verdict and names the cause.

    A scenario is a cluster, which may be broken in several ways.
    """

    port_base = 33000
    columns = table.COLUMNS
    scenarios = [(name, {'name': name, 'its': its})
                 for name, its in cases.CLUSTERS.items()]

    def open(self):
        problem = containers.problem()
        if problem:
            raise errors.EnvironmentProblem(
                f'Real nodes cannot run here: {problem}')
        return boxes.shared(box_module.Box, self.port_base)

    def test_the_report_names_the_break(self):
        with self.box.cluster(self.name) as target:
            for one in self.its:
                folder = self.box.results / one.name
                # Left by an earlier run of the proof.
                shutil.rmtree(folder, ignore_errors=True)
                with self.box.progress.step(f'{one.broken} {one.when}'):
                    seen = play.play(self.box, one, target, folder)
                row = table.row(one, seen['verdict'], seen['exit_code'],
                                seen['report'], seen['seconds'])
                self.judge(row.kept, row.as_text(), row.cells())
