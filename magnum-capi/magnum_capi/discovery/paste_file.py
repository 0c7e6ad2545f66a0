# SPDX-License-Identifier: Apache-2.0

"""Put the filter into Magnum's api-paste.ini, the file.

What is changed is decided by :mod:`.paste`; here it is read and written. The
file stays whoever's it was: owner and mode are kept.
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
    """Put the filter where it belongs; returns whether that was needed.

    :param path: of Magnum's api-paste.ini; links are followed.
    :param dry: only say so.
    :param change: of the file's text; :func:`.paste.without_filter` takes
        the filter out.
    :raises UsageError: it is no paste file of Magnum.
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
