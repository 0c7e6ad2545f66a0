# SPDX-License-Identifier: Apache-2.0

"""The data of the charts on a run's page.

The JUnit file has the duration of a spec, but not its start. The output of a
failed spec contains the time of the failure and the number of the process that
ran it; its start is calculated from there. The e2e log, which has times of
other specs if it is verbose, is not used.
"""

import collections
import dataclasses
import datetime
import re

from magnum_capi_tempest.conformance import model

#: Limits of rows and marks in a chart, whatever an archive contains.
SIGS, WORKERS, MARKS = 20, 32, 300

#: The message of a failure, from Ginkgo, followed by its place and time:
#: "In [It] at: k8s.io/.../output.go:263 @ 11/21/26 09:39:12.338".
_FAILED = r'(?m)^[ \t]*\[(?:FAILED|TIMEDOUT|PANICKED|INTERRUPTED)\]'
_AT = r' @ (\d\d/\d\d/\d\d \d\d:\d\d:\d\d)'
#: "I1121 09:32:52.139217 22 helper.go:125]", of klog: 22 is the process.
_PROCESS = r'(?m)^[ \t]*[IWEF]\d{4} [\d:.]{8,15}[ \t]{1,7}(\d{1,7}) '


@dataclasses.dataclass(frozen=True)
class Sig:
    """The specs of one SIG.

    :param failed: how many of ``specs``.
    :param seconds: of all specs; ``failed_seconds`` of failed ones.
    :param slowest: seconds of the slowest one.
    """

    name: str
    specs: int
    failed: int
    seconds: float
    failed_seconds: float
    slowest: float


@dataclasses.dataclass(frozen=True)
class Mark:
    """A failed spec, in percent of the run's duration."""

    name: str
    begin: float
    width: float
    at: datetime.datetime


@dataclasses.dataclass(frozen=True)
class Timeline:
    """When specs failed.

    :param workers: number of each process, empty if unknown, and its marks.
    :param left_out: failures without a time, or beyond the limit.
    """

    workers: tuple[tuple[str, tuple[Mark, ...]], ...]
    left_out: int


def sigs(result) -> tuple[Sig, ...]:
    """Time by SIG, most first; SIGs beyond the limit are summed up."""
    specs = collections.defaultdict(list)
    for spec in result.ran:
        if spec.seconds is not None:
            specs[spec.sig or 'none'].append(spec)
    found = sorted((_sig(name, some) for name, some in specs.items()),
                   key=lambda one: (-one.seconds, one.name))
    if len(found) > SIGS:
        rest = found[SIGS - 1:]
        found[SIGS - 1:] = [_sig(f'{len(rest)} others', [
            spec for one in rest for spec in specs[one.name]])]
    return tuple(found)


def timeline(result) -> Timeline | None:
    """When specs failed; None if the record has no such times."""
    if not result.started or not result.seconds:
        return None
    rows, drawn = collections.defaultdict(list), 0
    for spec in result.failures:
        mark = _mark(result, spec) if drawn < MARKS else None
        worker = re.search(_PROCESS, spec.output)
        worker = worker[1] if worker else ''
        if mark and (worker in rows or len(rows) < WORKERS):
            rows[worker].append(mark)
            drawn += 1
    if not drawn:
        return None
    return Timeline(
        tuple((worker, tuple(sorted(marks, key=lambda mark: mark.begin)))
              for worker, marks in sorted(
                  rows.items(), key=lambda item: int(item[0] or 0))),
        len(result.failures) - drawn)


def _sig(name, specs):
    failed = [spec for spec in specs
              if spec.status in (model.FAILED, model.UNFINISHED)]
    return Sig(name, len(specs), len(failed),
               sum(spec.seconds for spec in specs),
               sum(spec.seconds for spec in failed),
               max(spec.seconds for spec in specs))


def _mark(result, spec):
    """Where a failure is drawn; None if it is not within the run."""
    failed = re.search(_FAILED, spec.output)
    said = failed and re.search(_AT, spec.output[failed.end():])
    try:
        # The pod uses UTC, as for the start of the suite.
        at = said and datetime.datetime.strptime(
            said[1], '%m/%d/%y %H:%M:%S').replace(
                tzinfo=datetime.timezone.utc)
    except ValueError:
        return None
    if not at:
        return None
    end = (at - result.started).total_seconds()
    # The start of the suite is recorded in whole seconds.
    if not -1 <= end <= result.seconds + 1:
        return None
    end = min(max(end, 0), result.seconds)
    begin = max(end - (spec.seconds or 0), 0)
    # Even the narrowest mark must be visible.
    width = max((end - begin) / result.seconds * 100, .5)
    return Mark(spec.name, round(min(begin / result.seconds * 100,
                                     100 - width), 2), round(width, 2), at)
