# SPDX-License-Identifier: Apache-2.0

"""The data of the chart of differences between two runs.

Durations are only compared for specs that ran in both: a SIG is not slower
just because more of its specs were selected.
"""

import collections
import dataclasses
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import charts
from magnum_capi_tempest.conformance.reports import compare

_SIG = re.compile(r'\[sig-([^\[\]]+)\]')
#: Kinds of :mod:`.compare` that are drawn; other specs that ran in both did
#: not change.
OUTCOMES = ('new_failures', 'still_failing', 'fixed')


@dataclasses.dataclass(frozen=True)
class Sig:
    """The specs of one SIG that ran in one or both of two runs.

    :param outcomes: number of specs by kind, for each of OUTCOMES.
    :param once: other specs that ran in only one of the two.
    :param timed: specs with times that ran in both; ``before`` and ``after``
        are their total seconds.
    """

    name: str
    specs: int
    outcomes: dict[str, int]
    once: int
    timed: int
    before: float
    after: float


def sigs(before, after) -> tuple[Sig, ...]:
    """Changes by SIG, most time first.

    :param before: the earlier :class:`~..model.Result`; ``after`` likewise.
    :returns: SIGs beyond ``charts.SIGS`` are summed up.
    """
    some = collections.defaultdict(list)
    for change in compare.changes(before, after):
        if _ran(change.before) or _ran(change.after):
            match = _SIG.search(change.name)
            some[match[1] if match else 'none'].append(change)
    found = sorted((one for name, changes in some.items()
                    if (one := _sig(name, changes)).once < one.specs),
                   key=lambda one: (-max(one.before, one.after), one.name))
    if len(found) > charts.SIGS:
        rest = found[charts.SIGS - 1:]
        found[charts.SIGS - 1:] = [_sig(f'{len(rest)} others', [
            change for one in rest for change in some[one.name]])]
    return tuple(found)


def _sig(name, changes):
    kinds = collections.Counter(map(compare.kind, changes))
    once = sum(_ran(change.before) != _ran(change.after)
               and compare.kind(change) not in OUTCOMES for change in changes)
    timed = [change.seconds for change in changes
             if _ran(change.before) and _ran(change.after)
             and None not in change.seconds]
    return Sig(name, len(changes), {kind: kinds[kind] for kind in OUTCOMES},
               once, len(timed), sum(first for first, _ in timed),
               sum(second for _, second in timed))


def _ran(status):
    return status not in ('', model.SKIPPED)
