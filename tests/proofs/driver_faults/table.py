# SPDX-License-Identifier: Apache-2.0

"""When a case is passed, and the table of cases; pure.

A fault is survived if the last request is fulfilled, or if the user learns
why not and the cure works; if no status claimed more than was true; and if
nothing of the cluster is left after its deletion.
"""

import dataclasses

from tests.proofs import tables

#: How a case ended.
REACHED = 'reached'
#: With a status or an answer that says why; the cure is tried then.
FAILED = 'failed'
REFUSED = 'refused'
#: Neither, for as long as was waited.
HANGS = 'hangs'

COLUMNS = ('Fault', 'When it strikes', 'What the user saw', 'How it ended',
           'Seconds', 'Left', 'Verdict')


@dataclasses.dataclass(frozen=True)
class Truth:
    """The observed state of a cluster in the management cluster.

    :param masters, workers: number of machines that run.
    :param others: number of machines that do not.
    :param versions: of Kubernetes, of all machines.
    """

    masters: int = 0
    workers: int = 0
    others: int = 0
    versions: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Goal:
    """The desired state after the last request.

    :param workers: machines in addition to one of the control plane; None:
        the cluster shall be gone.
    :param version: of Kubernetes.
    :param template: uuid.
    """

    workers: int | None
    version: str = ''
    template: str = ''

    def is_true(self, truth):
        """Whether the machines are as desired."""
        return truth == Truth(1, self.workers, 0, frozenset({self.version}))

    def is_reached(self, state, truth):
        """Whether Magnum says so, too.

        :param state: observations.Observation.
        """
        if state.trouble:
            return False
        if self.workers is None:
            return state.cluster is None
        return (self.is_said(state) and self.is_true(truth))

    def is_said(self, state):
        """Whether Magnum says that it is reached."""
        return (state.cluster is not None
                and (state.status or '').endswith('_COMPLETE')
                and (state.group_status or '').endswith('_COMPLETE')
                and state.nodegroup.get('node_count') == self.workers
                and state.cluster.get('cluster_template_id') == self.template
                and state.cluster.get('coe_version') == self.version)


@dataclasses.dataclass(frozen=True)
class Row:
    """The result of one case.

    :param seen: statuses in their order, without repetitions.
    :param reasons: status_reasons that report trouble.
    :param answers: of HTTP: "POST clusters 202".
    :param end: REACHED, FAILED, REFUSED or HANGS.
    :param cure: pair of what was done then, and whether it worked; None: no
        cure was needed.
    :param seconds: from the request until the end.
    :param left: texts on leftovers after the deletion.
    :param untrue: what Magnum claimed before it was true.
    :param remark: anything that is not about the driver.
    """

    fault: str
    when: str
    seen: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    end: str = HANGS
    cure: tuple[str, bool] | None = None
    seconds: float = 0.0
    left: tuple[str, ...] = ()
    untrue: tuple[str, ...] = ()
    remark: str = ''

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the case is not passed."""
        found = []
        if self.end == HANGS:
            found.append('hangs')
        if self.end in (FAILED, REFUSED):
            if not self.reasons:
                found.append('no reason')
            if self.cure is None or not self.cure[1]:
                found.append('no cure')
        if self.untrue:
            found.append('untrue: ' + ', '.join(self.untrue))
        if self.left:
            found.append('leaks')
        return tuple(found)

    @property
    def kept(self):
        return not self.problems

    def cells(self) -> tuple[str, ...]:
        """Texts of :data:`COLUMNS`."""
        seen = ' → '.join(self.seen) or 'nothing'
        parts = [*self.answers, seen, *(f'"{plain(r)}"'
                                        for r in self.reasons[-2:])]
        ended = self.end
        if self.cure:
            ended += f'; {self.cure[0]}: ' + (
                'works' if self.cure[1] else 'does not work')
        if self.remark:
            ended += f' ({self.remark})'
        return (self.fault, self.when, '; '.join(parts), ended,
                f'{self.seconds:.0f}', plain('; '.join(self.left)) or
                'nothing', 'kept' if self.kept else
                'not kept: ' + ', '.join(self.problems))


def plain(text) -> str:
    """A text without variable parts, and not too long."""
    # Magnum leaves it in its answers where debug = true, as in sandboxes
    # (magnum/api/hooks.py, NoExceptionTracebackHook).
    return tables.plain(
        text.partition('Traceback (most recent call last)')[0])
