# SPDX-License-Identifier: Apache-2.0
"""A conformance result as a run of the common report.

The report package can then show it in the terminal and as Markdown, JSON,
JUnit and subunit, without knowing about conformance. Only specs that began
become tests: thousands that were not selected say nothing about the cluster
and are only counted.
"""

import types

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import fingerprints
from magnum_capi_tempest.conformance.reports import rerun
from magnum_capi_tempest import redact
from magnum_capi_tempest.report import model as report
from magnum_capi_tempest import texts

STAND_INS = ('The images of this run are stand-ins for the upstream ones. It '
             'shows how the cluster and the harness behave, but it does not '
             'prove conformance.')

#: Up to this many missing tests are named in any mode. A run of few tests,
#: which is not meant for certification, misses hundreds.
FEW = 50

_STATUS = {
    model.PASSED: report.PASSED,
    model.FAILED: report.FAILED,
    model.SKIPPED: report.SKIPPED,
    model.UNFINISHED: report.UNFINISHED,
}


def run(result, verdict, reruns=()):
    """A result and its verdict as a :class:`~..report.model.Run`.

    :param reruns: results of rerunning its failures. They are shown, but do
        not change the verdict.
    """
    return report.Run(
        title=result.title,
        started=result.started,
        seconds=result.seconds or 0.0,
        tests=tests(result),
        facts=types.MappingProxyType(facts(result)),
        problems=verdict.reasons[1:],
        sections=tuple(_sections(result, verdict, reruns)),
        outcome=verdict.outcome,
        conclusion=conclusion(result, verdict))


def conclusion(result, verdict) -> str:
    """The verdict in a few words, without its name."""
    if verdict.reasons:
        return verdict.reasons[0]
    number = len(result.ran)
    return ('the one spec that ran passed' if number == 1
            else f'all {number} specs that ran passed')


def tests(result):
    """Specs that began as tests: failures first, grouped by cause."""
    failed = [spec for cause in fingerprints.causes(
        result.failures, result.cluster.nodes) for spec in cause.specs]
    called_off = [s for s in result.specs if _called_off(s)]
    passed = [s for s in result.ran if s.status == model.PASSED]
    return tuple(test(spec, result.cluster.nodes)
                 for spec in (*failed, *called_off, *passed))


def test(spec, nodes=()):
    """One spec as a test."""
    details = ()
    if _called_off(spec):
        details = (report.Detail('reason', redact.redact(spec.failure)),)
    if spec.status in (model.FAILED, model.UNFINISHED):
        details = (
            report.Detail('reason', str(fingerprints.of(spec, nodes))),
            report.Detail('failure', redact.redact(spec.failure)),
            report.Detail('log up to the failure',
                          fingerprints.excerpt(spec)),
            report.Detail('events of its namespace',
                          '\n'.join(fingerprints.events(spec))))
    return report.Test(
        name=spec.name, id=spec.name, status=_STATUS[spec.status],
        seconds=spec.seconds, details=tuple(d for d in details if d.text),
        group=f'conformance.sig-{spec.sig or "none"}')


def facts(result) -> dict[str, str]:
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
        # Its name only: its folder is nobody else's business.
        'source': result.source.rstrip('/').rpartition('/')[2],
        'SHA-256': result.sha256,
        'record': 'verified' if result.verified else 'not verified',
        'wrong with the cluster': '; '.join(result.signs),
    }
    # They include the end of a log that was cut off.
    found |= {key: redact.redact(value) for key, value in result.facts.items()
              if key not in found}
    return {key: value for key, value in found.items() if value}


def document(result, verdict, reruns=()) -> dict:
    """The part of the JSON report on conformance; names are an interface."""
    nodes = result.cluster.nodes
    return {
        'outcome': verdict.outcome,
        'reasons': list(verdict.reasons),
        'eligible': verdict.eligible,
        'hindrances': list(verdict.hindrances),
        'missing': list(verdict.missing),
        'remarks': list(verdict.remarks),
        'skipped': sorted({spec.name for spec in result.specs
                           if spec.status == model.SKIPPED}),
        'signs': list(result.signs),
        'stand_in_images': result.stand_in_images,
        'mode': result.mode,
        'planned': result.planned,
        'counts': result.counts,
        'cluster': {
            'kubernetes': result.cluster.kubernetes,
            'nodes': list(nodes),
            'name': result.cluster.name,
            'driver': result.cluster.driver,
            'cni': result.cluster.cni,
            'image': result.cluster.image,
        },
        'causes': [{
            'message': cause.fingerprint.message,
            'place': cause.fingerprint.place,
            'sigs': list(cause.sigs),
            'nodes': list(cause.nodes),
            'specs': [spec.name for spec in cause.specs],
            'excerpt': cause.excerpt,
        } for cause in fingerprints.causes(result.failures, nodes)],
        'infra_errors': [{
            'kind': error.kind, 'where': error.where,
            'message': error.message} for error in result.infra_errors],
        'suite_nodes': [{
            'name': node.name, 'status': node.status,
            'failure': node.failure} for node in result.suite_nodes],
        'reruns': [{
            'name': one.spec.name, 'outcome': one.outcome,
            'statuses': list(one.statuses),
        } for one in rerun.label(result, reruns)] if reruns else [],
    }


def certification(verdict) -> str:
    """Eligible or not, as a title."""
    return ('Eligible for certification' if verdict.eligible
            else 'NOT eligible for certification')


def missing(result, verdict) -> tuple[str, ...]:
    """Required tests to name, for a run that was meant to include them.

    None for a run in which no spec has ended yet, as all would be missing.
    The verdict counts them in any case.
    """
    meant = result.specs and result.mode in (
        model.CERTIFIED, model.NON_DISRUPTIVE)
    return verdict.missing if meant or len(verdict.missing) <= FEW else ()


def harness(result) -> list[str]:
    """What failed around the specs, a line each."""
    lines = [f'{e.where} ({e.kind}): {e.message}'
             for e in result.infra_errors]
    lines += [f'{n.name}: {redact.redact(n.failure)}'
              for n in result.suite_nodes
              if n.status == model.FAILED]
    return lines


def rerun_section(labels):
    """The rerun failures as a :class:`~..report.model.Section`."""
    return report.Section('Failures that were rerun', tuple(
        f'{one.outcome}: {one.spec.name}' for one in labels))


def ended(rerun_ended):
    """Sections for a :class:`~.rerun.Ended`."""
    yield rerun_section(rerun_ended.again)
    for title, lines in (
            ('Not exactly these specs ran', rerun_ended.deviations),
            ('Errors of the harness, not of the cluster',
             rerun_ended.broken)):
        if lines:
            yield report.Section(title, lines)


def _sections(result, verdict, reruns):
    if result.stand_in_images:
        yield report.Section('STAND-IN IMAGES', (STAND_INS,))
    yield report.Section(certification(verdict), (
        *(verdict.hindrances or ('every required test passed',)),
        *verdict.remarks))
    names = missing(result, verdict)
    if names:
        yield report.Section(
            f'Required tests that did not run or did not pass: {len(names)}',
            names)
    causes = fingerprints.causes(result.failures, result.cluster.nodes)
    if causes:
        yield report.Section('Causes of failures', tuple(
            f'{texts.number(len(cause.specs), "spec")} '
            f'({", ".join(cause.sigs)}): '
            f'{cause.fingerprint}'
            + (f' on {", ".join(cause.nodes)}' if cause.nodes else '')
            for cause in causes))
        yield report.Section('Failures by SIG', tuple(
            f'{sig or "none"}: {failed} of {ran} specs failed'
            for sig, (failed, ran) in fingerprints.by_sig(result).items()))
    lines = harness(result)
    if lines:
        yield report.Section('Errors of the harness, not of the cluster',
                             tuple(lines))
    if reruns:
        yield rerun_section(rerun.label(result, reruns))


def _called_off(spec):
    return (spec.status == model.SKIPPED
            and spec.detail == model.SKIPPED_ITSELF)
