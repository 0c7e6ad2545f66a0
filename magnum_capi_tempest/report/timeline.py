# SPDX-License-Identifier: Apache-2.0

"""What ran when: tests by worker, and the phases of clusters. Pure."""

import collections
import collections.abc
import dataclasses
import datetime
import json

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text

#: Width of the drawing, in its own units.
WIDTH = 1000
#: Least width of a bar: a test of a second among hours is still seen.
_LEAST = 2
#: Most clusters that are shown, those that began first: a page has a limit.
CLUSTERS = 150
#: Tag of stestr: the process that ran a test.
WORKER = 'worker-'
#: Classes of bars in report.css, by the end of a cluster's status.
_KINDS = {'COMPLETE': model.PASSED, 'FAILED': model.FAILED}


@dataclasses.dataclass(frozen=True)
class Bar:
    """A test, or a phase of a cluster.

    :param x: where it begins, of :data:`WIDTH`; width likewise.
    :param kind: status of a test, or "moving".
    :param title: what it is, and how long it took.
    """

    x: float
    width: float
    kind: str
    title: str


@dataclasses.dataclass(frozen=True)
class Lane:
    """Bars that follow each other."""

    label: str
    bars: tuple[Bar, ...]


@dataclasses.dataclass(frozen=True)
class Timeline:
    """:param marks: times from the begin, for the start, middle and end."""

    workers: tuple[Lane, ...]
    clusters: tuple[Lane, ...]
    left_out: int
    marks: tuple[str, ...]


def phases(lines: collections.abc.Iterable[str]) -> list[model.Phase]:
    """Read the details of tests about clusters, see texts.PHASES.

    :param lines: of all of them. Damaged ones are left out.
    """
    seen = collections.defaultdict(list)
    for line in lines:
        try:
            when, uuid, name, status = json.loads(line)
            moment = datetime.datetime.fromtimestamp(
                when, datetime.timezone.utc)
            seen[str(uuid)].append((moment, str(name), str(status)))
        except (ValueError, TypeError, OverflowError, OSError):
            continue
    found = []
    for uuid, moments in seen.items():
        moments.sort()
        name = next((name for _, name, _ in moments if name), uuid)
        ends = [*(moment for moment, *_ in moments[1:]), None]
        found += [model.Phase(uuid, name, status, moment, end)
                  for (moment, _, status), end in zip(
                      moments, ends, strict=True) if status]
    return found


def of(run: model.Run) -> Timeline | None:
    """The timeline of a run; None: when tests began is not known."""
    timed = [(test.started, test.seconds, test) for test in run.tests
             if test.started and test.seconds is not None]
    if not timed or not run.started or run.seconds <= 0:
        return None
    scale = _Scale(run.started, run.seconds)
    lanes = collections.defaultdict(list)
    for started, seconds, test in sorted(timed, key=lambda one: one[0]):
        worker = next((tag for tag in test.tags if tag.startswith(WORKER)),
                      'tests')
        lanes[worker].append(scale.bar(
            started, seconds, test.status,
            f'{text.line(test.name, 90)}: {test.status}'))
    clusters = _clusters(run.phases, scale)
    return Timeline(
        tuple(Lane(name, tuple(bars)) for name, bars in sorted(
            lanes.items(), key=lambda lane: (len(lane[0]), lane[0]))),
        tuple(clusters[:CLUSTERS]), max(0, len(clusters) - CLUSTERS),
        ('0 s', text.duration(run.seconds / 2), text.duration(run.seconds)))


def _clusters(found: collections.abc.Sequence[model.Phase], scale: '_Scale'
              ) -> list[Lane]:
    lanes = collections.defaultdict(list)
    names = {}
    for phase in sorted(found, key=lambda phase: phase.started):
        names[phase.uuid] = phase.name
        seconds = ((phase.ended or scale.end) - phase.started).total_seconds()
        lanes[phase.uuid].append(scale.bar(
            phase.started, seconds,
            _KINDS.get(phase.status.rpartition('_')[2], 'moving'),
            phase.status))
    return [Lane(text.line(names[uuid], 60), tuple(bars))
            for uuid, bars in lanes.items()]


class _Scale:
    """Turns moments into places.

    :param seconds: that the whole drawing stands for.
    """

    def __init__(self, begin: datetime.datetime, seconds: float) -> None:
        self._begin, self._seconds = begin, seconds
        self.end = begin + datetime.timedelta(seconds=seconds)

    def bar(self, started: datetime.datetime, seconds: float, kind: str,
            title: str) -> Bar:
        x = self._place((started - self._begin).total_seconds())
        end = self._place(
            (started - self._begin).total_seconds() + seconds)
        return Bar(min(x, WIDTH - _LEAST), max(_LEAST, round(end - x, 1)),
                   kind, f'{title}, {text.duration(max(0, seconds))}')

    def _place(self, seconds: float) -> float:
        return round(min(max(seconds, 0), self._seconds)
                     / self._seconds * WIDTH, 1)
