# SPDX-License-Identifier: Apache-2.0

"""Estimates what a run of the suite needs from a cloud. Pure.

The numbers come from the tests: ``python -m tests.suite_table`` writes the
table. A call in a loop or behind a condition counts once, so the numbers are
approximately those of a run with all options and flags.
"""

import csv
import dataclasses
import functools
import math
import pathlib

COSTS = pathlib.Path(__file__).with_name('costs.csv')

#: Operations that create or replace nodes, and that tests wait for.
CHANGES = ('resize_cluster', 'upgrade_cluster', 'create_nodegroup',
           'delete_nodegroup')

#: Most nodes by which a test lets a cluster grow: HardNamesTest.
GROWTH = 5

#: Resources that each cluster has one of, with Cluster API Provider OpenStack.
_EACH = ('floating IPs', 'load balancers', 'networks', 'routers')

#: The duration of a deletion, relative to a creation.
_DELETION = 1 / 3


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a class sets up, or a test creates in addition.

    :param id: of :class:`~.suite.Test`, or of its class.
    :param clusters: number of created clusters.
    :param changes: number of changes of nodes, in all of these clusters and
        in those of the class.
    """

    id: str
    clusters: int
    changes: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run needs.

    :param clusters: in total.
    :param changes: in total.
    :param at_once: most clusters at one time.
    :param nodes: most nodes at one time.
    :param hours: derived from the duration of a creation.
    :param minutes: duration of a creation.
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
        """What exists at one time, by kind, in all projects of the run."""
        return {'clusters': self.at_once, 'servers': self.nodes,
                **dict.fromkeys(_EACH, self.at_once)}


@functools.cache
def costs() -> tuple[Cost, ...]:
    """What creates clusters, in the order of the suite's modules."""
    with open(COSTS, newline='', encoding='utf-8') as file:
        _, *rows = csv.reader(file)
    return tuple(Cost(id, int(clusters), int(changes))
                 for id, clusters, changes in rows)


def plan(found, *, workers: int = 2, minutes: float = 15.0,
         masters: int = 1, nodes: int = 1) -> Plan:
    """Add up what a run needs.

    Each worker runs one class at a time, so the clusters of as many classes
    exist at the same time. A change of nodes takes as long as a creation, and
    a deletion a third of that.

    :param found: :class:`Cost` objects.
    :param minutes: until a cluster is complete.
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
    """The most clusters that a class has at one time, by its id.

    Those that it sets up, and those of one of its tests.
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
