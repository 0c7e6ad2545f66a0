# SPDX-License-Identifier: Apache-2.0

"""One sandbox, and a cluster for each kind of break."""

import pathlib
import shutil

from magnum_capi import errors
from magnum_capi_tempest import containers
from tests.proofs.broken_clusters import box as box_module
from tests.proofs.broken_clusters import cases
from tests.proofs.broken_clusters import play
from tests.proofs.broken_clusters import table
from tests.proofs import proof


class BrokenClusters(proof.Proof):
    name = 'broken-clusters'
    summary = ('Break real clusters, and show that conformance runs give the '
               'right verdict and name the cause.')
    words = 'right', 'WRONG'
    columns = table.COLUMNS
    key = columns[:2]
    compared = ('Verdict', 'Exit code', 'Right')
    docs = proof.DOCS / 'broken-clusters.csv'
    port_base = 33000

    def add_options(self, parser):
        parser.add_argument('--driver', default='k8s_capi_v1',
                            help='Magnum driver (default: k8s_capi_v1)')
        parser.add_argument('--images', type=pathlib.Path, metavar='DIR',
                            help='folder of image archives')

    def cases(self, args):
        """A case for each cluster, which may be broken in several ways."""
        return [proof.Case(name, '; '.join(f'{one.broken} {one.when}'
                                           for one in its), data=its)
                for name, its in cases.CLUSTERS.items()]

    def open(self, work):
        problem = containers.problem()
        if problem:
            raise errors.EnvironmentProblem(
                f'Real nodes cannot run here: {problem}')
        return box_module.Box(work)

    def run(self, box, case):
        with box.cluster(case.name) as target:
            for one in case.data:
                folder = box.results / one.name
                # Left by an earlier run of the proof.
                shutil.rmtree(folder, ignore_errors=True)
                with box.progress.step(f'{one.broken} {one.when}'):
                    seen = play.play(box, one, target, folder)
                yield {'case': one.name, **seen}

    def judge(self, case, seen, results):
        one, = (one for one in case.data if one.name == seen['case'])
        row = table.row(one, seen['verdict'], seen['exit_code'],
                        seen['report'], seen['seconds'])
        return proof.Row(row.kept, row.as_text(), row.cells())


PROOF = BrokenClusters()
