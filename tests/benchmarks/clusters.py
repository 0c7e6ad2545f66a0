# SPDX-License-Identifier: Apache-2.0
"""Many clusters at once against a running sandbox, again and again.

    python -m tests.benchmarks.clusters --clusters 5 --rounds 10
        [--driver NAME]

Prints, for every round, the wall time until all clusters were complete and
until all were gone, the CPU seconds of the sandbox's programs and their
memory, and how many clusters were said to be complete before all of their
machines ran. At the end it prints what must not happen: answers with a 5xx,
clusters that did not get where they should, "database is locked" in a log, and
what is left of a cluster in the cloud or in its management cluster. The exit
code is 1 when any of it happened.
"""

import argparse
import contextlib
import pathlib
import sys
import time

from magnum_capi import errors
from magnum_capi import waiting
import magnum_capi_sandbox as sandbox
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import leaks
from tests.functional import cloud

PATIENCE = 300

#: Machines of a cluster, by their kind.
MASTERS, WORKERS = 1, 2

_MACHINES = '/apis/cluster.x-k8s.io/v1beta1/machines'


class Magnum(cloud.Cloud):
    """Says which answers must not be."""

    def magnum(self, method, path, body=None, timeout=None):
        answer = super().magnum(method, path, body, timeout)
        if answer.status_code >= 500:
            print(f'{method} {path}: {answer.status_code} '
                  f'{answer.text[:300]}', file=sys.stderr)
        return answer

    def rows(self):
        """Rows by cluster id; None when Magnum cannot say right now.

        Its list is a 400 for the moment in which a cluster has no node
        groups yet ("master_count ... Value: '0'").
        """
        answer = self.magnum('GET', 'clusters')
        if answer.status_code != 200:
            return None
        return {c['uuid']: c for c in answer.json()['clusters']}


def wait(magnum, ids, over, see=lambda row: None):
    """Wait until ``over(status or None)`` for all; returns the statuses.

    :param see: called with each row whose status is another one.
    """
    last = dict.fromkeys(ids, 'not seen')

    def poll():
        rows = magnum.rows()
        if rows is None:
            return False
        for uuid in ids:
            row = rows.get(uuid)
            status = row and row['status']
            if row and status != last[uuid]:
                see(row)
            last[uuid] = status
        return all(map(over, last.values()))

    with contextlib.suppress(errors.WaitTimeout):
        waiting.wait_for(poll, done=bool, timeout=PATIENCE,
                         what='all clusters', pace=waiting.Pace(0.5, 1, 0.5))
    return last


def running(box, release):
    """How many machines of a cluster run."""
    return sum(
        machine['spec']['clusterName'] == release
        and machine.get('status', {}).get('phase') == 'Running'
        for machine in kube.Client(box.layout().kubeconfig).items(_MACHINES))


def usage(box):
    status = box.status()
    return sum(s.cpu for s in status), sum(s.memory for s in status) / 2**20


def refusals(box):
    """How often SQLite has refused a service of the sandbox."""
    return sum(log.read_bytes().count(b'database is locked')
               for log in box.layout().log.glob('*.log'))


def one_round(box, magnum, number, clusters):
    """Create and delete; returns the statuses that should not be."""
    cpu, _ = usage(box)
    begin = time.monotonic()
    ids, early = [], []
    for i in range(clusters):
        answer = magnum.magnum('POST', 'clusters', {
            'name': f'bench-{number}-{i}',
            'cluster_template_id': magnum.template, 'keypair': 'demo',
            'master_count': MASTERS, 'node_count': WORKERS})
        if answer.status_code == 202:
            ids.append(answer.json()['uuid'])

    def see(row):
        if row['status'] == 'CREATE_COMPLETE' and running(
                box, row['cluster_id']) < MASTERS + WORKERS:
            early.append(row['uuid'])

    made = wait(magnum, ids,
                lambda s: s and s.endswith(('COMPLETE', 'FAILED')), see)
    created = time.monotonic() - begin
    for uuid in ids:
        magnum.magnum('DELETE', f'clusters/{uuid}')
    begin = time.monotonic()
    gone = wait(magnum, ids, lambda s: s in (None, 'DELETE_FAILED'))
    deleted = time.monotonic() - begin
    cpu, rss = usage(box)[0] - cpu, usage(box)[1]
    print(f'{number:5} {created:9.1f} {deleted:9.1f} {cpu:7.1f} {rss:8.0f} '
          f'{len(early):8}', flush=True)
    return ([s for s in made.values() if s != 'CREATE_COMPLETE']
            + [s for s in gone.values() if s is not None]
            + ['not accepted'] * (clusters - len(ids)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--directory', type=pathlib.Path)
    parser.add_argument('--clusters', type=int, default=5)
    parser.add_argument('--rounds', type=int, default=10)
    parser.add_argument('--driver', help='default: Magnum chooses')
    args = parser.parse_args()
    box = sandbox.Box(args.directory)
    magnum = Magnum(box, args.driver, timeout=120)
    template = magnum.template
    there, locked = box.snapshot(), refusals(box)
    print('round created/s deleted/s   CPU s  Memory MiB  early')
    wrong = []
    for number in range(args.rounds):
        wrong += one_round(box, magnum, number, args.clusters)
    magnum.magnum('DELETE', f'clustertemplates/{template}')
    locked = refusals(box) - locked
    left = leaks.compare(there, box.snapshot())
    print(left)
    bad = sum(n for code, n in magnum.answers.items() if code >= 500)
    print(f'answers: {dict(sorted(magnum.answers.items()))}; 5xx: {bad}; '
          f'wrong or lost: {wrong or "none"}; "database is locked": {locked}')
    return 1 if wrong or bad or locked or left.leaks else 0


if __name__ == '__main__':
    sys.exit(main())
