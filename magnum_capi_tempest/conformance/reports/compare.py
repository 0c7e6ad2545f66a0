# SPDX-License-Identifier: Apache-2.0
"""What changed between two runs? Pure.

Specs are matched by name. A test whose label or SIG changed between two
versions of Kubernetes has a new name, but is still the same test: names that
disappeared and names that appeared are matched by their words without labels,
if the match is unambiguous.
"""

import collections
import dataclasses
import re

from magnum_capi_tempest.conformance import model

#: Least difference of durations that is reported, in seconds.
NOTABLE = 5.0
#: Most differences of durations that are reported.
CHANGES = 10

_FAILING = (model.FAILED, model.UNFINISHED)
_LABEL = re.compile(r'\[[^\[\]]*\]')


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

    @property
    def delta(self) -> float | None:
        """How many seconds longer it took."""
        first, second = self.seconds
        return None if None in self.seconds else second - first


@dataclasses.dataclass(frozen=True)
class Difference:
    """What differs between an earlier and a later run.

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

    @property
    def fewer(self) -> int:
        """How many tests that ran before did not run again.

        Between two versions of Kubernetes, tests are removed and others
        added: only what nothing was added for counts.
        """
        return len(self.newly_skipped) + max(
            len(self.removed) - len(self.added), 0)


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


def difference(before, after) -> Difference:
    """Compare two results.

    :param before: the earlier :class:`~..model.Result`.
    :param after: the later one.
    """
    found = changes(before, after)
    kinds = collections.defaultdict(list)
    for change in found:
        kinds[kind(change)].append(change)
    kinds.pop('', None)
    timed = [c for c in found
             if c.before == c.after == model.PASSED
             and c.delta is not None and abs(c.delta) >= NOTABLE]
    return Difference(
        before.title, after.title,
        renamed=tuple(c for c in found if c.was),
        durations=tuple(sorted(
            timed, key=lambda c: -abs(c.delta))[:CHANGES]),
        **{kind: tuple(some) for kind, some in kinds.items()})


def changes(before, after) -> list[Change]:
    """Every spec that at least one of two results knows, once."""
    first, second = _by_name(before), _by_name(after)
    old_names = renames(first.keys() - second.keys(),
                        second.keys() - first.keys())
    matched = second.keys() | old_names.values()
    return [*(_change(first.get(old_names.get(name, name)), spec,
                      old_names.get(name, ''))
              for name, spec in second.items()),
            *(_change(spec, None) for name, spec in first.items()
              if name not in matched)]


def renames(gone, new) -> dict[str, str]:
    """Old name of each new one that is certainly the same test.

    :param gone: names that only the earlier run knows.
    :param new: names that only the later run knows.
    """
    old, young = _by_words(gone), _by_words(new)
    return {names[0]: old[words][0] for words, names in young.items()
            if len(names) == 1 and len(old.get(words, ())) == 1}


def statuses(result) -> dict[str, str]:
    """Status of each spec by name; the worse one if a name occurs twice."""
    return {name: spec.status for name, spec in _by_name(result).items()}


def _by_name(result):
    found = {}
    for spec in result.specs:
        twin = found.get(spec.name)
        # If a name occurs twice, the worse one counts.
        if twin is None or (model.STATUSES.index(spec.status)
                            < model.STATUSES.index(twin.status)):
            found[spec.name] = spec
    return found


def _by_words(names):
    found = collections.defaultdict(list)
    for name in sorted(names):
        words = ' '.join(_LABEL.sub(' ', name).replace('"', "'").split())
        if words:
            found[words].append(name)
    return found


def _change(old, spec, was=''):
    return Change(
        name=(spec or old).name,
        before=old.status if old else '', after=spec.status if spec else '',
        was=was, seconds=(old.seconds if old else None,
                          spec.seconds if spec else None))


def kind(change) -> str:
    """The field of :class:`Difference` for a change, empty if none."""
    ran_before = change.before not in ('', model.SKIPPED)
    if change.after in _FAILING:
        return ('still_failing' if change.before in _FAILING
                else 'new_failures')
    if not change.after:
        return 'removed' if ran_before else ''
    if change.after == model.SKIPPED:
        return 'newly_skipped' if ran_before else ''
    if change.before in _FAILING:
        return 'fixed'
    if not change.before:
        return 'added'
    return 'newly_run' if change.before == model.SKIPPED else ''
