# SPDX-License-Identifier: Apache-2.0

"""Stories: users' requests and faults, step by step; made by hypothesis.

The next step of a story depends on the earlier steps, never on their results,
so that a story is the same each time. Pure.
"""

import dataclasses

from hypothesis import stateful
from hypothesis import strategies as st

from magnum_capi import errors

WORKERS = 'default-worker'

#: Clusters by their names in stories, and their owners.
OWNERS = {'a': 'demo', 'b': 'admin', 'c': 'demo'}

#: The arguments of each kind of step.
STEPS = {
    'create': ('cluster', 'workers', 'flavor'),
    'resize': ('cluster', 'group', 'nodes'),
    'add-group': ('cluster', 'group', 'nodes', 'flavor'),
    'remove-group': ('cluster', 'group'),
    'upgrade': ('cluster',),
    'rotate': ('cluster',),
    'rotate-ca': ('cluster',),
    'change-template': ('cluster',),
    'delete': ('cluster',),
    # Until the cluster is not in progress.
    'wait': ('cluster',),
    # Object: a conductor's number, a cluster, or "-".
    'fault': ('kind', 'of', 'seconds'),
    # All faults end, and everything is judged.
    'quiet': (),
}

FLAVORS = ('m1.small', 'slow.node', 'slow.create', 'slow.delete')
FAILING = ('fault.failed',)
SERVICES = ('api-down', 'api-killed', 'api-slow', 'api-409', 'api-429',
            'api-500', 'helm-killed', 'helm-slow', 'helm-missing',
            'keystone-down', 'keystone-killed', 'keystone-slow')
MACHINES = ('machine-gone', 'machine-ill')
CONDUCTORS = ('conductor-killed', 'conductor-and-helm-killed')


@dataclasses.dataclass(frozen=True)
class Step:
    """A step; its text is its words.

    :param args: as in STEPS.
    """

    op: str
    args: tuple[str, ...] = ()

    def __str__(self):
        return ' '.join((self.op, *self.args))


def step(op, *args) -> Step:
    return Step(op, tuple(map(str, args)))


def parse(text) -> tuple[Step, ...]:
    """The steps of a story, one per line; "#" begins a comment.

    :raises UsageError: a line is not a step.
    """
    found = []
    for line in text.splitlines():
        words = line.partition('#')[0].split()
        if not words:
            continue
        op, *args = words
        if op not in STEPS or len(args) != len(STEPS[op]) or (
                'cluster' in STEPS[op] and args[0] not in OWNERS):
            raise errors.UsageError('This is no step of a story',
                                    last_seen=line.strip())
        found.append(step(op, *args))
    return tuple(found)


_COUNT = st.integers(1, 3)
_PICK = st.integers(0, 59)
_FLAVOR = st.sampled_from(FLAVORS)
_PATIENT = st.sampled_from((True, True, False))
_SECONDS = st.sampled_from((5, 15, 40))


class Machine(stateful.RuleBasedStateMachine):
    """Makes a story and plays it in :meth:`teardown`."""

    def __init__(self, play=None):
        super().__init__()
        self.story = []
        #: Names of node groups by existing cluster.
        self.clusters = {}
        self._play = play

    def tell(self, op, *args):
        self.story.append(step(op, *args))

    def pick(self, number):
        return sorted(self.clusters)[number % len(self.clusters)]

    def ask(self, patient, op, cluster, *args):
        if patient:
            self.tell('wait', cluster)
        self.tell(op, cluster, *args)

    @stateful.initialize(workers=_COUNT, flavor=_FLAVOR)
    def first(self, workers, flavor):
        self.create(workers, flavor)
        self.create(1, 'm1.small')

    @stateful.precondition(lambda self: len(self.clusters) < len(OWNERS))
    @stateful.rule(workers=_COUNT, flavor=_FLAVOR)
    def create(self, workers, flavor):
        name = min(set(OWNERS) - set(self.clusters))
        self.clusters[name] = {WORKERS}
        self.tell('create', name, workers, flavor)

    @stateful.precondition(lambda self: self.clusters)
    @stateful.rule(number=_PICK, nodes=_COUNT, patient=_PATIENT)
    def resize(self, number, nodes, patient):
        name = self.pick(number)
        groups = sorted(self.clusters[name])
        self.ask(patient, 'resize', name, groups[number % len(groups)], nodes)

    @stateful.precondition(lambda self: self.clusters)
    @stateful.rule(number=_PICK, nodes=_COUNT, patient=_PATIENT,
                   flavor=st.sampled_from((*FLAVORS, *FAILING)))
    def add_group(self, number, nodes, patient, flavor):
        name = self.pick(number)
        new = min({'g1', 'g2'} - self.clusters[name], default=None)
        if new:
            self.ask(patient, 'add-group', name, new, nodes, flavor)
            self.clusters[name].add(new)

    @stateful.precondition(lambda self: any(
        len(groups) > 1 for groups in self.clusters.values()))
    @stateful.rule(number=_PICK, patient=_PATIENT)
    def remove_group(self, number, patient):
        groups = sorted((name, group) for name, its in self.clusters.items()
                        for group in its if group != WORKERS)
        name, group = groups[number % len(groups)]
        self.clusters[name].discard(group)
        self.ask(patient, 'remove-group', name, group)

    @stateful.precondition(lambda self: self.clusters)
    @stateful.rule(number=_PICK, patient=_PATIENT, op=st.sampled_from(
        ('upgrade', 'upgrade', 'rotate', 'rotate-ca', 'change-template')))
    def change(self, number, patient, op):
        self.ask(patient, op, self.pick(number))

    # Some cluster must remain for the quiet period.
    @stateful.precondition(lambda self: len(self.clusters) > 1)
    @stateful.rule(number=_PICK, patient=_PATIENT)
    def delete(self, number, patient):
        name = self.pick(number)
        self.ask(patient, 'delete', name)
        del self.clusters[name]

    @stateful.rule(kind=st.sampled_from(SERVICES), seconds=_SECONDS)
    def break_service(self, kind, seconds):
        self.tell('fault', kind, '-', seconds)

    @stateful.rule(kind=st.sampled_from(CONDUCTORS), number=_COUNT,
                   seconds=_SECONDS)
    def kill_conductor(self, kind, number, seconds):
        self.tell('fault', kind, number, seconds)

    @stateful.precondition(lambda self: self.clusters)
    @stateful.rule(kind=st.sampled_from(MACHINES), number=_PICK)
    def break_machine(self, kind, number):
        self.tell('fault', kind, self.pick(number), 15)

    @stateful.precondition(lambda self: len(self.story) > 4
                           and self.story[-1].op != 'quiet')
    @stateful.rule()
    def quiet(self):
        self.tell('quiet')

    def teardown(self):
        if self._play:
            self._play(tuple(self.story))
