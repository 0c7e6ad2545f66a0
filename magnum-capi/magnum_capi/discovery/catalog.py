# SPDX-License-Identifier: Apache-2.0
"""Which drivers are installed here, and what magnum.conf says about them.

Magnum loads all drivers at once, so one that fails takes the others with it.
Here each is loaded on its own, as Magnum would do it, and errors are recorded.
"""

import collections.abc
import contextlib
import importlib
from importlib import metadata
import itertools
import logging
import os
import re
import time
import typing

from oslo_config import cfg
from oslo_config import iniparser

from magnum_capi.discovery import model
from magnum_capi import errors

LOG = logging.getLogger(__name__)

GROUP = 'magnum.drivers'

#: Those of magnum/conf/drivers.py of Magnum 23, and the filter's own.
_OPTIONS: dict[str, tuple[cfg.Opt, ...]] = {
    'drivers': (
        cfg.StrOpt('default_driver'),
        cfg.ListOpt('disabled_drivers', default=()),
        cfg.ListOpt('enabled_beta_drivers', default=())),
    'k8s_discovery': (
        cfg.StrOpt('mode', default=model.Mode.STRICT.value,
                   choices=[mode.value for mode in model.Mode]),),
}

#: A driver with more types than this may never stop yielding them.
_MAX_TYPES = 1000

_Points = collections.abc.Iterable[metadata.EntryPoint]


class InvalidProvides(Exception):
    """Magnum cannot use the ``provides`` of a driver."""


def configure(files: collections.abc.Sequence[str] = (),
              folders: collections.abc.Sequence[str] = (),
              conf: cfg.ConfigOpts = cfg.CONF) -> tuple[str, ...]:
    """Read Magnum's configuration like Magnum's API.

    By default into the global configuration, because drivers find options of
    their own there when they are loaded.

    :param files: as with ``--config-file`` of oslo.config: later ones win.
    :param folders: as with ``--config-dir``: their ``*.conf``, sorted, win
        over ``files``. If neither is given, those that Magnum's API finds:
        ``magnum.conf``, ``magnum-api.conf`` and the folders of these names
        with ``.d``, in ``~/.magnum``, ``~``, ``/etc/magnum`` and ``/etc``.
    :returns: the files and folders. The environment
        (``OS_DRIVERS__DEFAULT_DRIVER``) overrides all of them.
    :raises UsageError: one cannot be read or parsed; names the file.
    """
    with contextlib.suppress(ImportError):
        # Its command line's options must be known before a file is read.
        importlib.import_module('magnum.conf')
    files, folders = ([os.path.abspath(os.path.expanduser(path))
                       for path in paths] for paths in (files, folders))
    found: list[str] | None = [] if files or folders else None
    with _explained((*files, *folders)):
        conf([f'--config-file={path}' for path in files]
             + [f'--config-dir={path}' for path in folders],
             project='magnum', prog='magnum-api', default_config_files=found,
             default_config_dirs=found)
    return sources(conf)


def sources(conf: cfg.ConfigOpts) -> tuple[str, ...]:
    """Files and folders that a configuration was read from."""
    return (*conf.config_file, *(conf.config_dirs or conf.config_dir))


def policy(conf: cfg.ConfigOpts = cfg.CONF) -> model.Policy:
    """The options that choose drivers, of a configuration that was read.

    :raises UsageError: a value cannot be used.
    """
    for group, options in _OPTIONS.items():
        for option in options:
            # Magnum's own is the same, but for its help.
            with contextlib.suppress(cfg.DuplicateOptError):
                conf.register_opt(option, group)
    with _explained(sources(conf)):
        return model.Policy(
            (conf.drivers.default_driver or '').strip() or None,
            _names(conf.drivers.disabled_drivers),
            _names(conf.drivers.enabled_beta_drivers),
            model.Mode(conf.k8s_discovery.mode))


def _names(values: collections.abc.Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in map(str.strip, values) if name)


@contextlib.contextmanager
def _explained(paths: collections.abc.Sequence[str],
               ) -> collections.abc.Iterator[None]:
    """Turn errors of oslo.config into one that names the file.

    :param paths: that it could be, if the error does not say which.
    """
    try:
        yield
    # oslo.config exits the program for some values.
    except (cfg.Error, OSError, ValueError, SystemExit) as error:
        where = [getattr(error, name, None) for name in (
            'config_file', 'config_dir', 'filename')]
        named = [*filter(None, where), *getattr(error, 'config_files', ())]
        raise errors.UsageError(
            "Magnum's configuration cannot be read",
            where=', '.join(map(str, named or paths)) or 'environment',
            last_seen=_without_line(error)) from error


def _without_line(error: BaseException) -> str:
    """An error's text without the line of the file, which may be secret."""
    parsing = error.__context__
    if isinstance(parsing, iniparser.ParseError):
        return f'line {parsing.lineno}: {model.plain(parsing.msg)}'
    # oslo.config names the file in its own way, and at length.
    text = re.sub(r' from LocationInfo\(.*\)(?= is not valid)', '', str(error))
    return f'{type(error).__name__}: {model.plain(text)}'


def load(policy: model.Policy,
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
    entries = list(itertools.islice(provides, _MAX_TYPES + 1))
    if not entries:
        raise InvalidProvides('no cluster types')
    if len(entries) > _MAX_TYPES:
        raise InvalidProvides(f'more than {_MAX_TYPES} cluster types')
    return tuple(
        model.ClusterType(*(_value(entry, field)
                            for field in model.ClusterType._fields))
        for entry in entries)


def _value(entry: typing.Any, field: str) -> str:
    value = entry[field]
    if not isinstance(value, str) or not str.strip(value):
        raise InvalidProvides(f'{field} is {model.shown(repr(value))}')
    # Not a subclass, which could compare in any way.
    return str.__str__(value)


def _line(error: BaseException) -> str:
    """Type and message of an error."""
    if isinstance(error, InvalidProvides):
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
