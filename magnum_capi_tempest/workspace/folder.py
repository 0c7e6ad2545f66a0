# SPDX-License-Identifier: Apache-2.0

"""A Tempest workspace: a folder in which ``tempest run`` finds everything."""

import contextlib
import importlib.util
import pathlib
import sysconfig

from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi import redact

#: Folder of tempest.conf that ``tempest run`` uses by default.
ETC = 'etc'

#: File with existing users, next to tempest.conf.
ACCOUNTS = 'accounts.yaml'

#: Environment variable of a run's processes with a folder, which has a file
#: for each worker that has not ended, or was killed.
WORKERS = 'MAGNUM_CAPI_WORKERS'


def lay_out(folder, conf, *, etc=ETC, accounts=None) -> pathlib.Path:
    """Make or update a workspace; returns the path of its tempest.conf.

    :param folder: made if missing, with mode 0700.
    :param conf: text of tempest.conf, which contains passwords.
    :param etc: folder below it for the two files.
    :param accounts: text of accounts.yaml, if there is one.
    :raises UsageError: other users can change the folder.
    """
    folder = pathlib.Path(folder)
    folders.make(folder)
    (folder / etc).mkdir(mode=0o700, exist_ok=True)
    (folder / 'lock').mkdir(exist_ok=True)
    path = folder / etc / 'tempest.conf'
    for name, text in ((path.name, conf), (ACCOUNTS, accounts)):
        if text is not None:
            outfile.write_private(folder / etc / name, text)
    library = _library()
    # Like "tempest init"; the tests of a class share their resources.
    (folder / '.stestr.conf').write_text(
        '[DEFAULT]\n'
        f'test_path={library}/tempest/test_discover\n'
        f'top_dir={library}\n'
        r'group_regex=([^\.]*\.)*' '\n')
    return path


def _library():
    """The folder of Tempest; devstack and tox install a checkout."""
    spec = importlib.util.find_spec('tempest')
    if spec and spec.origin:
        return pathlib.Path(spec.origin).parents[1]
    return sysconfig.get_path('purelib')


def known_secrets(etc) -> redact.Known:
    """The secrets of administrators and users in the configuration.

    :param etc: folder of tempest.conf and accounts.yaml.
    """
    found = []
    for name in ('tempest.conf', ACCOUNTS):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            found += redact.secrets(
                (pathlib.Path(etc) / name).read_text(encoding='utf-8'))
    return redact.Known(found)
