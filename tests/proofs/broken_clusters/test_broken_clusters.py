# SPDX-License-Identifier: Apache-2.0

"""One sandbox, and a cluster for each kind of break."""

import shutil
import time

import testscenarios

from tests.proofs.broken_clusters import box as box_module
from tests.proofs.broken_clusters import cases
from tests.proofs.broken_clusters import play
from tests.proofs import case
from tests.proofs import tables

load_tests = testscenarios.load_tests_apply_scenarios


class BrokenClusterTest(case.ProofTest):
    """A conformance run gives the right verdict and names the cause.

    A scenario is a cluster, which may be broken in several ways.
    """

    kind = box_module.Box
    columns = ('What was broken', 'When', 'Verdict', 'Exit code',
               'What the report says of it', 'Seconds', 'Right')
    scenarios = [(name, {'name': name, 'its': its})
                 for name, its in cases.CLUSTERS.items()]

    def test_the_report_names_the_break(self):
        with self.box.cluster(self.name) as target:
            for one in self.its:
                folder = self.results / one.name
                # Left by an earlier run of the proof.
                shutil.rmtree(folder, ignore_errors=True)
                began = time.monotonic()
                with self.box.progress.step(f'{one.broken} {one.when}'):
                    outcome, code, report = play.play(
                        self.box, one, target, folder)
                told = cases.cause(one, report)
                right = outcome in one.outcomes and bool(told)
                self.judge(right, (
                    one.broken, one.when, outcome, str(code),
                    tables.plain(told),
                    f'{time.monotonic() - began:.0f}',
                    'yes' if right else 'no'))
