# SPDX-License-Identifier: Apache-2.0

"""Release files of programs: from their publisher, checked by pinned hash.

Proxies and ``~/.netrc`` are taken from the environment, as requests does by
default. A publisher that cannot be reached is asked once in a process: the
caller then builds. A file that is not the pinned one stops everything:
somebody has changed it.
"""

import collections.abc
import hashlib
import os
import pathlib
import re
import shutil
import tarfile
import urllib.parse

import requests

from magnum_capi import errors
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import pins

#: Environment variable with the URL of a mirror, which has the files of all
#: publishers at ``HOST/PATH``.
MIRROR = 'MAGNUM_CAPI_MIRROR'

#: Seconds until a publisher, or the proxy, must accept a connection, and until
#: the next bytes.
_TIMEOUTS = 1, 20

#: Number of attempts at an interrupted transfer.
ATTEMPTS = 3

_BLOCK = 1 << 16

#: Why publishers could not be reached, by host.
_unreachable: dict[str, str] = {}

#: Answers of proxies and gateways that mean that access is closed.
_CLOSED = (403, 407, 502, 503, 504)


class Unavailable(errors.EnvironmentProblem):
    """The publisher does not provide the file; another way may exist."""


class Closed(Unavailable):
    """The publisher cannot be reached at all."""


def url(download: pins.Download) -> str:
    """Where a file is taken from.

    :param download: a :class:`pins.Download`.
    """
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return download.url
    parts = urllib.parse.urlsplit(download.url)
    return f'{mirror.rstrip("/")}/{parts.netloc}{parts.path}'


def fetch(download: pins.Download, target: pathlib.Path,
          note: collections.abc.Callable[[str], None] = lambda text: None
          ) -> None:
    """Download a release file.

    :param download: a :class:`pins.Download`.
    :param note: called with a message on the progress.
    :raises Closed: the publisher cannot be reached.
    :raises Unavailable: no such file, or the transfer breaks.
    :raises EnvironmentProblem: it is not the pinned file, or there is no disk
        space.
    """
    where = url(download)
    part = target.with_name('download')
    for left in reversed(range(ATTEMPTS)):
        try:
            _transfer(where, part, note)
            break
        except requests.RequestException as e:
            if not left:
                raise Unavailable('The download was interrupted', where=where,
                                  last_seen=_short(e)) from e
    found = digest(part, download.algorithm)
    if found != download.digest:
        raise errors.EnvironmentProblem(
            'The downloaded file is not the pinned one', where=where,
            last_seen=f'{download.algorithm} {found}, pinned '
                      f'{download.digest}',
            hint='Do not use it. A proxy, a mirror or the publisher has '
                 'changed the file; put the program on PATH to do without')
    part.rename(target)


def extract(download: pins.Download, archive: pathlib.Path,
            target: pathlib.Path) -> None:
    """Read a program out of a release file that is an archive.

    :param download: a :class:`pins.Download` with a member; only this one is
        read.
    :raises EnvironmentProblem: the archive does not have it.
    """
    try:
        with tarfile.open(archive, 'r:gz') as members:
            stream = members.extractfile(download.member or '')
            if stream is None:
                raise KeyError(download.member)
            with stream, open(target, 'wb') as out:
                shutil.copyfileobj(stream, out, 1 << 20)
    except (KeyError, tarfile.TarError, EOFError) as e:
        raise errors.EnvironmentProblem(
            f'The pinned archive does not contain {download.member}',
            where=download.url, last_seen=str(e),
            hint='Correct pins.toml') from e


def _closed(where: str, why: str) -> Closed:
    return Closed(f'{urllib.parse.urlsplit(where).netloc} cannot be reached',
                  last_seen=why)


def _open(where: str) -> requests.Response:
    """The answer to a request, without its content.

    :raises Closed: access is closed.
    :raises Unavailable: no such file.
    """
    host = urllib.parse.urlsplit(where).netloc
    if host in _unreachable:
        raise _closed(where, _unreachable[host])
    try:
        # identity: a .tar.gz must not be unpacked on the way.
        response = requests.get(
            where, headers={'Accept-Encoding': 'identity'}, stream=True,
            timeout=_TIMEOUTS)
    except requests.RequestException as e:
        _unreachable[host] = _short(e)
        raise _closed(where, _unreachable[host]) from e
    if response.status_code == 200:
        return response
    response.close()
    status = f'HTTP {response.status_code} {response.reason}'
    if response.status_code in _CLOSED:
        raise _closed(where, status)
    raise Unavailable('The file does not exist', where=where, last_seen=status)


def _transfer(where: str, part: pathlib.Path,
              note: collections.abc.Callable[[str], None]) -> None:
    """Write one answer to a file.

    :raises requests.RequestException: the transfer broke.
    """
    with _open(where) as response:
        length, have = int(response.headers.get('Content-Length') or 0), 0
        # Twice: for the archive and for the program extracted from it.
        disk.require(2 * length, [part.parent], f'the download of {where}',
                     'MAGNUM_CAPI_CACHE')
        with open(part, 'wb') as out:
            for block in response.iter_content(_BLOCK):
                out.write(block)
                have += len(block)
                note(f'{disk.text(have)} of {disk.text(length)}')
    if have < length:
        # urllib3 1.26 does not say so.
        raise requests.ConnectionError(
            f'the connection ended after {have} of {length} bytes')


def _short(error: BaseException) -> str:
    """The innermost reason: requests nests up to four exceptions."""
    while True:
        inner = getattr(error, 'reason', None) or (
            error.args[0] if error.args
            and isinstance(error.args[0], Exception) else None)
        if not isinstance(inner, Exception):
            text = re.sub(r'\[Errno -?\d+\] ', '', str(error))
            return text.rsplit(': ', 1)[-1] or type(error).__name__
        error = inner


def digest(file: pathlib.Path, algorithm: str = 'sha256') -> str:
    """Digest of a file, hex."""
    with open(file, 'rb') as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()
