# SPDX-License-Identifier: Apache-2.0

"""A Tempest workspace: a folder in which ``tempest run`` finds everything."""

import collections.abc
import contextlib
import hashlib
import importlib.util
import json
import pathlib
import sysconfig

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi_tempest import redact

#: Folder of tempest.conf that ``tempest run`` uses by default.
ETC = 'etc'

#: File with existing users, next to tempest.conf.
ACCOUNTS = 'accounts.yaml'

#: File with drivers that were installed for tests, next to tempest.conf.
FIXTURE = 'discovery_fixture.yaml'

#: Names of the files that were written, relative to the workspace, and SHA-256
#: of their content.
_MADE = '.made.json'

#: Environment variable of a run's processes with the folder that its workers
#: share: see :mod:`.pool`.
WORKERS = 'MAGNUM_CAPI_WORKERS'


def etc_of(workspace: pathlib.Path) -> pathlib.Path:
    """The folder with the tempest.conf of a workspace.

    :raises UsageError: it is no workspace.
    """
    found = pathlib.Path(workspace).absolute() / ETC
    if not (found / 'tempest.conf').is_file():
        raise errors.UsageError(
            'The folder is not a Tempest workspace', where=workspace,
            hint='Create one with: magnum-capi tempest init')
    return found


def lay_out(folder: pathlib.Path, conf: str, *, etc: str = ETC,
            accounts: str | None = None, fixture: str | None = None
            ) -> pathlib.Path:
    """Make or update a workspace; returns the path of its tempest.conf.

    :param folder: made if missing, with mode 0700.
    :param conf: text of tempest.conf, which contains passwords.
    :param etc: folder below it for the two files.
    :param accounts: text of accounts.yaml, if there is one.
    :param fixture: text of discovery_fixture.yaml, likewise.
    :raises UsageError: other users can change the folder.
    """
    folder = pathlib.Path(folder)
    _write(folder, _texts(conf, etc, accounts, fixture))
    return folder / etc / 'tempest.conf'


def update(folder: pathlib.Path, conf: str, fixture: str | None = None
           ) -> list[pathlib.Path]:
    """Make or update a workspace; edited files stay as they are.

    :param folder: see :func:`lay_out`, like conf and fixture.
    :returns: paths of the edited files.
    :raises UsageError: other users can change the folder.
    """
    folder = pathlib.Path(folder)
    texts = _texts(conf, fixture=fixture)
    kept = edited(folder, texts)
    _write(folder, {name: text for name, text in texts.items()
                    if name not in kept})
    return [folder / name for name in kept]


def edited(folder: pathlib.Path, made: collections.abc.Mapping[str, str | None]
           ) -> list[str]:
    """Names of the files that somebody wrote, or edited since we did.

    :param made: new content by name, relative to the workspace; None: the
        file will be removed.
    """
    recorded = _recorded(folder)
    found = []
    for name, text in made.items():
        with contextlib.suppress(FileNotFoundError):
            content = (folder / name).read_bytes()
            if (_digest(content) != recorded.get(name)
                    and content != (text or '').encode()):
                found.append(name)
    return sorted(found)


def _texts(conf: str, etc: str = ETC, accounts: str | None = None,
           fixture: str | None = None) -> dict[str, str]:
    """Content of the files of a workspace by name."""
    library = _library()
    texts = {
        f'{etc}/tempest.conf': conf,
        f'{etc}/{ACCOUNTS}': accounts,
        f'{etc}/{FIXTURE}': fixture,
        # Like "tempest init"; the tests of a class share their resources.
        '.stestr.conf': '[DEFAULT]\n'
                        f'test_path={library}/tempest/test_discover\n'
                        f'top_dir={library}\n'
                        r'group_regex=([^\.]*\.)*' '\n'}
    return {name: text for name, text in texts.items() if text is not None}


def _write(folder: pathlib.Path, texts: collections.abc.Mapping[str, str]
           ) -> None:
    folders.make(folder)
    (folder / 'lock').mkdir(exist_ok=True)
    for name, text in texts.items():
        outfile.write_private(folder / name, text)
    outfile.write_private(folder / _MADE, json.dumps(_recorded(folder) | {
        name: _digest(text.encode()) for name, text in texts.items()}))


def _recorded(folder: pathlib.Path) -> dict[str, str]:
    try:
        return dict(json.loads((folder / _MADE).read_text()))
    except (OSError, TypeError, ValueError):
        return {}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _library() -> pathlib.Path:
    """The folder of Tempest; devstack and tox install a checkout."""
    spec = importlib.util.find_spec('tempest')
    if spec and spec.origin:
        return pathlib.Path(spec.origin).parents[1]
    return pathlib.Path(sysconfig.get_path('purelib'))


def known_secrets(etc: pathlib.Path | str) -> redact.Known:
    """The secrets of administrators and users in the configuration.

    :param etc: folder of tempest.conf and accounts.yaml.
    """
    found = []
    for name in ('tempest.conf', ACCOUNTS):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            found += redact.secrets(
                (pathlib.Path(etc) / name).read_text(encoding='utf-8'))
    return redact.Known(found)
