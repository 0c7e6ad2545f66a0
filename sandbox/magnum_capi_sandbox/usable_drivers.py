# SPDX-License-Identifier: Apache-2.0

"""Which drivers of a sandbox can use its image, and their descriptions."""

import collections.abc
import importlib.metadata
import json
import os
import pathlib
import typing

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_sandbox import drivers as magnum_drivers
from magnum_capi_sandbox import options
from magnum_capi_sandbox import prerequisites
from magnum_capi_sandbox import spec
from magnum_capi_sandbox import versions
from magnum_capi_tempest import descriptions

if typing.TYPE_CHECKING:
    from magnum_capi_sandbox import box as boxes

#: A line of ``magnum-capi discovery list -f json``.
_Listed = typing.TypedDict('_Listed', {
    'Driver': str, 'State': str, 'Error': str,
    'Cluster types': list[dict[str, str]]})

#: Cluster type of the image of a sandbox.
TYPE = {'server_type': 'vm', 'os': 'ubuntu', 'coe': 'kubernetes'}

#: First version of Magnum that has the option default_driver.
_DEFAULT_HEEDED = 23


def description(box: 'boxes.Box', name: str) -> driver_info.Description | None:
    """A driver's own description of itself, or else ours.

    :param box: a :class:`.box.Box` that is up.
    :param name: of a Magnum driver; empty: it is not known which.
    :returns: None if there is no description.
    :raises UsageError: it describes another driver.
    """
    if not name:
        return None
    try:
        said = processes.run([
            box.layout().magnum_env / 'bin' / 'magnum-capi', 'driver',
            'info', name], timeout=120)
    except errors.CommandFailed as e:
        if e.returncode != 2:
            raise
        return descriptions.of_driver(name)
    one, = json.loads(said)
    whose = one.pop('distribution')
    return driver_info.Description(one, whose or name, whose).require(name)


def to_test(box: 'boxes.Box') -> str:
    """Name of the driver that is tested if the user names none.

    One that the user has installed, even if Magnum would choose another: up
    to Magnum 22 it takes the last one of its environment, later the one that
    is configured, or the first by name (magnum/api/validation.py). If there is
    only what ``--clash`` installs, it is :data:`.spec.OWN`.

    :param box: a :class:`.box.Box` that is up.
    :raises UsageError: it cannot be used, or there are several.
    """
    wanted = box.spec()
    usable = drivers(box)
    found = usable
    if wanted.requirements:
        installed = _installed(box, wanted.requirements)
        found = [name for name in usable if name in installed]
        if wanted.clash and len(found) > 1:
            own = pathlib.Path(spec.OWN).name
            found = [name for name in found if name != own]
    if len(found) != 1:
        raise errors.UsageError(
            'It is not clear which driver to test',
            where=', '.join(wanted.requirements) or box.directory,
            last_seen='; '.join((
                'drivers that can be used: '
                + (', '.join(found or usable) or 'none'), *others(box))),
            hint='Name one with --driver')
    return found[0]


def choice(box: 'boxes.Box') -> str:
    """Name of the driver that Magnum chooses; empty: it cannot be told.

    The one that is configured, which Magnum has heeded since 23 (see
    magnum/api/validation.py), or else the only one that is usable.

    :param box: a :class:`.box.Box` that is up.
    """
    found = drivers(box)
    if box.spec().release.version >= _DEFAULT_HEEDED:
        default = options.value(
            box.layout().magnum_conf[1], 'drivers', 'default_driver')
        if default:
            return default if default in found else ''
    return found[0] if len(found) == 1 else ''


def label(box: 'boxes.Box', name: str) -> str:
    """A driver, and the name and version of its distribution, for readers.

    :param box: a :class:`.box.Box` that is up.
    """
    made = versions.installed_drivers(box).get(name)
    return f'{name} ({" ".join(made)})' if made else name


def _installed(
        box: 'boxes.Box', install: collections.abc.Iterable[str]) -> set[str]:
    """Names of the drivers that the user has installed."""
    wanted = []
    for text in install:
        try:
            wanted.append(magnum_drivers.distribution(text))
        except errors.UsageError:
            # Only a build tells its name: everything that came with it.
            wanted += [one.name for one in importlib.metadata.distributions(
                path=[str(box.layout().drivers)])]
    return {name for name, (whose, _) in versions.installed_drivers(
        box).items() if any(magnum_drivers.same(whose, one)
                            for one in wanted)}


def drivers(box: 'boxes.Box') -> list[str]:
    """Names of the drivers that Magnum could use for the image.

    :param box: a :class:`.box.Box` that is up.
    """
    return [one['Driver'] for one in _listed(box) if _is_usable(one)]


def others(box: 'boxes.Box') -> list[str]:
    """The other drivers, and why Magnum could not use them.

    :param box: a :class:`.box.Box` that is up.
    """
    return [f'{one["Driver"]}: ' + (
        'not for the image of the sandbox' if one['State'] == 'usable' else
        f'{one["State"]}, {one["Error"]}' if one['Error'] else one['State'])
        for one in _listed(box) if not _is_usable(one)]


def _is_usable(one: _Listed) -> bool:
    return one['State'] == 'usable' and TYPE in one['Cluster types']


def _listed(box: 'boxes.Box') -> list[_Listed]:
    layout = box.layout()
    wanted = box.spec()
    found: list[_Listed] = json.loads(processes.run([
        layout.magnum_env / 'bin' / 'magnum-capi', 'discovery', 'list',
        '--config-file', layout.magnum_conf[0],
        '--config-dir', layout.magnum_conf[1], '-f', 'json'], timeout=120,
        env={**os.environ, **prerequisites.variables(
            layout, wanted.requirements, wanted.release.version)}))
    return found


def marks(box: 'boxes.Box', names: collections.abc.Iterable[str]
          ) -> dict[str, dict[str, typing.Any]]:
    """The marks that these drivers declare, by name.

    :param box: a :class:`.box.Box` that is up.
    """
    return {name: described.mark for name in names
            if (described := description(box, name)) and described.mark}
