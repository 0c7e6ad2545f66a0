# SPDX-License-Identifier: Apache-2.0

"""A result as plain lines: first the verdict, then its reasons. Pure.

For a terminal or a CI log. Colours are names of styles that a terminal may
apply. No library is imported, so that showing a result is as fast as reading
it. The report has the rest: causes, output, slow specs.
"""

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import verdict as verdicts
from magnum_capi_tempest import texts

#: Most failed specs, and lines of a failure, that are shown.
_SPECS, _LINES = 50, 3
_STYLES = {verdicts.PASSED: 'bold green', verdicts.FAILED: 'bold red',
           verdicts.INCOMPLETE: 'bold yellow',
           verdicts.HARNESS_ERROR: 'bold magenta'}


def lines(result, verdict):
    """Pairs of line and style; the style may be empty."""
    yield from _head(result, verdict)
    yield from _cluster(result)
    yield from _errors(result)
    yield from _failures(result)
    if verdict.outcome == verdicts.PASSED:
        # Otherwise they are part of the reasons.
        for sign in result.signs:
            yield _line(f'Seen in the cluster: {sign}'), 'yellow'
    if verdict.outcome == verdicts.PASSED and not verdict.eligible:
        yield '', ''
        yield 'It does not certify the cluster:', ''
    elif not verdict.eligible:
        yield '', ''
        yield 'Between it and certification:', ''
    for hindrance in verdict.hindrances:
        yield f'  - {_line(hindrance)}', ''
    for remark in verdict.remarks:
        yield _line(f'Note: {remark}'), 'yellow'
    if verdict.eligible:
        yield '', ''
        yield 'Eligible for certification.', 'bold green'


def document(result, verdict):
    """The same for programs: only lists, mappings, texts and numbers."""
    return {
        'title': result.title, 'source': result.source,
        'sha256': result.sha256, 'outcome': verdict.outcome,
        'exit_code': verdict.exit_code, 'reasons': list(verdict.reasons),
        'eligible': verdict.eligible,
        'hindrances': list(verdict.hindrances),
        'missing': list(verdict.missing),
        'remarks': list(verdict.remarks),
        'mode': result.mode, 'kubernetes': result.cluster.kubernetes,
        'nodes': list(result.cluster.nodes),
        'stand_in_images': result.stand_in_images, 'whole': result.whole,
        'signs': list(result.signs),
        'started': result.started.isoformat() if result.started else None,
        'seconds': result.seconds, 'planned': result.planned,
        'counts': {status: result.counts.get(status, 0)
                   for status in model.STATUSES},
        'failures': [{'name': s.name, 'status': s.status,
                      'detail': s.detail, 'seconds': s.seconds,
                      'failure': s.failure} for s in result.failures],
        'infra_errors': [{'kind': e.kind, 'where': e.where,
                          'message': e.message}
                         for e in result.infra_errors],
        'suite_nodes': [{'name': n.name, 'status': n.status}
                        for n in result.suite_nodes],
        'plugins': [{'name': p.name, 'status': p.status,
                     'counts': dict(p.counts)} for p in result.plugins]}


def _head(result, verdict):
    style = _STYLES[verdict.outcome]
    why = f': {_line(verdict.reasons[0])}' if verdict.reasons else ''
    yield (f'{verdict.outcome.upper()}: {_line(result.title)}{why}', style)
    for reason in verdict.reasons[1:]:
        yield f'! {_line(reason)}', 'yellow'
    counts = result.counts
    skipped = counts.pop(model.SKIPPED, 0)
    found = ', '.join(f'{number} {status}'
                      for status, number in counts.items())
    yield (f'{texts.number(len(result.ran), "spec")} ran'
           f'{_time(result.seconds)}: '
           f'{found or "none"}; {skipped} skipped', '')


def _cluster(result):
    cluster = result.cluster
    known = [f'Kubernetes {cluster.kubernetes or "?"}',
             texts.number(len(cluster.nodes), 'node'), f'mode {result.mode}']
    if result.backend_version:
        known.append(f'{result.backend} {result.backend_version}')
    for what, value in (('driver', cluster.driver), ('CNI', cluster.cni)):
        if value:
            known.append(f'{what} {value}')
    yield _line(', '.join(known)), ''
    if result.stand_in_images:
        yield ('The images were stand-ins, so this proves nothing about '
               'conformance', 'yellow')
    for plugin in result.plugins:
        counts = ', '.join(f'{number} {status or "unknown"}'
                           for status, number in plugin.counts.items())
        yield (_line(f'plugin {plugin.name}: {plugin.status or "?"}; '
                     f'Sonobuoy counts {counts or "nothing"}'), '')
    if result.suite_nodes:
        yield (f'{len(result.suite_nodes)} suite nodes of Ginkgo are not '
               'counted as specs', '')


def _errors(result):
    if not result.infra_errors:
        return
    yield '', ''
    yield 'Errors of the harness, not of the cluster:', ''
    for error in result.infra_errors[:_SPECS]:
        yield ('  ' + _line(f'{error.kind}, {error.where}: '
                            f'{error.message}'), 'magenta')


def _failures(result):
    for spec in result.failures[:_SPECS]:
        detail = f' ({spec.detail})' if spec.detail else ''
        yield '', ''
        yield f'✗ {_line(spec.name + detail)}', 'red'
        told = [line for line in spec.failure.splitlines() if line.strip()]
        for line in told[:_LINES]:
            yield f'    {_line(line)}', ''
    left = len(result.failures) - _SPECS
    if left > 0:
        yield '', ''
        yield f'... and {left} more', ''


def _time(seconds):
    if seconds is None:
        return ''
    minutes, rest = divmod(round(seconds), 60)
    return f' in {minutes} min {rest} s' if minutes else f' in {rest} s'


def _line(text):
    return texts.line(text, 500)
