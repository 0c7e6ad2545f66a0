# SPDX-License-Identifier: Apache-2.0
"""A run for people and programs: one view, which each format renders.

The view contains a :class:`~magnum_capi_tempest.report.model.Run`, so that the
report package can show it in a terminal and as Markdown, JSON and JUnit
without knowing about conformance. Only specs that began become tests:
thousands that were not selected say nothing about the cluster and are only
counted.

The HTML page shows, in this order: did it pass and can it be submitted, what
failed and for how many causes, what failed around the tests, what passed in a
rerun, when tests failed, what is slow.
"""

import collections
import collections.abc
import dataclasses
import datetime
import pathlib
import types

from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import failures
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance import verdict as verdicts
from magnum_capi_tempest import json_types
from magnum_capi_tempest.report import model as report
from magnum_capi_tempest.report import timeline
from magnum_capi_tempest import texts

#: The format that people open.
PAGE = 'report.html'

STAND_INS = ('The images of this run are stand-ins for the upstream ones. It '
             'shows how the cluster and the harness behave, but it does not '
             'prove conformance.')

#: Up to this many missing tests are named in any mode. A run of few tests,
#: which is not meant for certification, misses hundreds.
FEW = 50
#: Up to this many causes, the first failure of each is unfolded.
_OPEN = 3
#: Facts that the page never folds.
_FACTS = ('Kubernetes', 'cluster', 'driver', 'CNI', 'node image', 'nodes',
          'mode', 'specs')
_STATUS = {
    model.PASSED: report.PASSED,
    model.FAILED: report.FAILED,
    model.SKIPPED: report.SKIPPED,
    model.UNFINISHED: report.UNFINISHED,
}


@dataclasses.dataclass(frozen=True)
class View:
    """What every format shows.

    :param judged: :class:`~.verdict.Verdict`.
    :param run: the same in the form of the report package.
    :param causes: of the failures.
    :param reruns: results of rerunning failures, and ``again`` what they say
        about each failure.
    """

    judged: verdicts.Verdict
    run: report.Run
    causes: tuple[failures.Cause, ...]
    reruns: tuple[model.Result, ...] = ()
    again: tuple[rerun.RerunSpec, ...] = ()

    @property
    def certification(self) -> str:
        """Eligible or not, as a title."""
        return ('Eligible for certification' if self.judged.eligible
                else 'NOT eligible for certification')


def view(judged: verdicts.Verdict,
         reruns: collections.abc.Iterable[model.Result] = ()) -> View:
    """The view of a run.

    :param reruns: results of rerunning its failures. They are shown, but do
        not change the verdict.
    """
    result, reruns = judged.result, tuple(reruns)
    causes = failures.causes(result.failures, result.cluster.nodes)
    again = rerun.label(result, reruns) if reruns else ()
    run = report.Run(
        title=result.title, started=result.started,
        seconds=result.seconds or 0.0, tests=_tests(result, causes),
        facts=types.MappingProxyType(_facts(result)),
        problems=judged.reasons[1:], outcome=judged.outcome,
        conclusion=judged.conclusion)
    found = View(judged, run, causes, reruns, again)
    return dataclasses.replace(found, run=dataclasses.replace(
        run, sections=tuple(_sections(found))))


# Libraries of the formats are imported only when needed: they take as long as
# reading an archive.


def to_markdown(shown: View) -> str:
    from magnum_capi_tempest.report import markdown
    return markdown.render(shown.run)


def to_json(shown: View, **more: object) -> str:
    """The JSON report: that of every run, plus a part on conformance.

    :param more: additional entries by name; they must be valid in JSON.
    """
    from magnum_capi_tempest.report import json_
    return json_.render(shown.run, **more, conformance=_document(shown))


def to_html(shown: View) -> str:
    """The page: a single file that loads nothing and escapes everything."""
    from magnum_capi_tempest.report import html
    result, verdict = shown.judged.result, shown.judged
    run = shown.run
    # The cause already shows the reason, for all of its tests.
    tests = {test.id: dataclasses.replace(test, tags=(), details=tuple(
        d for d in test.details if d.name != 'reason')) for test in run.tests}
    opened = {cause.specs[0].name for cause in shown.causes
              } if len(shown.causes) <= _OPEN else set()
    return html.page(
        'conformance.html', package='magnum_capi_tempest.conformance',
        style=('conformance.css',), run=run, verdict=verdict,
        missing=_missing(shown.judged), certification=shown.certification,
        facts={key: value for key, value in run.facts.items()
               if key in _FACTS},
        more={key: value for key, value in run.facts.items()
              if key not in _FACTS},
        stand_ins=STAND_INS if result.stand_in_images else '',
        causes=[(cause, [tests[spec.name] for spec in cause.specs])
                for cause in shown.causes],
        opened=opened,
        passed=[test for test in run.tests if not test.failing],
        sigs=failures.by_sig(result), harness=_harness(result),
        groups=sorted(collections.Counter(
            test.group for test in run.tests).items()),
        reruns=shown.again,
        rerun_titles=[one.title for one in shown.reruns],
        slowest=failures.slowest(result),
        timeline=timeline.of(run), width=timeline.WIDTH,
        undrawn=sum(test.started is None for test in run.failures))


def write(folder: pathlib.Path, shown: View) -> dict[str, pathlib.Path]:
    """Write a run to a folder in every format.

    :returns: dict of file name to path.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    from magnum_capi_tempest import report as reports
    from magnum_capi_tempest.report import junit
    return reports.write_files(folder, {
        PAGE: to_html(shown),
        'report.md': to_markdown(shown),
        'report.json': to_json(shown),
        'junit.xml': junit.render(shown.run),
    })


def ended(rerun_ended: rerun.Ended
          ) -> collections.abc.Iterator[report.Section]:
    """Sections for a :class:`~.rerun.Ended`."""
    yield _rerun_section(rerun_ended.again)
    for title, lines in (
            ('Not exactly these specs ran', rerun_ended.deviations),
            ('The rerun proves nothing', rerun_ended.broken)):
        if lines:
            yield report.Section(title, lines)


def _tests(result: model.Result, causes: tuple[failures.Cause, ...]
           ) -> tuple[report.Test, ...]:
    """Specs that began as tests: failures first, grouped by cause."""
    called_off = [s for s in result.specs if _called_off(s)]
    passed = [s for s in result.ran if s.status == model.PASSED]
    return (*(_test(spec, str(cause), _began(spec, result))
              for cause in causes for spec in cause.specs),
            *(_test(spec) for spec in (*called_off, *passed)))


def _began(spec: model.Spec, result: model.Result
           ) -> datetime.datetime | None:
    """When a failed spec began; None if that is not within the run."""
    ended = failures.ended_at(spec)
    if not (ended and result.started and result.seconds) or (
            spec.seconds is None):
        return None
    # The start of the suite is recorded in whole seconds.
    if not -1 <= (ended - result.started).total_seconds() <= (
            result.seconds + 1):
        return None
    return ended - datetime.timedelta(seconds=spec.seconds)


def _test(spec: model.Spec, cause: str = '',
          began: datetime.datetime | None = None) -> report.Test:
    details: tuple[report.Detail, ...] = ()
    if _called_off(spec):
        details = (report.Detail('reason', failures.redacted(spec.failure)),)
    elif cause:
        details = (
            report.Detail('reason', cause),
            report.Detail('failure', failures.redacted(spec.failure)),
            report.Detail('log up to the failure', failures.excerpt(spec)),
            report.Detail('events of its namespace',
                          '\n'.join(failures.events(spec))))
    process = failures.process(spec) if began else ''
    return report.Test(
        name=spec.name, id=spec.name, status=_STATUS[spec.status],
        seconds=spec.seconds, started=began,
        tags=(f'{timeline.WORKER}{process}',) if process else (),
        details=tuple(d for d in details if d.text),
        group=f'conformance.sig-{spec.sig or "none"}')


def _facts(result: model.Result) -> dict[str, str]:
    """What was tested and how, in the order of a reader's questions."""
    cluster = result.cluster
    called_off = sum(map(_called_off, result.specs))
    not_selected = result.counts.get(model.SKIPPED, 0) - called_off
    found = {
        'Kubernetes': cluster.kubernetes,
        'cluster': cluster.name,
        'driver': cluster.driver,
        'CNI': cluster.cni,
        'node image': cluster.image,
        'nodes': f'{len(cluster.nodes)}: {", ".join(cluster.nodes)}'
        if cluster.nodes else '',
        'mode': result.mode,
        'specs': f'{len(result.ran)} ran, '
        + (f'{called_off} skipped themselves, ' if called_off else '')
        + f'{not_selected} not selected',
        'run by': f'{result.backend} {result.backend_version}'.strip(),
        'plugins': ', '.join(
            f'{plugin.name} {plugin.status or "without a status"}'
            for plugin in result.plugins),
        # Its name only: its folder is nobody else's business.
        'source': result.source.rstrip('/').rpartition('/')[2],
        'SHA-256': result.sha256,
        'wrong with the cluster': '; '.join(result.cluster_warnings),
    }
    found |= {key: value for key, value in result.facts.items()
              if key not in found}
    if archive.LAST_LINES in found:
        found[archive.LAST_LINES] = failures.redacted(
            found[archive.LAST_LINES])
    return {key: value for key, value in found.items() if value}


def _sections(shown: View) -> collections.abc.Iterator[report.Section]:
    result, verdict = shown.judged.result, shown.judged
    if result.stand_in_images:
        yield report.Section('STAND-IN IMAGES', (STAND_INS,))
    if shown.causes:
        yield report.Section('Causes of failures', tuple(
            f'{texts.number(len(cause.specs), "spec")} '
            f'({", ".join(cause.sigs)}): {cause}'
            + (f' on {", ".join(cause.nodes)}' if cause.nodes else '')
            for cause in shown.causes))
        yield report.Section('Failures by SIG', tuple(
            f'{sig or "none"}: {failed} of {ran} specs failed'
            for sig, (failed, ran) in failures.by_sig(result).items()))
    lines = _harness(result)
    if lines:
        yield report.Section('Errors of the harness, not of the cluster',
                             tuple(lines))
    if shown.reruns:
        yield _rerun_section(shown.again)
    yield report.Section(shown.certification, (
        *(verdict.certification_blockers or ('every required test passed',)),
        *verdict.remarks))
    names = _missing(shown.judged)
    if names:
        yield report.Section(
            f'Required tests that did not run or did not pass: {len(names)}',
            names)


def _document(shown: View) -> json_types.Object:
    """The part of the JSON report on conformance; names are an interface."""
    result, verdict = shown.judged.result, shown.judged
    return {
        'outcome': verdict.outcome,
        'exit_code': verdict.exit_code,
        'reasons': list(verdict.reasons),
        'eligible': verdict.eligible,
        'certification_blockers': list(verdict.certification_blockers),
        'missing': list(verdict.missing),
        'remarks': list(verdict.remarks),
        'skipped': sorted({spec.name for spec in result.specs
                           if spec.status == model.SKIPPED}),
        'cluster_warnings': list(result.cluster_warnings),
        'stand_in_images': result.stand_in_images,
        'mode': result.mode,
        'planned': result.planned,
        'counts': result.counts,
        'cluster': dataclasses.asdict(result.cluster),
        'plugins': {plugin.name: plugin.status for plugin in result.plugins},
        'causes': [{
            'message': cause.message,
            'place': cause.place,
            'sigs': list(cause.sigs),
            'nodes': list(cause.nodes),
            'specs': [spec.name for spec in cause.specs],
            'excerpt': failures.excerpt(cause.specs[0]),
        } for cause in shown.causes],
        'infra_errors': list(map(dataclasses.asdict, result.infra_errors)),
        'suite_nodes': list(map(dataclasses.asdict, result.suite_nodes)),
        'reruns': [{
            'name': one.spec.name, 'outcome': one.outcome,
            'statuses': list(one.statuses),
        } for one in shown.again],
    }


def _missing(judged: verdicts.Verdict) -> tuple[str, ...]:
    """Required tests to name, for a run that was meant to include them.

    None for a run in which no spec has ended yet, as all would be missing.
    The verdict counts them in any case.
    """
    result, missing = judged.result, judged.missing
    meant = result.specs and result.mode in (
        model.CERTIFIED, model.NON_DISRUPTIVE)
    return missing if meant or len(missing) <= FEW else ()


def _harness(result: model.Result) -> list[str]:
    """What failed around the specs, a line each."""
    lines = [f'{e.where}: {e.message}' for e in result.infra_errors]
    lines += [f'{n.name}: {failures.redacted(n.failure)}'
              for n in result.suite_nodes
              if n.status == model.FAILED]
    return lines


def _rerun_section(labels: collections.abc.Iterable[rerun.RerunSpec]
                   ) -> report.Section:
    return report.Section('Failures that were rerun', tuple(
        f'{one.outcome}: {one.spec.name}' for one in labels))


def _called_off(spec: model.Spec) -> bool:
    return (spec.status == model.SKIPPED
            and spec.detail == model.SKIPPED_ITSELF)
