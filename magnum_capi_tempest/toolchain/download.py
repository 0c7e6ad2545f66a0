# SPDX-License-Identifier: Apache-2.0

"""Official release files: checked, resumable, and quick to give up.

Proxies and ``~/.netrc`` are taken from the environment, as requests does by
default. An unreachable host is asked only once in a run.
"""

import hashlib
import pathlib
import queue
import tarfile
import threading
import urllib.parse

import requests

from magnum_capi import errors
from magnum_capi_tempest.toolchain import disk

#: Seconds to connect; until the next bytes; and in all until the first answer,
#: which also limits the wait for a name server.
CONNECT, READ, ANSWER = 4, 30, 15

#: Number of attempts at an interrupted transfer.
ATTEMPTS = 3

#: Bytes; a partial block is lost when the connection breaks.
_BLOCK = 1 << 16

#: Answers of proxies and gateways that mean that access is closed.
_CLOSED = (403, 407, 502, 503, 504)


class Unavailable(errors.EnvironmentProblem):
    """The file is not available from its host; another way may exist."""


class Hosts:
    """Remembers which hosts did not answer, for the run."""

    def __init__(self):
        self._dead = {}

    def check(self, url):
        """:raises Unavailable: the URL's host is known not to answer."""
        host = urllib.parse.urlsplit(url).netloc
        if host in self._dead:
            raise Unavailable(f'{host} did not respond to an earlier request',
                              last_seen=self._dead[host])

    def fail(self, url, reason):
        """Remember the host, and raise :class:`Unavailable`."""
        host = urllib.parse.urlsplit(url).netloc
        self._dead[host] = reason
        raise Unavailable(f'{host} cannot be reached', where=url,
                          last_seen=reason)


def fetch(download, part: pathlib.Path, *, hosts, session=None,
          note=lambda text: None, free=disk.free):
    """Download a file and check it.

    :param download: a :class:`pins.Download`.
    :param part: target file; an existing part is resumed. It is kept when
        the transfer breaks, and removed if it is not the pinned file.
    :param note: called with a message on the progress.
    :raises Unavailable: no answer, no such file, broken transfer, or other
        content than pinned.
    :raises EnvironmentProblem: no disk space.
    """
    hosts.check(download.url)
    session = session or requests.Session()
    resumed = part.exists()
    for fresh in (False, True):
        resumed |= _transfer_all(download.url, part, hosts, session, note,
                                 free)
        found = digest(part, download.algorithm)
        if found == download.digest:
            return
        part.unlink()
        # The resumed part may have been of another file: start once more.
        if fresh or not resumed:
            break
    raise Unavailable(
        'The downloaded file does not match its pinned checksum',
        where=download.url,
        last_seen=f'{download.algorithm} {found}, '
                  f'pinned {download.digest}')


def _transfer_all(url, part, hosts, session, note, free):
    """Transfer to the end; true when it took more than one attempt."""
    for attempt in range(ATTEMPTS):
        try:
            _transfer(url, part, hosts, session, note, free)
            return attempt > 0
        except requests.RequestException as e:
            # _open has its own handler: this transfer broke off.
            error = e
    raise Unavailable('The download was interrupted', where=url,
                      last_seen=_short(error)) from error


def _transfer(url, part, hosts, session, note, free):
    have = part.stat().st_size if part.exists() else 0
    response = _open(url, have, hosts, session)
    with response:
        if response.status_code == 416:
            # There is nothing to add: the part is complete or of another
            # file, which the checksum will show.
            return
        more = response.status_code == 206 and response.headers.get(
            'Content-Range', '').startswith(f'bytes {have}-')
        if not more:
            have = 0
        length = int(response.headers.get('Content-Length') or 0)
        # Twice: for the archive and for the program extracted from it.
        disk.require(2 * length, [part.parent], f'the download of {url}',
                     'MAGNUM_CAPI_CACHE', free=free)
        whole = disk.text(have + length)
        with open(part, 'ab' if more else 'wb') as out:
            for block in response.iter_content(_BLOCK):
                out.write(block)
                have += len(block)
                note(f'{disk.text(have)} of {whole}')


def _open(url, have, hosts, session):
    """The response; its body has not been read yet."""
    # identity: a .tar.gz must not be unpacked on the way.
    headers = {'Accept-Encoding': 'identity'}
    if have:
        headers['Range'] = f'bytes={have}-'
    try:
        response = _within(ANSWER, lambda: session.get(
            url, headers=headers, stream=True, timeout=(CONNECT, READ)))
    except queue.Empty:
        hosts.fail(url, f'no answer within {ANSWER} s')
    except requests.RequestException as e:
        hosts.fail(url, _short(e))
    code = response.status_code
    if code in (200, 206, 416):
        return response
    response.close()
    if code in _CLOSED:
        hosts.fail(url, f'HTTP {code} {response.reason}')
    raise Unavailable('The file does not exist', where=url,
                      last_seen=f'HTTP {code} {response.reason}')


def _within(seconds, call):
    """Call in a thread that may be abandoned.

    getaddrinfo cannot be interrupted, and its own limit is up to a minute.
    """
    result = queue.Queue()

    def body():
        try:
            result.put((call(), None))
        except Exception as e:
            result.put((None, e))

    threading.Thread(target=body, daemon=True).start()
    value, error = result.get(timeout=seconds)
    if error is not None:
        raise error
    return value


def _short(error):
    """The innermost reason: requests nests up to four exceptions."""
    while True:
        inner = getattr(error, 'reason', None) or (
            error.args[0] if error.args
            and isinstance(error.args[0], Exception) else None)
        if not isinstance(inner, Exception):
            return str(error).rsplit(': ', 1)[-1] or type(error).__name__
        error = inner


def digest(file: pathlib.Path, algorithm='sha256') -> str:
    """Hex digest of a file."""
    with open(file, 'rb') as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def unpack(download, part: pathlib.Path, target: pathlib.Path):
    """Make the program from the checked file.

    :param target: the program; only the wanted member of an archive is
        read.
    :raises Unavailable: the archive has no such regular file.
    """
    if download.member is None:
        part.rename(target)
        return
    try:
        with tarfile.open(part, 'r:gz') as archive:
            stream = archive.extractfile(download.member)
            if stream is None:
                raise KeyError(download.member)
            with stream, open(target, 'wb') as out:
                while block := stream.read(1 << 20):
                    out.write(block)
    except (KeyError, tarfile.TarError, EOFError) as e:
        raise Unavailable(
            f'The archive does not contain {download.member}',
            where=download.url, last_seen=str(e)) from e
    part.unlink()
