# SPDX-License-Identifier: Apache-2.0

"""Flags of the suite, and those that a tempest.conf sets. Pure."""

import configparser
import io

from magnum_capi import errors
from magnum_capi_tempest import config
from magnum_capi_tempest.scorecard import model
from magnum_capi_tempest.scorecard import suite

GROUP = config.FEATURE_GROUP.name

_BOOLEAN = {'1': True, 'true': True, 'yes': True, 'on': True,
            '0': False, 'false': False, 'no': False, 'off': False}


def known() -> tuple[model.Flag, ...]:
    """All flags, in the order of the option table."""
    return tuple(model.Flag(option.name, option.help, option.default)
                 for option in config.FEATURE_OPTS)


def declared(text, where=None) -> frozenset[str]:
    """Flags that are true in a tempest.conf, defaults included.

    :param text: of the file.
    :param where: its path, for errors.
    :raises UsageError: it cannot be parsed.
    """
    parser = parse(text, where)
    values = {flag.name: flag.default for flag in known()}
    for name in values:
        written = parser.get(GROUP, name, fallback=None)
        if written is None:
            continue
        value = _BOOLEAN.get(written.strip().lower())
        if value is None:
            raise errors.UsageError(
                f'[{GROUP}] {name} is neither true nor false', where=where,
                last_seen=written)
        values[name] = value
    return frozenset(name for name, value in values.items() if value)


def defaults() -> frozenset[str]:
    """Flags that are true when nobody says."""
    return frozenset(flag.name for flag in known() if flag.default)


def forced_on() -> frozenset[str]:
    """Flags that :func:`forced` sets."""
    return frozenset(
        flag.name for flag in known()) - suite.OF_THE_PLACE


def forced(text, driver, where=None, options=()) -> str:
    """A tempest.conf with every promise asked of one driver.

    :param text: of the file; comments get lost.
    :param driver: name of a Magnum driver; empty: Magnum chooses.
    :param options: more options of [magnum_capi], (name, value) each.
    """
    parser = parse(text, where)
    for group in (GROUP, config.GROUP.name):
        if not parser.has_section(group):
            parser.add_section(group)
    # Others would make tests fail that cannot work there.
    for name in sorted(forced_on()):
        parser.set(GROUP, name, 'true')
    if driver:
        parser.set(config.GROUP.name, 'driver', driver)
    for name, value in options:
        parser.set(config.GROUP.name, name, value)
    stream = io.StringIO()
    parser.write(stream)
    return stream.getvalue()


def parse(text, where=None) -> configparser.RawConfigParser:
    """A tempest.conf, as far as it is of sections and options.

    :raises UsageError: it is not.
    """
    # [DEFAULT] is a section like the others, and a later value wins.
    parser = configparser.RawConfigParser(
        default_section='', strict=False)
    parser.optionxform = str
    try:
        parser.read_string(text)
    except configparser.Error as e:
        raise errors.UsageError(
            'This is no tempest.conf', where=where,
            last_seen=' '.join(str(e).split())) from e
    return parser
