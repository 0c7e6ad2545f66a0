# SPDX-License-Identifier: Apache-2.0
"""What to rerun, and what to conclude from it. Pure.

Sonobuoy's own ``--rerun-failed`` ran everything when nothing had failed, and
took the names of suite nodes for tests (vmware-tanzu/sonobuoy issues 1387,
797, 1515). Here only specs are rerun, an empty set is an error, the expression
matches whole names, and it is checked afterwards that exactly these specs ran.

A spec that passes in a rerun is a flake and reported as such; the first
verdict does not change.
"""

import collections.abc
import dataclasses

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import verdict as verdicts

#: It failed, but passed in the rerun.
FLAKY = 'flaky'
FAILED_AGAIN = 'failed again'
NOT_RERUN = 'not run again'


@dataclasses.dataclass(frozen=True)
class RerunSpec:
    """The reruns of one failure of the first run.

    :param outcome: FLAKY, FAILED_AGAIN or NOT_RERUN.
    :param statuses: in the later runs, in their order; runs without the spec
        are omitted.
    """

    spec: model.Spec
    outcome: str
    statuses: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Ended:
    """The outcome of a rerun.

    :param deviations: how it differs from what was requested.
    :param broken: why its record cannot be trusted.
    """

    again: tuple[RerunSpec, ...]
    deviations: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Of the rerun alone; says nothing about the first run.

        0 all passed now, 1 some failed again, 3 not exactly these specs ran,
        the harness failed, or it is incomplete.
        """
        outcomes = {one.outcome for one in self.again}
        if FAILED_AGAIN in outcomes:
            return verdicts.EXIT_CODES[verdicts.FAILED]
        if (self.broken or self.deviations or NOT_RERUN in outcomes
                or not outcomes):
            return verdicts.EXIT_CODES[verdicts.INCOMPLETE]
        return 0


def wanted(result: model.Result) -> tuple[str, ...]:
    """Names of the specs to rerun: those that failed or did not end.

    :raises UsageError: there are none.
    """
    names = tuple(dict.fromkeys(spec.name for spec in result.failures))
    if names:
        return names
    if result.infra_errors:
        what = 'The harness failed, and no spec'
        hint = 'Fix what stopped the harness, and run all tests again'
    elif not result.ran:
        what, hint = 'No spec ran, so none failed', 'Run all tests again'
    else:
        what, hint = 'No spec failed', None
    raise errors.UsageError(f'{what}: there is nothing to rerun',
                            where=result.source, hint=hint)


def conclude(result: model.Result, names: collections.abc.Collection[str],
             judged: verdicts.Verdict) -> Ended:
    """The outcome of rerunning failures.

    :param result: of the first run.
    :param names: the specs that were rerun.
    :param judged: :class:`~.verdict.Verdict` of the rerun.
    """
    return Ended(label(result, [judged.result]),
                 deviations(names, judged.result),
                 () if judged.finished else judged.reasons[:1])


def deviations(names: collections.abc.Collection[str], result: model.Result
               ) -> tuple[str, ...]:
    """How a rerun differs from what was requested, a line each.

    :param names: the specs asked for.
    """
    found = []
    asked, ran = set(names), {spec.name for spec in result.ran}
    # Kubernetes 1.33 has seven pairs of specs with one name; both run.
    twins = len(result.ran) - len(ran)
    if result.planned is None:
        found.append('The run did not report how many specs it would run')
    elif result.planned != len(asked) + twins:
        found.append(f'{result.planned} specs were planned, but {len(asked)} '
                     'were requested')
    for what, some in (('did not run', asked - ran),
                       ('ran and was not asked for', ran - asked)):
        found += [f'{name} {what}' for name in sorted(some)]
    return tuple(found)


def label(result: model.Result,
          reruns: collections.abc.Iterable[model.Result]
          ) -> tuple[RerunSpec, ...]:
    """The later statuses of each failure of a result.

    A failure is a flake only if it passed each time it was rerun to its
    end: one that passes now and then still fails.
    """
    later = [{spec.name: spec.status for spec in rerun.ran}
             for rerun in reruns]
    found = []
    for spec in result.failures:
        statuses = tuple(run[spec.name] for run in later if spec.name in run)
        if not statuses:
            outcome = NOT_RERUN
        elif set(statuses) == {model.PASSED}:
            outcome = FLAKY
        else:
            outcome = FAILED_AGAIN
        found.append(RerunSpec(spec, outcome, statuses))
    return tuple(found)
