# SPDX-License-Identifier: Apache-2.0
"""Which drivers are installed here, including broken ones.

Magnum loads all drivers at once, so one that fails takes the others with it.
Here each is loaded on its own, as Magnum would do it, and errors are recorded.
"""

import collections.abc
import importlib
from importlib import metadata
import itertools
import logging
import threading
import time
import typing

from magnum_capi.discovery import model
from magnum_capi.discovery import policy as policy_

LOG = logging.getLogger(__name__)

GROUP = 'magnum.drivers'

_Points = collections.abc.Iterable[metadata.EntryPoint]

#: A driver with more types than this may never stop yielding them.
_MOST_TYPES = 1000


class _Lie(Exception):
    """Magnum cannot use the ``provides`` of a driver."""


class Registry:
    """The drivers of this Python environment, under the current policy.

    :param entry_points: returns those of drivers, in Magnum's order.

    Threads may share an object: while one loads drivers, the others use the
    previous catalog, if there is one.
    """

    def __init__(self, source: policy_.Source,
                 entry_points: collections.abc.Callable[
                     [], _Points] | None = None) -> None:
        self._source = source
        self._entry_points = entry_points or installed
        self._catalog: model.Catalog | None = None
        self._lock = threading.Lock()
        self._told: dict[str, str] = {}

    def catalog(self) -> model.Catalog:
        """The current drivers; the same object until the policy changes.

        :raises UsageError: there was no readable configuration yet.
        """
        policy = self._source.current()
        if self._catalog is None:
            with self._lock:
                return self._renewed()
        if self._catalog.policy is not policy and self._lock.acquire(
                blocking=False):
            try:
                return self._renewed()
            finally:
                self._lock.release()
        return self._catalog

    def _renewed(self) -> model.Catalog:
        """Needs the lock."""
        # Read again: the policy from before the lock may be older.
        policy = self._source.current()
        if self._catalog is None or self._catalog.policy is not policy:
            self._catalog = self._loaded(policy)
        return self._catalog

    def _loaded(self, policy: model.Policy) -> model.Catalog:
        # Otherwise a package that was repaired or added would not be seen.
        importlib.invalidate_caches()
        offers = tuple(
            _offer(name, points, policy.disabled_drivers)
            for name, points in _by_name(self._entry_points()).items())
        errors = {o.name: o.error for o in offers if o.error is not None}
        for name, error in errors.items():
            if self._told.get(name) != error:
                LOG.warning('The driver %s cannot be loaded: %s',
                            model.shown(name), error)
        self._told = errors
        return model.Catalog(offers, policy, magnum())


def magnum() -> int:
    """Major version of this environment's Magnum.

    Without one, the newest.
    """
    try:
        return int(metadata.version('magnum').partition('.')[0])
    except metadata.PackageNotFoundError:
        return model.NEWEST


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
