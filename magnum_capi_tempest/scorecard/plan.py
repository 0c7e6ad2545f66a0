# SPDX-License-Identifier: Apache-2.0

"""What a run of the suite takes of a cloud, before it begins. Pure.

Counted from the tests: ``python -m tests.suite_table`` writes the table. A
call in a loop counts once there, and so does one behind a condition, so that
the numbers are those of a run with all options and flags, more or less.
"""

import csv
import dataclasses
import functools
import math
import pathlib

COSTS = pathlib.Path(__file__).with_name('costs.csv')

#: Operations that make or replace nodes, and are waited for.
CHANGES = ('resize_cluster', 'upgrade_cluster', 'create_nodegroup',
           'delete_nodegroup')

#: Nodes by which a test lets a cluster grow, the most: HardNamesTest.
GROWTH = 5

#: What each cluster has one of, as Cluster API Provider OpenStack makes it.
_EACH = ('floating IPs', 'load balancers', 'networks', 'routers')

#: How long a deletion takes beside a creation.
_DELETION = 1 / 3


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a class sets up, or a test asks for besides.

    :param id: of :class:`~.suite.Test`, or of its class.
    :param clusters: that are created.
    :param changes: of nodes, of all of these and of the clusters of a class.
    """

    id: str
    clusters: int
    changes: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run takes.

    :param clusters: in all.
    :param changes: in all.
    :param at_once: clusters at one time, the most.
    :param nodes: at one time, the most.
    :param hours: by what a creation takes.
    :param minutes: that a creation takes.
    """

    clusters: int
    changes: int
    at_once: int
    nodes: int
    hours: float
    workers: int
    minutes: float

    @property
    def quotas(self) -> dict[str, int]:
        """What there is at one time, by kind, in all projects of the run."""
        return {'clusters': self.at_once, 'servers': self.nodes,
                **dict.fromkeys(_EACH, self.at_once)}


@functools.cache
def costs() -> tuple[Cost, ...]:
    """What takes clusters, in the order of the suite's modules."""
    with open(COSTS, newline='', encoding='utf-8') as file:
        _, *rows = csv.reader(file)
    return tuple(Cost(id, int(clusters), int(changes))
                 for id, clusters, changes in rows)


def plan(found, *, workers: int = 2, minutes: float = 15.0,
         masters: int = 1, nodes: int = 1) -> Plan:
    """Add up what a run takes.

    Workers take classes: at one time there are the clusters of as many
    classes. Nodes are changed as slowly as they are made, and clusters go
    three times as fast as they come.

    :param found: of :class:`Cost`.
    :param minutes: that a cluster takes until it is complete.
    :param masters: control plane nodes of a cluster.
    :param nodes: its workers.
    """
    clusters = sum(cost.clusters for cost in found)
    changes = sum(cost.changes for cost in found)
    largest = sorted(classes(found).values(), reverse=True)[:workers]
    serial = clusters * (1 + _DELETION) + changes
    return Plan(
        clusters, changes, sum(largest),
        sum(largest) * (masters + nodes) + GROWTH * len(largest),
        math.ceil(serial * minutes / workers / 6) / 10, workers, minutes)


def lines(found: Plan) -> list[str]:
    """A plan in words."""
    there = ', '.join(f'{number} {kind}'
                      for kind, number in found.quotas.items())
    return [
        f'A run creates {found.clusters} clusters, and changes the nodes of '
        f'clusters {found.changes} times.',
        f'With {found.workers} workers, at most {there} exist at a time.',
        f'If a cluster takes {found.minutes:g} min, the run takes about '
        f'{found.hours:g} h.']


def classes(found) -> dict[str, int]:
    """Clusters that a class has at one time, the most, by its id.

    Those that it has set up, and those of one of its tests.
    """
    shared = {cost.id: cost.clusters for cost in found
              if not _is_test(cost.id)}
    most = dict(shared)
    for cost in found:
        if _is_test(cost.id):
            case = cost.id.rpartition('.')[0]
            most[case] = max(most.get(case, 0),
                             shared.get(case, 0) + cost.clusters)
    return most


def _is_test(ident):
    return ident.rpartition('.')[2].startswith('test_')
