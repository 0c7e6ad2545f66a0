# SPDX-License-Identifier: Apache-2.0

"""Messages for users who watch a run. Pure."""

import collections
import datetime

from magnum_capi_tempest.conformance.run import sonobuoy

#: Characters of the bar.
_BAR = 24


def pods(old, new):
    """Changes of a run's pods since the last observation."""
    before = {p.name: p.state for p in old}
    for pod in new:
        if before.get(pod.name) != pod.state:
            yield (f'pod {pod.name}: {pod.phase}'
                   + (f', {pod.reason}' if pod.reason else '')
                   + (f': {pod.message}' if pod.message else ''))
    names = {p.name for p in new}
    for pod in old:
        if pod.name not in names:
            yield f'pod {pod.name} is gone'


def nodes(old, new):
    """Changes of the nodes, which are sets of names; None: unknown."""
    if old is None or new is None:
        return
    if new - old:
        yield f'nodes joined: {", ".join(sorted(new - old))}'
    if old - new:
        yield (f'nodes left: {", ".join(sorted(old - new))}; tests that used '
               'them may fail because of that')


def waits(old, new):
    """Report once that other plugins continue after the tests.

    :param old: :class:`.sonobuoy.Status` of the last observation, or None.
    """
    rest = _unfinished(new)
    if rest and not _unfinished(old):
        yield ('The tests have ended, and Sonobuoy waits for '
               + ', '.join(sorted(rest)))


def _unfinished(status):
    """Names of plugins that continue after the tests."""
    running = {name: sonobuoy.RUNNING in {one.status for one in nodes}
               for name, nodes in _by_name(status).items()}
    if running.get(sonobuoy.PLUGIN, True):
        return set()
    return {name for name, goes_on in running.items() if goes_on}


def _by_name(status):
    """The states of each plugin on its nodes, by the plugin's name."""
    found = collections.defaultdict(list)
    for plugin in status.plugins if status else ():
        found[plugin.name].append(plugin)
    return found


def trouble(pod):
    """A pod and its problem, one line."""
    return (f'pod {pod.name} {pod.reason or pod.phase}'
            + (f' on {pod.node}' if pod.node else '')
            + (f': {pod.message}' if pod.message else ''))


def line(watch, now: float) -> str:
    """The progress of a run, one line: a bar, the counts and their age.

    :param watch: :class:`.watch.Watch`.
    :param now: seconds, from the watch's clock.
    """
    counts, status = watch.counts, watch.status
    state = status.status if status else 'starting'
    if watch.error:
        state = 'no answer'
    parts = [state]
    if counts.total:
        full = min(_BAR * counts.done // counts.total, _BAR)
        parts.append(f'[{"#" * full}{"." * (_BAR - full)}] '
                     f'{counts.done}/{counts.total}')
        parts.append(f'{counts.failed} failed')
        if counts.done or counts.source != 'sonobuoy':
            parts.append(
                f'counted {_span(now - counts.updated)} ago'
                + (' in the log' if counts.source == 'e2e log' else ''))
        else:
            parts.append('nothing counted yet')
    return ', '.join([*parts, _span(now - watch.began)])


def plugins(status):
    """Yield the states of plugins and the failed tests, a line each.

    With one plugin on one node, :func:`line` is enough.

    :param status: :class:`.sonobuoy.Status`, or None.
    """
    there = _by_name(status)
    if sum(map(len, there.values())) > 1:
        for name, nodes in sorted(there.items()):
            words = collections.Counter(
                plugin.status + (f' ({plugin.result})' if plugin.result
                                 else '') for plugin in nodes)
            yield f'plugin {name}: ' + ', '.join(
                word if nodes[0].node == 'global' else
                f'{word} on {number} of {len(nodes)} nodes'
                for word, number in sorted(words.items()))
    for nodes in there.values():
        for plugin in nodes:
            yield from (f'failed: {name}' for name in plugin.failures)


def _span(seconds):
    return str(datetime.timedelta(seconds=max(int(seconds), 0)))
