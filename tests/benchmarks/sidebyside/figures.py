# SPDX-License-Identifier: Apache-2.0
"""Figures from what was measured. Pure."""

import re
import statistics

#: At most so much of what magnum-capi-helm takes.
GOAL = 0.5

OURS, OTHER = 'k8s_capi_v1', 'k8s_capi_helm_v1'

#: Measured of a poll, and how it is printed.
POLL = (('requests', 'API requests'), ('handshakes', 'TLS handshakes'),
        ('cpu', 'CPU/ms'), ('wall', 'wall/ms'),
        ('children', 'CPU/ms of helm'), ('own', "Magnum's own CPU/ms"))

_COUNTED = re.compile(
    r'^apiserver_request_total{[^}]*resource="[^"]+'
    r'[^}]*verb="(\w+)"[^}]*} (\S+)$', re.MULTILINE)


def spread(values):
    """Number, mean, median and extremes of numbers; None of none.

    A driver spends much on some polls and little on the others, so that the
    mean is what a conductor pays and the median alone would hide it.
    """
    values = [v for v in values if v is not None]
    if not values:
        return None
    return {'n': len(values), 'mean': statistics.mean(values),
            'median': statistics.median(values),
            'min': min(values), 'max': max(values)}


def polls(found):
    """Spread of each measure over polls.

    :param found: list of what polls.Conductor.poll returns.
    """
    return {key: spread([poll[key] for poll in found]) for key, _ in POLL}


def lives(found):
    """Seconds and faults of operations of one kind and driver.

    :param found: lives.Life objects that have ended.
    :returns: spreads of ``seconds`` from request to COMPLETE, of ``ready``
        from request to the real end, of ``lag`` from that to COMPLETE, and
        of ``early``, seconds by which a COMPLETE was too early; numbers
        ``premature``, ``before_addons``.
    """
    right = [life for life in found if not life.early]
    wrong = [life for life in found if life.early]
    return {
        'seconds': spread([life.shown - life.asked for life in found]),
        'ready': spread([life.true - life.asked for life in found
                         if life.true is not None]),
        'lag': spread([life.shown - life.true for life in right]),
        'blind': max((life.blind for life in found), default=0.0),
        'premature': len(wrong),
        'early': spread([life.true - life.shown for life in wrong
                         if life.true is not None]),
        'missing': sorted({life.early for life in wrong}),
        'before_addons': sum(bool(life.addons) for life in found)}


def ratio(ours, other):
    """Ours by the other's, None when there is nothing to divide by."""
    if ours is None or not other:
        return None
    return ours / other


def verdict(sizes):
    """Whether the goal is met, in lines; and whether ours was premature.

    :param sizes: list of results of a number of clusters; see driver.py.
    :returns: lines, number of premature COMPLETEs of ours.
    """
    lines, premature = [], 0
    for size in sizes:
        found = size['drivers']
        ours = found.get(OURS)
        if ours is None:
            continue
        premature += ours['held']['premature'] + sum(
            ours[kind]['premature'] for kind in ('create', 'resize')
            if kind in ours)
        if OTHER not in found:
            continue
        for key, name in (('requests', 'API requests'), ('cpu', 'CPU')):
            part = ratio(ours['held'][key]['mean'],
                         found[OTHER]['held'][key]['mean'])
            lines.append(
                f'{size["clusters"]:3} clusters, {name} of a poll: '
                f'{part:.2f} of {OTHER}, goal {GOAL}: '
                + ('met' if part <= GOAL else 'NOT MET'))
    lines.append(f'COMPLETE of {OURS} before it was true: {premature}')
    return lines, premature


def off(counted, idle, sent, seconds, idle_seconds):
    """How far the API server's count is from that of the wire.

    Controllers go on meanwhile; what they ask for in the same time without
    polls is taken off.

    :param counted, idle: requests by verb that the server counted in
        ``seconds`` with polls and in ``idle_seconds`` without.
    :param sent: requests of the polls by what they counted themselves.
    :returns: the part by which it is more (or less, negative).
    """
    others = sum(idle.values()) * seconds / idle_seconds
    return (sum(counted.values()) - others) / sent - 1


def counted(text):
    """Requests for objects that an API server has answered, by verb.

    Watches are counted when they end, so they are left out.

    :param text: its metrics, in the text format of Prometheus.
    """
    found = {}
    for verb, value in _COUNTED.findall(text):
        if verb != 'WATCH':
            found[verb] = found.get(verb, 0) + int(float(value))
    return found


def difference(after, before):
    """Two counts by verb."""
    return {verb: count - before.get(verb, 0)
            for verb, count in after.items() if count != before.get(verb, 0)}


def table(sizes):
    """Lines with all figures of all sizes, drivers side by side."""
    lines = []
    for size in sizes:
        lines.append(f'\n{size["clusters"]} clusters of each driver')
        for name, found in size['drivers'].items():
            lines.append(f'  {name}')
            for what in ('first', 'held', 'last'):
                lines.append(f'    poll, {what}: ' + ', '.join(
                    f'{label} {_middle(found[what][key])}'
                    for key, label in POLL))
            for kind in ('create', 'resize'):
                if kind in found:
                    lines += _operation(kind, found[kind])
    return lines


def _operation(kind, found):
    lines = [
        f'    {kind}: {found["seconds"]["n"]}, to COMPLETE '
        f'{_middle(found["seconds"])} s, really done after '
        f'{_middle(found["ready"])} s, shown after another '
        f'{_middle(found["lag"])} s (seen within {found["blind"]:.1f} s)']
    if found['premature']:
        lines.append(
            f'      COMPLETE before it was true: {found["premature"]}, by '
            f'{_middle(found["early"])} s; {"; ".join(found["missing"])}')
    if found['before_addons']:
        lines.append('      COMPLETE before all addons were deployed: '
                     f'{found["before_addons"]}')
    if 'cpu' in found:
        cpu = found['cpu']
        lines.append(
            f'      CPU of Magnum {cpu["magnum"]:.2f} s, of helm '
            f'{cpu["helm"]:.2f} s, in {cpu["seconds"]:.0f} s without what '
            'it takes idle')
    return lines


def _middle(found):
    if found is None:
        return '-'
    return f'{found["mean"]:.2f} (median {found["median"]:.2f})'
