# SPDX-License-Identifier: Apache-2.0
"""What changed between runs, and is the later one as good? Pure.

The first run is the baseline for all others. "No new failures" means little if
a run was cut off half way, the first one included, or ran fewer tests, so that
has its own outcome.

Specs are matched by name. A test whose label or SIG changed between two
versions of Kubernetes has a new name, but is still the same test: names that
disappeared and names that appeared are matched by their words without labels,
if the match is unambiguous.
"""

import collections
import collections.abc
import dataclasses
import re

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import verdict as verdicts
from magnum_capi_tempest import texts

#: Exit code if a spec fails that did not fail in the first run.
NEW_FAILURES = 1
#: Least difference of durations that is reported, in seconds, and most of
#: them.
NOTABLE, DURATIONS = 5.0, 10
#: Status in the grid if a run does not know a test.
ABSENT = 'absent'
#: Field of :class:`Difference` -> its title, the most important first.
KINDS = {
    'new_failures': 'new failures',
    'still_failing': 'still failing',
    'fixed': 'fixed',
    'newly_skipped': 'ran before, not selected now',
    'removed': 'ran before, not known now',
    'newly_run': 'not selected before, pass now',
    'added': 'not known before, pass now',
    'renamed': 'renamed',
}

_FAILING = (model.FAILED, model.UNFINISHED)
_LABEL = re.compile(r'\[[^\[\]]*\]')


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A record below a folder that could not be read, and why."""

    title: str
    fault: str

    def __str__(self) -> str:
        return f'{self.title} cannot be read: {self.fault}'


@dataclasses.dataclass(frozen=True)
class Change:
    """One spec in two runs.

    :param name: in the later run, or in the earlier one if it is gone.
    :param before: status in the earlier run, empty if it was not there.
    :param after: status in the later run, empty if it is not there.
    :param was: its name in the earlier run if that differs, else empty.
    :param seconds: (before, after), each None if unknown.
    """

    name: str
    before: str
    after: str
    was: str = ''
    seconds: tuple[float | None, float | None] = (None, None)

    @classmethod
    def of(cls, old: model.Spec | None, new: model.Spec | None) -> 'Change':
        """The change between two specs; None for one that is not there."""
        spec = new or old
        return cls(spec.name if spec else '', old.status if old else '',
                   new.status if new else '',
                   old.name if old and new and old.name != new.name else '',
                   (old.seconds if old else None,
                    new.seconds if new else None))

    @property
    def delta(self) -> float | None:
        """How many seconds longer it took."""
        first, second = self.seconds
        if first is None or second is None:
            return None
        return second - first

    @property
    def kind(self) -> str:
        """The field of :class:`Difference` for it, empty if none."""
        ran_before = _ran(self.before)
        if self.after in _FAILING:
            return ('still_failing' if self.before in _FAILING
                    else 'new_failures')
        if not self.after:
            return 'removed' if ran_before else ''
        if self.after == model.SKIPPED:
            return 'newly_skipped' if ran_before else ''
        if self.before in _FAILING:
            return 'fixed'
        if not self.before:
            return 'added'
        return 'newly_run' if self.before == model.SKIPPED else ''

    def __str__(self) -> str:
        return self.name + (f' (was: {self.was})' if self.was else '')


@dataclasses.dataclass(frozen=True)
class Difference:
    """What differs between an earlier and a later run, by title.

    Specs that were selected in neither run are ignored. Each spec is in at
    most one of the first seven tuples; ``renamed`` and ``durations`` are
    other views of the same specs.

    :param new_failures: fail now and did not fail before, whether they are
        new or were skipped.
    :param still_failing: failed in both.
    :param fixed: failed before, pass now.
    :param newly_skipped: ran before, are known but not selected now.
    :param newly_run: were not selected before, pass now.
    :param added: are unknown to the earlier run, pass now.
    :param removed: ran before, are unknown to the later run.
    :param renamed: known to both by different names.
    :param durations: largest changes in the duration of passed specs.
    :param both: how many ran in both.
    """

    before: str
    after: str
    new_failures: tuple[Change, ...] = ()
    still_failing: tuple[Change, ...] = ()
    fixed: tuple[Change, ...] = ()
    newly_skipped: tuple[Change, ...] = ()
    newly_run: tuple[Change, ...] = ()
    added: tuple[Change, ...] = ()
    removed: tuple[Change, ...] = ()
    renamed: tuple[Change, ...] = ()
    durations: tuple[Change, ...] = ()
    both: int = 0

    @property
    def fewer(self) -> int:
        """How many tests that ran before did not run again.

        Between two versions of Kubernetes, tests are removed and others
        added: only what nothing was added for counts. If no test ran again,
        the runs are of different suites, and all of them count.
        """
        added = len(self.added) if self.both else 0
        return len(self.newly_skipped) + max(len(self.removed) - added, 0)


@dataclasses.dataclass(frozen=True)
class Row:
    """A test: its name in the latest run that has it, and a cell per run.

    :param cells: a status of :mod:`.model`, or ABSENT.
    """

    name: str
    cells: tuple[str, ...]

    @property
    def failures(self) -> int:
        return sum(cell in _FAILING for cell in self.cells)


@dataclasses.dataclass(frozen=True)
class Grid:
    """Where which test fails; rows with the most failures first.

    :param rows: tests that failed in a run.
    :param partial: tests that passed wherever they ran, but were not
        selected or not known in some run.
    :param all_passed: number of tests that passed in every run.
    """

    rows: tuple[Row, ...]
    partial: tuple[Row, ...]
    all_passed: int

    @property
    def title(self) -> str:
        return (f'Tests by cluster: {len(self.rows)} failed somewhere, '
                f'{len(self.partial)} passed and did not run everywhere, '
                f'{self.all_passed} passed everywhere')


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Runs side by side.

    :param differences: of each later run from the first.
    :param grid: the tests that ran in at least one run and did not pass in
        all.
    :param unreadable: records that are not among the runs.
    """

    runs: tuple[verdicts.Verdict, ...]
    differences: tuple[Difference, ...]
    grid: Grid
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def new_failures(self) -> int:
        return sum(len(d.new_failures) for d in self.differences)

    @property
    def _doubt(self) -> str:
        """Why "no new failures" would prove too little; may be empty."""
        first, *later = self.runs
        if not first.finished:
            return f'{first.result.title}, the first run, did not complete'
        for run in later:
            if not run.finished:
                return f'{run.result.title} did not complete'
        for one in self.differences:
            if one.fewer:
                return (f'{texts.number(one.fewer, "test")} of {one.before} '
                        f'did not run in {one.after}')
        if self.unreadable:
            return (f'{texts.number(len(self.unreadable), "record")} could '
                    'not be read')
        return ''

    @property
    def exit_code(self) -> int:
        """0 no new failures, 1 new failures, 3 none so far.

        3: a run did not complete, or a later one ran fewer tests than the
        first one, or a record could not be read.
        """
        if self.new_failures:
            return NEW_FAILURES
        return verdicts.EXIT_CODES[
            verdicts.INCOMPLETE if self._doubt else verdicts.PASSED]

    @property
    def conclusion(self) -> str:
        if self.new_failures:
            return texts.number(self.new_failures, 'new failure')
        if self._doubt:
            return f'nothing new failed in what ran, but {self._doubt}'
        return 'no new failures'


def compare(judged: collections.abc.Iterable[verdicts.Verdict],
            unreadable: collections.abc.Iterable[Unreadable] = ()
            ) -> Comparison:
    """Compare results.

    :param judged: two or more :class:`~.verdict.Verdict`, the baseline first.
    :param unreadable: :class:`Unreadable` records.
    :raises UsageError: fewer than two.
    """
    judged = tuple(judged)
    if len(judged) < 2:
        raise errors.UsageError('A comparison needs at least two runs')
    tables = _same_names([_by_name(one.result) for one in judged])
    titles = [one.result.title for one in judged]
    return Comparison(judged, tuple(
        _difference(titles[0], tables[0], title, table)
        for title, table in zip(titles[1:], tables[1:])),
        _grid(tables), tuple(unreadable))


def _difference(before: str, first: dict[str, model.Spec], after: str,
                second: dict[str, model.Spec]) -> Difference:
    """Compare two tables, each with its title.

    :param first: specs of the earlier run by their latest names.
    :param second: those of the later run.
    """
    changes = [Change.of(first.get(name), second.get(name))
               for name in {**second, **first}]
    timed = [(abs(c.delta), c) for c in changes
             if c.before == c.after == model.PASSED
             and c.delta is not None and abs(c.delta) >= NOTABLE]
    timed.sort(key=lambda pair: -pair[0])

    def of(kind: str) -> tuple[Change, ...]:
        return tuple(c for c in changes if c.kind == kind)

    return Difference(
        before, after, of('new_failures'), of('still_failing'), of('fixed'),
        of('newly_skipped'), of('newly_run'), of('added'), of('removed'),
        renamed=tuple(c for c in changes if c.was),
        durations=tuple(c for _, c in timed[:DURATIONS]),
        both=sum(_ran(c.before) and _ran(c.after) for c in changes))


def _ran(status: str) -> bool:
    return status not in ('', model.SKIPPED)


def _grid(tables: collections.abc.Sequence[dict[str, model.Spec]]) -> Grid:
    rows, all_passed = [], 0
    for name in dict.fromkeys(
            name for table in reversed(tables) for name in table):
        cells = tuple(table[name].status if name in table else ABSENT
                      for table in tables)
        if set(cells) == {model.PASSED}:
            all_passed += 1
        elif not set(cells) <= {model.SKIPPED, ABSENT}:
            rows.append(Row(name, cells))
    rows.sort(key=lambda row: (-row.failures, row.name))
    return Grid(tuple(row for row in rows if row.failures),
                tuple(row for row in rows if not row.failures), all_passed)


def _renames(gone: collections.abc.Iterable[str],
             new: collections.abc.Iterable[str]) -> dict[str, str]:
    """Old name of each new one that is certainly the same test.

    :param gone: names that only the earlier run knows.
    :param new: names that only the later run knows.
    """
    old, young = _by_words(gone), _by_words(new)
    return {names[0]: old[words][0] for words, names in young.items()
            if len(names) == 1 and len(old.get(words, ())) == 1}


def _by_words(names: collections.abc.Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = collections.defaultdict(list)
    for name in sorted(names):
        words = ' '.join(_LABEL.sub(' ', name).replace('"', "'").split())
        if words:
            found[words].append(name)
    return found


def _by_name(result: model.Result) -> dict[str, model.Spec]:
    found: dict[str, model.Spec] = {}
    for spec in result.specs:
        twin = found.get(spec.name)
        # If a name occurs twice, the worse one counts.
        if twin is None or (model.STATUSES.index(spec.status)
                            < model.STATUSES.index(twin.status)):
            found[spec.name] = spec
    return found


def _same_names(tables: list[dict[str, model.Spec]]
                ) -> list[dict[str, model.Spec]]:
    """The tables with each test under its latest name."""
    done, known = [tables[-1]], dict(tables[-1])
    for table in reversed(tables[:-1]):
        new_names = {old: new for new, old in _renames(
            table.keys() - known.keys(),
            known.keys() - table.keys()).items()}
        table = {new_names.get(name, name): spec
                 for name, spec in table.items()}
        known = table | known
        done.append(table)
    return done[::-1]
