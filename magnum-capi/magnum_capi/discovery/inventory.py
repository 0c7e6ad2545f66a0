# SPDX-License-Identifier: Apache-2.0
"""Turns a catalog into rows for people, and rows in JSON into a catalog.

``magnum-capi discovery list -f json`` on a Magnum host writes what other
machines need to explain and audit: the drivers and what magnum.conf says
about them, in the order in which Magnum sees the drivers.
"""

import enum
import json
import pathlib
import typing

from magnum_capi.discovery import model
from magnum_capi import errors

COLUMNS = ('Driver', 'Cluster types', 'State', 'Beta', 'Default', 'Origin',
           'Error', 'Mode')
_HINT = "Write it with 'magnum-capi discovery list -f json' on a Magnum host"

#: State of a name in magnum.conf that no installed driver has.
_MISSING = 'not installed'
_NAMED = 'named by '
_OPTIONS = ('default_driver', 'disabled_drivers', 'enabled_beta_drivers')
#: Bytes; a catalog of 200 drivers has some 40 KiB.
_LARGEST = 16 << 20

#: Of :data:`COLUMNS`; a cluster type has server_type, os and coe.
Row = tuple[str, list[dict[str, typing.Any]], str, bool, bool, str,
            str | None, str]
_Kind = typing.TypeVar('_Kind')
_Member = typing.TypeVar('_Member', bound=enum.Enum)


def rows(catalog: model.Catalog) -> list[Row]:
    """One row per driver.

    Names in the options of [drivers] that are not installed come last.
    """
    policy = catalog.policy
    found: list[Row] = [
        (offer.name, [t._asdict() for t in offer.types],
         catalog.states[offer.name].value,
         offer.beta or offer.name in policy.enabled_beta_drivers,
         offer.name == policy.default_driver, offer.origin, offer.error,
         policy.mode.value)
        for offer in catalog.offers]
    named = {option: _names(policy, option) for option in _OPTIONS}
    for name in sorted(set().union(*named.values()) - {*catalog.by_name}):
        options = [option for option in _OPTIONS if name in named[option]]
        found.append((name, [], _MISSING, name in named[_OPTIONS[2]],
                      name == policy.default_driver, '',
                      _NAMED + ', '.join(options), policy.mode.value))
    return found


def _names(policy: model.Policy, option: str) -> set[str]:
    value = getattr(policy, option)
    if isinstance(value, str):
        return {value}
    return set(value or ())


def read(path: str | pathlib.Path) -> model.Catalog:
    """The catalog in a file with :func:`rows` as JSON.

    :raises UsageError: the file cannot be read, or is not an inventory.
    """
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read(_LARGEST + 1)
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError(
            'The inventory cannot be read', where=path,
            last_seen=getattr(e, 'strerror', None) or 'it is not UTF-8',
            hint=_HINT) from e
    try:
        if len(text) > _LARGEST:
            raise ValueError('it is too large')
        return parse(json.loads(text))
    except (ValueError, RecursionError) as e:
        raise errors.UsageError(
            'This is not an inventory of drivers', where=path,
            last_seen=model.plain(e), hint=_HINT) from e


def parse(found: typing.Any) -> model.Catalog:
    """The catalog in rows as cliff writes them to JSON: a list of dicts.

    :raises ValueError: a row is invalid; says which and why.
    """
    if not isinstance(found, list):
        raise ValueError('it is not a list')
    offers: list[model.Offer] = []
    named: dict[str, set[str]] = {option: set() for option in _OPTIONS}
    for number, row in enumerate(found, 1):
        try:
            _take(row, offers, named)
        except ValueError as e:
            raise ValueError(f'row {number}: {e}') from None
    if len(named['default_driver']) > 1:
        raise ValueError('more than one driver is the default')
    modes = {_member(model.Mode, 'mode', _get(row, 'Mode', str))
             for row in found}
    if len(modes) > 1:
        raise ValueError('there is more than one mode')
    return model.Catalog(offers, model.Policy(
        next(iter(named['default_driver']), None),
        frozenset(named['disabled_drivers']),
        frozenset(named['enabled_beta_drivers']),
        modes.pop() if modes else model.Mode.STRICT))


def _member(kind: type[_Member], what: str, value: typing.Any) -> _Member:
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f'the {what} {model.shown(value)} is not known'
                         ) from None


def _take(row: typing.Any, offers: list[model.Offer],
          named: dict[str, set[str]]) -> None:
    if not isinstance(row, dict):
        raise ValueError('it is not an object')
    name = _get(row, 'Driver', str)
    if not name:
        raise ValueError("'Driver' is empty")
    said = _get(row, 'State', str)
    error = row.get('Error')
    if error is not None and not isinstance(error, str):
        raise ValueError("'Error' is neither text nor null")
    if _get(row, 'Default', bool):
        named['default_driver'].add(name)
    beta = _get(row, 'Beta', bool)
    if said == _MISSING:
        for option in (error or '').removeprefix(_NAMED).split(', '):
            if option not in _OPTIONS:
                raise ValueError("'Error' does not say which option names it")
            named[option].add(name)
        return
    state = _member(model.State, 'state', said)
    if any(offer.name == name for offer in offers):
        raise ValueError(f'a second driver {model.shown(name)}')
    if state is model.State.DISABLED:
        named['disabled_drivers'].add(name)
        if beta:
            named['enabled_beta_drivers'].add(name)
    elif state is model.State.USABLE and beta:
        named['enabled_beta_drivers'].add(name)
    offers.append(model.Offer(
        name, tuple(map(_type, _get(row, 'Cluster types', list))), beta,
        _of_state(error, state), _get(row, 'Origin', str)))


def _get(row: dict[str, typing.Any], column: str,
         kind: type[_Kind]) -> _Kind:
    value = row.get(column)
    if not isinstance(value, kind):
        raise ValueError(
            f'{column!r} is not a {kind.__name__}' if column in row
            else f'{column!r} is missing')
    return value


def _type(found: typing.Any) -> model.ClusterType:
    fields = model.ClusterType._fields
    if not isinstance(found, dict) or set(found) != set(fields) or not all(
            isinstance(value, str) for value in found.values()):
        raise ValueError(
            "'Cluster types' are not objects with server_type, os and coe")
    return model.ClusterType(**found)


def _of_state(error: str | None, state: model.State) -> str | None:
    if (error is not None) != (state is model.State.BROKEN):
        raise ValueError(f"'Error' and the state {state.value!r} do not fit")
    return error
