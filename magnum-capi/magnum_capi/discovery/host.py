# SPDX-License-Identifier: Apache-2.0
"""Reads a Magnum host: installed drivers, magnum.conf, paste pipeline."""

import collections.abc
import dataclasses
import os
import pathlib

from oslo_config import cfg

from magnum_capi.discovery import inventory
from magnum_capi.discovery import model
from magnum_capi.discovery import paste
from magnum_capi.discovery import policy
from magnum_capi.discovery import registry
from magnum_capi import errors


@dataclasses.dataclass(frozen=True)
class Host:
    """Drivers and where they were read from.

    :param position: of the filter; None: there is no paste file to check.
    :param looked_at: sentences for the user.
    """

    catalog: model.Catalog
    position: paste.Position | None
    looked_at: tuple[str, ...]


def look(files: collections.abc.Sequence[str] = (),
         folders: collections.abc.Sequence[str] = (),
         recorded: str | pathlib.Path | None = None,
         pipeline: str | pathlib.Path | None = None) -> Host:
    """Read this machine, or an inventory from another.

    :param files: configuration files, as with Magnum's ``--config-file``.
    :param folders: the same for ``--config-dir``.
    :param recorded: an inventory, instead of what is installed here.
    :param pipeline: a paste file; by default the one in magnum.conf.
    :raises UsageError: a file does not exist or cannot be understood.
    :raises EnvironmentProblem: there are no drivers.
    """
    if recorded:
        if files or folders:
            raise errors.UsageError(
                'An inventory includes the configuration',
                hint='Leave --config-file and --config-dir out')
        catalog = inventory.read(recorded)
        looked_at = [f'Drivers and configuration: inventory {recorded}']
        found = pipeline
    else:
        catalog, source = _installed(files, folders)
        looked_at = [
            f'Drivers: {len(catalog.offers)} of this Python environment',
            'Configuration: ' + (', '.join(source.files + source.folders)
                                 or 'none found, defaults of Magnum')]
        found = pipeline or _pipeline(source)
    if not catalog.offers:
        raise errors.EnvironmentProblem(
            'No driver of Magnum is installed in this Python environment'
            if not recorded else 'There is no driver in the inventory',
            where=recorded,
            hint="Run this in Magnum's Python environment, or give "
                 "--inventory the output that 'magnum-capi discovery list -f "
                 "json' has there")
    position, told = _told(found, named=bool(pipeline))
    return Host(catalog, position, (
        *looked_at, f'Pipeline: {told}'))


def _told(path: str | pathlib.Path | None,
          named: bool) -> tuple[paste.Position | None, str]:
    """The position of the filter, and a sentence.

    :param named: the user named the file.
    """
    if not path:
        return None, 'not checked, assumed to be without the filter'
    try:
        position = _position(path)
    except errors.UsageError as e:
        if named:
            raise
        return None, (f'{path} cannot be understood, assumed to be without '
                      f'the filter: {e.what}')
    return position, f'{path}, ' + {
        paste.Position.ABSENT: 'without the filter',
        paste.Position.BEFORE_AUTHTOKEN: 'with the filter before authtoken',
        paste.Position.IN_PLACE: 'with the filter',
    }[position]


def _installed(files: collections.abc.Sequence[str],
               folders: collections.abc.Sequence[str],
               ) -> tuple[model.Catalog, policy.Source]:
    source = _source(files, folders)
    return registry.catalog(source.policy()), source


def _source(files: collections.abc.Sequence[str],
            folders: collections.abc.Sequence[str]) -> policy.Source:
    for path in files:
        if not os.path.isfile(path):
            raise errors.UsageError('There is no such configuration file',
                                    where=path)
    for path in folders:
        if not os.path.isdir(path):
            raise errors.UsageError('There is no such configuration folder',
                                    where=path)
    # As in Magnum's programs, any given file replaces the default search.
    return policy.Source(files, folders, search=not (files or folders))


def _pipeline(source: policy.Source) -> str | None:
    """The paste file that magnum/api/app.py, load_app, would find."""
    try:
        conf = source.parsed({'api': [cfg.StrOpt(
            'api_paste_config', default='api-paste.ini')]})
        name = conf.api.api_paste_config
        if os.path.isabs(name):
            return name if os.path.exists(name) else None
        return conf.find_file(name)
    # These files were read before; that would have failed.
    except (cfg.Error, OSError, ValueError):
        return None


def _position(path: str | pathlib.Path) -> paste.Position:
    try:
        with open(path, encoding='utf-8') as file:
            return paste.position(file.read())
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError(
            'The paste file cannot be read', where=path,
            last_seen=getattr(e, 'strerror', None) or 'it is not UTF-8'
        ) from e
    except errors.UsageError as e:
        raise errors.UsageError(e.what, where=path, last_seen=e.last_seen,
                                hint=e.hint) from e
