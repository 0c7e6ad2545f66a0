# SPDX-License-Identifier: Apache-2.0

"""Texts for ``status_reason``: blockers, and the latest warnings.

They are read in a terminal, without access to the management cluster, so they
use Magnum's names of node groups, have one line and limited length.
"""

import collections.abc
import datetime
import re
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import conditions
from magnum_capi.kube import kinds
from magnum_capi.kube import times

#: Longest text, in characters; longer ones are cut and marked.
LIMIT = 1000
#: Longest part of it, so that one controller's list does not hide the rest.
PART = 400
#: Limit of warnings and of blockers in a text.
MAX_TEXTS = 3

#: Characters of a machine's name that are not random.
_MACHINE_BASE = 58

_CUT = ' ...'


def cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters; what was cut is marked."""
    if len(text) <= limit:
        return text
    return text[:limit - len(_CUT)].rstrip() + _CUT


def readable(text: str, desired: goal.DesiredCluster) -> str:
    """A text with names of objects shortened to what Magnum's users know.

    ``<cluster>-<key>-x7k2p`` becomes ``<node group's name>-x7k2p``, and
    ``<cluster>-control-plane`` becomes ``control-plane``. Names of machines
    are cut to 63 characters, five of them random, without another dash
    (Cluster API 1.14, internal/util/names: SimpleNameGenerator).
    """
    for group in desired.groups:
        name = f'{desired.name}-{group.key}'
        to = group.name
        text = re.sub(f'{re.escape(name)}(?![a-z0-9])',
                      lambda _: to, text)
        text = re.sub(
            f'{re.escape(name[:_MACHINE_BASE])}([a-z0-9]{{5}})(?![a-z0-9])',
            lambda found: f'{to}-{found[1]}', text)
    return text.replace(f'{desired.name}-', '')


def moment(value: typing.Any) -> datetime.datetime | None:
    """A time of Kubernetes as aware datetime; None if it is invalid."""
    try:
        return times.parse(value)
    except (AttributeError, ValueError):
        return None


def warnings(events: collections.abc.Iterable[kinds.Object],
             since: datetime.datetime | None = None) -> list[str]:
    """The latest warnings, newest first, without duplicates.

    :param events: Events of ``v1`` or events.k8s.io.
    :param since: aware; older ones belong to other operations.
    """
    dated = []
    for event in events:
        when = _when(event)
        if event.get('type') != 'Warning' or (
                since and when and when < since):
            continue
        about = event.get('involvedObject') or event.get('regarding') or {}
        message = conditions.one_line(
            event.get('message') or event.get('note'))
        text = (f'{about.get("kind", "")} {about.get("name", "")} '
                f'{event.get("reason", "")}: {message}')
        dated.append((when.timestamp() if when else 0.0, text.strip()))
    dated.sort(key=lambda pair: pair[0], reverse=True)
    return list(dict.fromkeys(text for _, text in dated))[:MAX_TEXTS]


def text(headline: str, blockers: collections.abc.Iterable[str],
         desired: goal.DesiredCluster,
         events: collections.abc.Iterable[kinds.Object] = ()) -> str:
    """One readable text, at most LIMIT characters.

    It shows the time of the last progress, not its age: the text may be read
    at any time, but is only written when it changes.

    :param headline: the state, in a few words.
    :param blockers: texts, the most important first.
    :param events: see :func:`warnings`.
    """
    said = [cut(readable(blocker, desired), PART)
            for blocker in dict.fromkeys(blockers)]
    result = headline
    if said:
        result += ': ' + '; '.join(said[:MAX_TEXTS])
        if len(said) > MAX_TEXTS:
            result += f'; and {len(said) - MAX_TEXTS} more'
    if desired.progress is not None and desired.in_progress:
        result = _sentence(
            result, f'Last progress: {desired.progress.at:%Y-%m-%d %H:%M} UTC')
    shown = [cut(readable(warning, desired), PART)
             for warning in warnings(events, desired.since)]
    if shown:
        result = _sentence(result, 'Latest warnings: ' + '; '.join(shown))
    return cut(result, LIMIT)


def _sentence(text: str, more: str) -> str:
    """Two sentences; the first may have a full stop, or be cut."""
    stop = '' if text.endswith(_CUT) else '.'
    return f'{text.removesuffix(stop)}{stop} {more}'


def _when(event: kinds.Object) -> datetime.datetime | None:
    series = event.get('series') or {}
    for value in (series.get('lastObservedTime'), event.get('lastTimestamp'),
                  event.get('eventTime'), event.get('firstTimestamp'),
                  conditions.metadata(event).get('creationTimestamp')):
        found = moment(value)
        if found:
            return found
    return None
