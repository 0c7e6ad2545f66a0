# SPDX-License-Identifier: Apache-2.0
"""What a command examines: a Magnum host, or the inventory of another.

``magnum-capi discovery list -f json`` on a Magnum host writes an inventory:
:func:`rows`, which have the drivers and what magnum.conf says about them, in
the order in which Magnum sees the drivers.
"""

import collections.abc
import contextlib
import dataclasses
import json
import os
import typing

from oslo_config import cfg

from magnum_capi.discovery import catalog as catalog_
from magnum_capi.discovery import model
from magnum_capi.discovery import paste
from magnum_capi import errors

COLUMNS = ('Driver', 'Cluster types', 'State', 'Beta', 'Options', 'Origin',
           'Error', 'Mode')

_OPTIONS = ('default_driver', 'disabled_drivers', 'enabled_beta_drivers')
#: State of a name in magnum.conf that no installed driver has.
_MISSING = 'not installed'
#: Bytes of an inventory; one of 200 drivers has some 40 KiB.
_MAX_SIZE = 16 << 20
_HINT = "Write it with 'magnum-capi discovery list -f json' on a Magnum host"

_TYPE_FIELDS = model.ClusterType._fields
_SCHEMA: dict[str, typing.Any] = {
    'type': 'array',
    'items': {
        'type': 'object',
        'required': [*COLUMNS],
        'properties': {
            'Driver': {'type': 'string', 'minLength': 1},
            'Cluster types': {'type': 'array', 'items': {
                'type': 'object',
                'required': [*_TYPE_FIELDS],
                'additionalProperties': False,
                'properties': dict.fromkeys(
                    _TYPE_FIELDS, {'type': 'string'})}},
            'State': {'enum': [
                _MISSING, *(state.value for state in model.State)]},
            'Beta': {'type': 'boolean'},
            'Options': {'type': 'array', 'items': {'enum': [*_OPTIONS]}},
            'Origin': {'type': 'string'},
            'Error': {'type': ['string', 'null']},
            'Mode': {'enum': [mode.value for mode in model.Mode]},
        },
    },
}

#: Of :data:`COLUMNS`; a cluster type has server_type, os and coe.
Row = tuple[str, list[dict[str, typing.Any]], str, bool, list[str], str,
            str | None, str]


@dataclasses.dataclass(frozen=True)
class Host:
    """Drivers and where they were read from.

    :param position: of the filter; None: there is no paste file to check.
    :param read_from: sentences for the user on what was read.
    """

    catalog: model.Catalog
    position: paste.Position | None
    read_from: tuple[str, ...]


def inspect(files: collections.abc.Sequence[str] = (),
            folders: collections.abc.Sequence[str] = (),
            inventory: str | os.PathLike[str] | None = None,
            pipeline: str | os.PathLike[str] | None = None) -> Host:
    """Read this machine, or an inventory from another.

    :param files: configuration files, as with Magnum's ``--config-file``.
    :param folders: the same for ``--config-dir``.
    :param inventory: a file, instead of what is installed here.
    :param pipeline: a paste file; by default the one in magnum.conf.
    :raises UsageError: a file does not exist or cannot be understood.
    :raises EnvironmentProblem: there are no drivers.
    """
    found: str | os.PathLike[str] | None = pipeline
    if inventory:
        if files or folders:
            raise errors.UsageError(
                'An inventory includes the configuration',
                hint='Leave --config-file and --config-dir out')
        catalog = read(inventory)
        read_from = [f'Drivers and configuration: inventory {inventory}']
    else:
        sources = catalog_.configure(files, folders)
        catalog = catalog_.load(catalog_.policy())
        read_from = [
            f'Drivers: {len(catalog.offers)} of this Python environment',
            'Configuration: ' + (', '.join(sources)
                                 or 'none found, defaults of Magnum')]
        found = pipeline or _pipeline(cfg.CONF)
    if not catalog.offers:
        raise errors.EnvironmentProblem(
            'There is no driver in the inventory' if inventory else
            'No driver of Magnum is installed in this Python environment',
            where=inventory,
            hint="Run this in Magnum's Python environment, or give "
                 "--inventory the output that 'magnum-capi discovery list -f "
                 "json' has there")
    try:
        position, description = _position(found)
    except errors.UsageError as e:
        if pipeline:
            raise
        position, description = None, (
            f'{found} cannot be understood, assumed to be without the '
            f'filter: {e.what}')
    return Host(catalog, position, (*read_from, f'Pipeline: {description}'))


def _pipeline(conf: cfg.ConfigOpts) -> str | None:
    """The paste file that magnum/api/app.py, load_app, would find."""
    with contextlib.suppress(cfg.DuplicateOptError):
        conf.register_opt(
            cfg.StrOpt('api_paste_config', default='api-paste.ini'), 'api')
    name: str = conf.api.api_paste_config
    if os.path.isabs(name):
        return name if os.path.exists(name) else None
    return conf.find_file(name)


def _position(path: str | os.PathLike[str] | None,
              ) -> tuple[paste.Position | None, str]:
    """The position of the filter, and a sentence."""
    if not path:
        return None, 'not checked, assumed to be without the filter'
    try:
        with open(path, encoding='utf-8') as file:
            position = paste.position(file.read())
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError(
            'The paste file cannot be read', where=path,
            last_seen=_reason(e)) from e
    except errors.UsageError as e:
        e.where = path
        raise
    return position, f'{path}, ' + {
        paste.Position.ABSENT: 'without the filter',
        paste.Position.BEFORE_AUTHTOKEN: 'with the filter before authtoken',
        paste.Position.IN_PLACE: 'with the filter',
    }[position]


def rows(catalog: model.Catalog) -> list[Row]:
    """One row per driver.

    Names in the options of [drivers] that are not installed come last.
    """
    policy = catalog.policy
    named: dict[str, frozenset[str]] = {
        'default_driver': frozenset(
            [policy.default_driver] if policy.default_driver else []),
        'disabled_drivers': policy.disabled_drivers,
        'enabled_beta_drivers': policy.enabled_beta_drivers}
    missing = frozenset().union(*named.values()) - {*catalog.by_name}
    offers = *catalog.offers, *map(model.Offer, sorted(missing))
    return [
        (offer.name, [t._asdict() for t in offer.types],
         _MISSING if offer.name in missing
         else catalog.states[offer.name].value,
         offer.beta,
         [option for option, names in named.items() if offer.name in names],
         offer.origin, offer.error, policy.mode.value)
        for offer in offers]


def read(path: str | os.PathLike[str]) -> model.Catalog:
    """The catalog in a file with :func:`rows` as JSON.

    :raises UsageError: the file cannot be read, or is not an inventory.
    """
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read(_MAX_SIZE + 1)
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError(
            'The inventory cannot be read', where=path, last_seen=_reason(e),
            hint=_HINT) from e
    try:
        if len(text) > _MAX_SIZE:
            raise ValueError('it is too large')
        return _parsed(json.loads(text))
    except (ValueError, RecursionError) as e:
        raise errors.UsageError(
            'This is not an inventory of drivers', where=path,
            last_seen=model.plain(e), hint=_HINT) from e


def _parsed(found: typing.Any) -> model.Catalog:
    """The catalog in rows as cliff writes them to JSON: a list of dicts.

    :raises ValueError: a row is invalid; says which and why.
    """
    # Only for inventories, because it takes longer than all else here.
    import jsonschema
    for problem in jsonschema.Draft202012Validator(_SCHEMA).iter_errors(found):
        path = list(problem.absolute_path)
        path[:1] = [f'row {int(row) + 1}' for row in path[:1]]
        raise ValueError(': '.join(map(str, (*path, problem.message))))
    named = {option: [row['Driver'] for row in found
                      if option in row['Options']] for option in _OPTIONS}
    modes = {row['Mode'] for row in found}
    if len(modes) > 1 or len(named['default_driver']) > 1:
        raise ValueError('there is more than one default or mode')
    return model.Catalog(
        [model.Offer(
            row['Driver'],
            tuple(model.ClusterType(**t) for t in row['Cluster types']),
            row['Beta'], row['Error'], row['Origin'])
         for row in found if row['State'] != _MISSING],
        model.Policy(
            next(iter(named['default_driver']), None),
            frozenset(named['disabled_drivers']),
            frozenset(named['enabled_beta_drivers']),
            model.Mode(modes.pop()) if modes else model.Mode.STRICT))


def _reason(error: Exception) -> str:
    return getattr(error, 'strerror', None) or 'it is not UTF-8'
