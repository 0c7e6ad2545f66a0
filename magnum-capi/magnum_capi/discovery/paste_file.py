# SPDX-License-Identifier: Apache-2.0

"""Reads and writes Magnum's api-paste.ini to add or remove the filter.

:mod:`.paste` decides what changes. Owner and mode of the file are kept.
"""

import collections.abc
import os
import pathlib

from magnum_capi.discovery import paste
from magnum_capi import errors
from magnum_capi import outfile


def put(path: str | pathlib.Path, *, dry: bool = False,
        change: collections.abc.Callable[[str], str] = paste.with_filter,
        ) -> bool:
    """Add the filter; returns whether the file had to be changed.

    :param path: of Magnum's api-paste.ini; links are followed.
    :param dry: do not write the file.
    :param change: of the file's text; :func:`.paste.without_filter` removes
        the filter.
    :raises UsageError: it is not a paste file of Magnum.
    :raises EnvironmentProblem: it cannot be read or written.
    """
    path = pathlib.Path(path).resolve()
    try:
        text = path.read_text(encoding='utf-8')
        known = path.stat()
    except (OSError, ValueError) as e:
        raise errors.EnvironmentProblem(
            'Cannot read the paste file', where=path, last_seen=e,
            hint='Name the api-paste.ini of Magnum\'s API') from e
    changed = change(text)
    if changed == text:
        return False
    if not dry:
        with outfile.whole(path, outfile.PRIVATE) as stream:
            stream.write(changed.encode())
            if os.geteuid() == 0:
                os.fchown(stream.fileno(), known.st_uid, known.st_gid)
            os.fchmod(stream.fileno(), known.st_mode & 0o7777)
    return True
