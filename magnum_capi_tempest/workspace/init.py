# SPDX-License-Identifier: Apache-2.0

"""Make a workspace for a cloud: inspect, choose, write."""

import collections.abc
import dataclasses
import importlib.util
import pathlib
import typing

import jinja2

from magnum_capi import errors
from magnum_capi_tempest.workspace import cloud
from magnum_capi_tempest.workspace import folder as folders
from magnum_capi_tempest.workspace import runs
from magnum_capi_tempest.workspace import selection

#: How the tempest.conf of a workspace made here begins.
_MARK = '# Made by "magnum-capi tempest init"'

#: Types of Cinder in catalogs; the first one is Tempest's default.
_VOLUMES = ('block-storage', 'volumev3', 'block-store', 'volume')


def init(folder: pathlib.Path, names: collections.abc.Sequence[str],
         preferred: selection.Preferences, *, static: bool = False,
         overwrite: bool = False) -> selection.Choice:
    """Write a workspace; returns what was chosen.

    :param folder: new, empty, or made by this function before.
    :param names: of clouds in clouds.yaml, one per user.
    :param preferred: :class:`~.selection.Preferences`.
    :param overwrite: rename edited files instead of refusing.
    :raises MagnumCapiError: see :func:`.cloud.read`,
        :func:`.selection.choose` and :class:`.cloud.Trials`.
    """
    folder = pathlib.Path(folder).absolute()
    _check(folder)
    preferred = dataclasses.replace(preferred, options=(
        ('artifact_dir', str(folder / runs.ARTEFACTS)), *preferred.options))
    choice = selection.choose(
        cloud.read(names, (preferred.image, preferred.upgrade_image)),
        preferred, static=static,
        workload_api=bool(importlib.util.find_spec('kubernetes')))
    said = 'not_promised' in dict(preferred.options)
    with cloud.trials(names[0], choice) as trials:
        found: dict[str, typing.Any] = {}
        if not said and not choice.promises(selection.KEEPS_DRIVER):
            found['heeds_template_driver'] = trials.heeds_template_driver()
        found['stored_driver'] = trials.driver()
    choice = dataclasses.replace(choice, **found)
    accounts = selection.accounts(choice)
    conf = tempest_config(choice, folder)
    _spare_edits(folder, {f'{folders.ETC}/tempest.conf': conf,
                          f'{folders.ETC}/{folders.ACCOUNTS}': accounts},
                 overwrite)
    path = folders.lay_out(folder, conf, accounts=accounts)
    if accounts is None:
        # Left from users that were named before.
        path.with_name(folders.ACCOUNTS).unlink(missing_ok=True)
    runs.make_repository(folder)
    return choice


def _spare_edits(folder: pathlib.Path,
                 made: collections.abc.Mapping[str, str | None],
                 overwrite: bool) -> None:
    for name in folders.edited(folder, made):
        path = folder / name
        aside = _aside(path)
        if not overwrite:
            raise errors.UsageError(
                'The file has been edited since it was written', where=path,
                hint='Name another folder, or use --overwrite, which renames '
                     f'the file to {aside.name}')
        path.replace(aside)


def _aside(path: pathlib.Path) -> pathlib.Path:
    """A name beside a file that none has, not even from an earlier edit."""
    found, number = path.with_name(f'{path.name}.edited'), 1
    while found.exists():
        number += 1
        found = path.with_name(f'{path.name}.edited-{number}')
    return found


def _check(folder: pathlib.Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise errors.UsageError('This is not a folder', where=folder)
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise errors.UsageError(
            'The folder contains something other than a workspace',
            where=folder,
            hint='Name a new or empty folder, or a workspace that this '
                 'command created')


def _is_ours(folder: pathlib.Path) -> bool:
    try:
        text = (folder / folders.ETC / 'tempest.conf').read_text()
    except (OSError, UnicodeDecodeError):
        return False
    return text.startswith(_MARK)


def tempest_config(choice: selection.Choice, folder: pathlib.Path) -> str:
    """Text of tempest.conf.

    :param folder: absolute path of the workspace.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader('magnum_capi_tempest.workspace'),
        undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
    environment.filters.update(
        value=selection.value, lower=lambda flag: str(flag).lower())
    return environment.get_template('tempest.conf.j2').render(
        choice=choice, cloud=choice.cloud, first=choice.cloud.accounts[0],
        folder=folder, volumes=next((
            name for name in _VOLUMES if name in choice.cloud.services), ''))
