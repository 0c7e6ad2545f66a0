# SPDX-License-Identifier: Apache-2.0

"""Make a workspace for a cloud: look, choose, write."""

import importlib.util
import pathlib

import jinja2

from magnum_capi import errors
from magnum_capi_tempest.workspace import cloud
from magnum_capi_tempest.workspace import folder as folders
from magnum_capi_tempest.workspace import runs
from magnum_capi_tempest.workspace import selection

#: How tempest.conf of a workspace begins that was made here.
_MARK = '# Made by "magnum-capi tempest init"'
_VOLUMES = {'volumev3', 'block-storage', 'block-store', 'volume'}


def init(folder, names, preferred, *, static=False) -> selection.Choice:
    """Write a workspace; returns what was chosen.

    :param folder: new or empty, or one that this made before.
    :param names: of clouds in clouds.yaml, one a user.
    :param preferred: :class:`~.selection.Preferences`.
    :raises MagnumCapiError: see :func:`.cloud.read` and
        :func:`.selection.choose`.
    """
    folder = pathlib.Path(folder).absolute()
    _check(folder)
    choice = selection.choose(
        cloud.read(names), preferred, static=static,
        workload_api=bool(importlib.util.find_spec('kubernetes')))
    accounts = selection.accounts(choice)
    path = folders.lay_out(folder, tempest_config(choice, folder),
                           accounts=accounts)
    if accounts is None:
        # Of users that were named before.
        path.with_name(folders.ACCOUNTS).unlink(missing_ok=True)
    runs.make_repository(folder)
    return choice


def _check(folder):
    if folder.exists() and not folder.is_dir():
        raise errors.UsageError('This is no folder', where=folder)
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise errors.UsageError(
            'This folder has something else in it', where=folder,
            hint='Name one that is new, empty, or a workspace that this '
                 'command has made')


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
        folder=folder, has_cinder=bool(_VOLUMES & choice.cloud.services))
