# SPDX-License-Identifier: Apache-2.0
"""Which drivers are installed here, including broken ones.

Magnum loads all drivers at once, so one that fails takes the others with it.
Here each is loaded on its own, as Magnum would do it, and errors are recorded.
"""

import collections.abc
from importlib import metadata
import itertools
import logging
import time
import typing

from magnum_capi.discovery import model

LOG = logging.getLogger(__name__)

GROUP = 'magnum.drivers'

_Points = collections.abc.Iterable[metadata.EntryPoint]

#: A driver with more types than this may never stop yielding them.
_MOST_TYPES = 1000


class _Lie(Exception):
    """Magnum cannot use the ``provides`` of a driver."""


def catalog(policy: model.Policy,
            entry_points: collections.abc.Callable[[], _Points] | None = None,
            ) -> model.Catalog:
    """Load the drivers of this Python environment.

    :param entry_points: returns those of drivers, in Magnum's order.
    """
    found = _by_name((entry_points or installed)())
    offers = tuple(_offer(name, points, policy.disabled_drivers)
                   for name, points in found.items())
    for offer in offers:
        if offer.error is not None:
            LOG.warning('The driver %s cannot be loaded: %s',
                        model.shown(offer.name), offer.error)
    return model.Catalog(offers, policy)


def installed() -> tuple[metadata.EntryPoint, ...]:
    """Entry points of drivers, in the order in which Magnum sees them.

    A distribution with unreadable entry points is skipped with a warning; an
    unmodified Magnum would not start.
    """
    try:
        return tuple(metadata.entry_points(group=GROUP))
    except Exception:
        LOG.debug('Reading each distribution separately', exc_info=True)
    found: dict[str, list[metadata.EntryPoint]] = {}
    for distribution in metadata.distributions():
        name = None
        try:
            name = distribution.name
            # Python imports the first of a name.
            if name not in found:
                found[name] = [point for point in distribution.entry_points
                               if point.group == GROUP]
        except Exception as error:
            LOG.warning('Entry points of the distribution %s cannot be read, '
                        'which stops Magnum: %s', model.shown(name),
                        _line(error))
    return tuple(itertools.chain.from_iterable(found.values()))


def _by_name(points: _Points) -> dict[str, list[metadata.EntryPoint]]:
    """Distinct entry points by name.

    Like stevedore, this ignores an entry point with the same name and value
    as another: it comes from a source tree that is also installed.
    """
    found: dict[str, list[metadata.EntryPoint]] = {}
    for point in points:
        same = found.setdefault(point.name, [])
        if all(point.value != other.value for other in same):
            same.append(point)
    return found


def _offer(name: str, points: list[metadata.EntryPoint],
           disabled: frozenset[str]) -> model.Offer:
    origin = ' and '.join(map(_origin, points))
    if name in disabled:
        return model.Offer(name, origin=origin)
    if len(points) > 1:
        return model.Offer(
            name, error=f'registered more than once, by {origin}',
            origin=origin)
    phase, begin = ['import'], time.monotonic()
    try:
        types, beta = _load(points[0], phase)
    except KeyboardInterrupt:
        raise
    # Third-party code: it may even try to exit the program.
    except BaseException as error:
        LOG.debug('Driver %s', model.shown(name), exc_info=True)
        return model.Offer(name, error=f'{phase[-1]}: {_line(error)}',
                           origin=origin)
    finally:
        LOG.debug('Driver %s: %.3f s to load', model.shown(name),
                  time.monotonic() - begin)
    return model.Offer(name, types, beta, origin=origin)


def _load(point: metadata.EntryPoint, phase: list[str],
          ) -> tuple[tuple[model.ClusterType, ...], bool]:
    """Types and beta, as in Driver.get_drivers and get_driver of Magnum 23."""
    driver = point.load()
    phase.append('construct')
    instance = driver()
    phase.append('provides')
    types = _types(instance.provides)
    phase.append('beta')
    return types, bool(driver.beta)


def _types(provides: typing.Any) -> tuple[model.ClusterType, ...]:
    # Magnum accepts any iterable, so this does.
    entries = list(itertools.islice(provides, _MOST_TYPES + 1))
    if not entries:
        raise _Lie('no cluster types')
    if len(entries) > _MOST_TYPES:
        raise _Lie(f'more than {_MOST_TYPES} cluster types')
    return tuple(
        model.ClusterType(*(_value(entry, field)
                            for field in model.ClusterType._fields))
        for entry in entries)


def _value(entry: typing.Any, field: str) -> str:
    value = entry[field]
    if not isinstance(value, str) or not str.strip(value):
        raise _Lie(f'{field} is {model.shown(repr(value))}')
    # Not a subclass, which could compare in any way.
    return str.__str__(value)


def _line(error: BaseException) -> str:
    """Type and message of an error."""
    if isinstance(error, _Lie):
        return str(error)
    kind = model.plain(type(error).__name__)
    try:
        message = model.plain(error)
    # This may run code of the driver.
    except Exception:
        message = 'its message cannot be shown'
    return f'{kind}: {message}' if message else kind


def _origin(point: metadata.EntryPoint) -> str:
    try:
        if point.dist is not None:
            return model.plain(f'{point.dist.name} {point.dist.version}')
    # A distribution without metadata.
    except Exception:
        LOG.debug('Entry point %s', model.shown(point), exc_info=True)
    return 'an unknown distribution'
