# SPDX-License-Identifier: Apache-2.0

"""What is said of a run that is watched: to people, and to programs. Pure.

A ``state`` is a :class:`.watch.State`; ``now`` is in seconds of its clock.
"""

import collections
import collections.abc
import dataclasses
import datetime
import typing

from magnum_capi_tempest.conformance.run import runner

if typing.TYPE_CHECKING:
    from magnum_capi_tempest.conformance.run import watch

#: Characters of the bar.
_BAR = 24


def changes(before: 'watch.Observation', seen: 'watch.Observation',
            silent: float) -> collections.abc.Iterator[str]:
    """Yield what a user should know of an observation.

    :param before: the one before it.
    :param silent: seconds since anything answered.
    """
    if seen.error and not before.error:
        yield f'no answer, asking again: {seen.error}'
    elif before.error and not seen.error:
        yield f'answers again after {silent:.0f} s'
    if seen.status and seen.status.message and (
            before.status is None
            or before.status.message != seen.status.message):
        yield seen.status.message
    old = {p.name: p for p in before.pods or ()}
    for pod in seen.pods or ():
        if pod.name not in old or old[pod.name].state != pod.state:
            yield (f'pod {pod.name}: {pod.phase}'
                   + (f', {pod.reason}' if pod.reason else '')
                   + (f': {pod.message}' if pod.message else ''))
    for name in sorted(set(old) - {p.name for p in seen.pods or ()}):
        yield f'pod {name} is gone'
    if before.nodes is not None and seen.nodes is not None:
        joined = sorted(set(seen.nodes) - set(before.nodes))
        left = sorted(set(before.nodes) - set(seen.nodes))
        if joined:
            yield f'nodes joined: {", ".join(joined)}'
        if left:
            yield (f'nodes left: {", ".join(left)}; tests that used them may '
                   'fail because of that')
    rest = _others(seen.status)
    if rest and not _others(before.status):
        yield ('The tests have ended, and Sonobuoy waits for '
               + ', '.join(sorted(rest)))


def _others(status: runner.Status | None) -> set[str]:
    """Names of the plugins that continue after the tests."""
    running = {p.name for p in (status.plugins if status else ())
               if p.status == runner.RUNNING}
    known = {p.name for p in (status.plugins if status else ())}
    return set() if runner.TESTS in running or runner.TESTS not in known \
        else running


def line(state: 'watch.State', now: float) -> str:
    """The progress of a run, one line: a bar, the counts and their age."""
    counts, seen = state.counts, state.seen
    parts = ['no answer' if seen.error else
             seen.status.state or 'starting' if seen.status else 'starting']
    if counts.total:
        full = min(_BAR * counts.done // counts.total, _BAR)
        parts.append(f'[{"#" * full}{"." * (_BAR - full)}] '
                     f'{counts.done}/{counts.total}')
        parts.append(f'{counts.failed} failed')
        parts.append(
            'nothing counted yet' if not counts.done
            and counts.source == 'sonobuoy' else
            f'counted {_span(now - counts.updated)} ago'
            + (' in the log' if counts.source == 'log' else ''))
    return ', '.join([*parts, _span(now - state.began)])


def details(state: 'watch.State') -> collections.abc.Iterator[str]:
    """Yield the plugins, if there are several, and failed specs, in lines."""
    plugins = state.seen.status.plugins if state.seen.status else ()
    there: dict[str, list[runner.Plugin]] = collections.defaultdict(list)
    for plugin in plugins:
        there[plugin.name].append(plugin)
    if len(plugins) > 1:
        for name, nodes in sorted(there.items()):
            words = collections.Counter(
                plugin.status + (f' ({plugin.result})' if plugin.result
                                 else '') for plugin in nodes)
            yield f'plugin {name}: ' + ', '.join(
                word if nodes[0].node == 'global' else
                f'{word} on {number} of {len(nodes)} nodes'
                for word, number in sorted(words.items()))
    for plugin in plugins:
        yield from (f'failed: {name}' for name in plugin.failures)


def document(state: 'watch.State', now: float) -> dict[str, typing.Any]:
    """A state for programs; the names are an interface.

    ``outcome`` is empty while the run continues. ``seconds`` is the age of the
    run, ``counted`` that of the counts.
    """
    counts, seen = state.counts, state.seen
    return {
        'state': seen.status.state if seen.status else '',
        'outcome': state.outcome, 'reason': state.reason,
        'error': seen.error, 'seconds': round(now - state.began),
        'counts': {'total': counts.total, 'passed': counts.passed,
                   'failed': counts.failed, 'source': counts.source,
                   'counted': round(now - counts.updated)},
        'failures': [name for plugin in (
            seen.status.plugins if seen.status else ())
            for name in plugin.failures],
        'pods': [dataclasses.asdict(pod) for pod in seen.pods or ()],
        'warnings': list(state.warnings)}


def _span(seconds: float) -> str:
    return str(datetime.timedelta(seconds=max(int(seconds), 0)))
