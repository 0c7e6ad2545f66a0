# SPDX-License-Identifier: Apache-2.0
"""The HTML pages of conformance: one run, and several side by side.

Both are made like every page of :mod:`magnum_capi_tempest.report.html`: a
single file that loads nothing and escapes everything. The page of a run shows,
in this order: did it pass and can it be submitted, what failed and for how
many causes, what failed around the tests, what passed in a rerun, when tests
failed, what is slow.
"""

import collections
import dataclasses

from magnum_capi_tempest.conformance.reports import charts
from magnum_capi_tempest.conformance.reports import compare
from magnum_capi_tempest.conformance.reports import comparison as comparisons
from magnum_capi_tempest.conformance.reports import comparison_forms
from magnum_capi_tempest.conformance.reports import fingerprints
from magnum_capi_tempest.conformance.reports import presentation
from magnum_capi_tempest.conformance.reports import rerun
from magnum_capi_tempest.report import html
from magnum_capi_tempest.report import text

_PACKAGE = 'magnum_capi_tempest.conformance.reports'
_STYLE = ('conformance.css',)
#: Up to this many causes, the first failure of each is unfolded.
_OPEN = 3
#: Facts that are never folded.
_FACTS = ('Kubernetes', 'cluster', 'driver', 'CNI', 'node image', 'nodes',
          'mode', 'specs')


def render(result, verdict, reruns=()) -> str:
    """The page of one run.

    :param result: :class:`~..model.Result`.
    :param verdict: :class:`~..verdict.Verdict` on it.
    :param reruns: results of rerunning its failures.
    """
    run = presentation.run(result, verdict, reruns)
    # The cause already shows the reason, for all of its tests.
    tests = {test.id: dataclasses.replace(test, details=tuple(
        d for d in test.details if d.name != 'reason')) for test in run.tests}
    causes = fingerprints.causes(result.failures, result.cluster.nodes)
    opened = {spec.name for cause in causes
              for spec in cause.specs[:1]} if len(causes) <= _OPEN else set()
    timed = [spec for spec in result.ran if spec.seconds is not None]
    sigs = charts.sigs(result) if len(timed) > 1 else ()
    return html.page(
        'conformance.html', package=_PACKAGE, style=_STYLE, run=run,
        verdict=verdict, missing=presentation.missing(result, verdict),
        certification=presentation.certification(verdict),
        facts={key: value for key, value in run.facts.items()
               if key in _FACTS},
        more={key: value for key, value in run.facts.items()
              if key not in _FACTS},
        stand_ins=presentation.STAND_INS if result.stand_in_images else '',
        causes=[(cause, [tests[spec.name] for spec in cause.specs])
                for cause in causes],
        opened=opened,
        passed=[test for test in run.tests if not test.failing],
        sigs=fingerprints.by_sig(result), harness=presentation.harness(result),
        groups=sorted(collections.Counter(
            test.group for test in run.tests).items()),
        reruns=rerun.label(result, reruns) if reruns else (),
        rerun_titles=[one.title for one in reruns],
        slowest=fingerprints.slowest(result),
        timeline=charts.timeline(result), run_seconds=result.seconds,
        run_began=result.started and f'{result.started:%F %T %Z}',
        # If no spec took any time, bars have no width.
        sig_times=sigs, longest=sigs and sigs[0].seconds or 1,
        timeless=len(result.ran) > 1 and not timed)


def render_comparison(comparison) -> str:
    """The page of a :class:`~.comparison.Comparison`."""
    return html.page(
        'comparison.html', package=_PACKAGE, style=_STYLE,
        title=comparison_forms.TITLE, comparison=comparison,
        grid_title=comparison_forms.grid_title(comparison.grid),
        kinds=compare.KINDS, statement=comparisons.statement,
        delta=lambda seconds: ('+' if seconds >= 0 else '-')
        + text.duration(abs(seconds)))
