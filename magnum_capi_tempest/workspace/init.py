# SPDX-License-Identifier: Apache-2.0

"""Make a workspace for a cloud: inspect, choose, write."""

import dataclasses
import hashlib
import importlib.util
import json
import pathlib

import jinja2

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.workspace import cloud
from magnum_capi_tempest.workspace import folder as folders
from magnum_capi_tempest.workspace import runs
from magnum_capi_tempest.workspace import selection

#: How the tempest.conf of a workspace made here begins.
_MARK = '# Made by "magnum-capi tempest init"'

#: Names of the written files, and SHA-256 of their content.
_MADE = '.made.json'

#: Types of Cinder in catalogs; the first one is Tempest's default.
_VOLUMES = ('block-storage', 'volumev3', 'block-store', 'volume')


def init(folder, names, preferred, *, static=False,
         overwrite=False) -> selection.Choice:
    """Write a workspace; returns what was chosen.

    :param folder: new, empty, or made by this function before.
    :param names: of clouds in clouds.yaml, one per user.
    :param preferred: :class:`~.selection.Preferences`.
    :param overwrite: rename edited files instead of refusing.
    :raises MagnumCapiError: see :func:`.cloud.read` and
        :func:`.selection.choose`.
    """
    folder = pathlib.Path(folder).absolute()
    _check(folder)
    choice = selection.choose(
        cloud.read(names), preferred, static=static,
        workload_api=bool(importlib.util.find_spec('kubernetes')))
    if (not choice.features['template_driver']
            and 'template_driver' not in dict(preferred.features)):
        choice = dataclasses.replace(
            choice, heeds_template_driver=cloud.heeds_template_driver(
                names[0], choice))
    if 'roles_enforced' not in dict(preferred.features):
        choice = dataclasses.replace(
            choice, lets_readers_create=cloud.lets_readers_create(
                names[0], choice))
    accounts = selection.accounts(choice)
    made = {'tempest.conf': tempest_config(choice, folder),
            folders.ACCOUNTS: accounts}
    _spare_edits(folder, made, overwrite)
    path = folders.lay_out(folder, made['tempest.conf'], accounts=accounts)
    if accounts is None:
        # Left from users that were named before.
        path.with_name(folders.ACCOUNTS).unlink(missing_ok=True)
    outfile.write_private(folder / _MADE, json.dumps({
        name: _digest(text.encode()) for name, text in made.items() if text}))
    runs.make_repository(folder)
    return choice


def edited(before: dict[str, bytes], recorded: dict[str, str],
           made: dict[str, str | None]) -> list[str]:
    """Return the names of files that were edited. Pure.

    :param before: content of the existing files, by name.
    :param recorded: SHA-256 of the content that was written before.
    :param made: new content; None: the file will be removed.
    """
    return sorted(
        name for name, content in before.items()
        if _digest(content) != recorded.get(name)
        and content != (made.get(name) or '').encode())


def _spare_edits(folder, made, overwrite):
    etc = folder / folders.ETC
    try:
        recorded = json.loads((folder / _MADE).read_text())
    except (OSError, ValueError):
        recorded = {}
    for name in edited({name: (etc / name).read_bytes() for name in made
                        if (etc / name).exists()}, recorded, made):
        if not overwrite:
            raise errors.UsageError(
                'The file has been edited since it was written',
                where=etc / name,
                hint='Name another folder, or use --overwrite, which renames '
                     f'the file to {name}.edited')
        (etc / name).replace(etc / f'{name}.edited')


def _digest(content):
    return hashlib.sha256(content).hexdigest()


def _check(folder):
    if folder.exists() and not folder.is_dir():
        raise errors.UsageError('This is not a folder', where=folder)
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise errors.UsageError(
            'The folder contains something other than a workspace',
            where=folder,
            hint='Name a new or empty folder, or a workspace that this '
                 'command created')


def _is_ours(folder):
    try:
        text = (folder / folders.ETC / 'tempest.conf').read_text()
    except (OSError, UnicodeDecodeError):
        return False
    return text.startswith(_MARK)


def tempest_config(choice, folder) -> str:
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
