# SPDX-License-Identifier: Apache-2.0

"""Reads a record into a Result; other packages use only this module.

An archive is read in one forward pass while it is decompressed; nothing is
written. Unneeded parts are decompressed and checked, but not parsed. The
memory needed does not depend on the size of the archive.
"""

import os
import pathlib
import stat

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.results import archive
from magnum_capi_tempest.conformance.results import damage
from magnum_capi_tempest.conformance.results import limits as bounds
from magnum_capi_tempest.conformance.results import records


def read(path, *, expect_sha256=None, verified=False,
         limits=bounds.DEFAULT):
    """Read a Sonobuoy archive.

    :param path: the ``.tar.gz``.
    :param expect_sha256: hex digest that the archive must have.
    :param verified: the caller has already checked size and digest, when the
        archive was retrieved: stop after the results of the e2e plugin. Such
        a result is not ``whole`` and not eligible for certification.
    :returns: :class:`~..model.Result`.
    :raises Damage: it is missing, broken, unexpected, or not safe.
    """
    path = pathlib.Path(path)
    with _open(path) as stream:
        _recognize(path, stream.read(512))
        stream.seek(0)
        content = archive.Content(stream, path, limits)
        walk = archive.Walk(content, path, limits)
        record = records.Record(path, limits)
        whole = True
        for member in walk:
            if verified and record.enough(member.name):
                whole = False
                break
            record.take(member, walk)
    if whole and record.foreign:
        raise damage.Damage('It is not a Sonobuoy archive', where=path,
                            hint='Name the .tar.gz file that "sonobuoy '
                            'retrieve" or "magnum-capi conformance run" wrote')
    sha256 = content.sha256 if whole else expect_sha256 or ''
    if whole and expect_sha256 not in (None, sha256):
        raise damage.Damage(
            'The archive does not have the expected SHA-256', where=path,
            last_seen=sha256, hint='Retrieve it again')
    return record.result(_title(path), sha256, whole)


def read_files(junit_path, e2e_log_path, *, title=None,
               backend=None, kubernetes='', limits=bounds.DEFAULT):
    """Read the two files that Hydrophone writes and CNCF requires.

    :param junit_path: ``junit_01.xml``; None, or a missing file, is a
        problem of the result.
    :param e2e_log_path: ``e2e.log``, likewise.
    :param backend: the program that wrote them, Hydrophone by default.
    :param kubernetes: version of the API server, if the caller knows it; the
        two files seldom contain it.
    :returns: :class:`~..model.Result`, which is never ``verified``.
    :raises Damage: neither exists, or one is not safe to read.
    """
    given = [pathlib.Path(p) for p in (junit_path, e2e_log_path) if p]
    there = [p for p in given if p.exists()]
    if not there:
        raise damage.Damage('There is neither a JUnit file nor an e2e log',
                            where=', '.join(map(str, given)))
    record = records.Record(there[0].parent, limits)
    for path, take in ((junit_path, record.junit), (e2e_log_path,
                                                    record.log)):
        if path and pathlib.Path(path) in there:
            with _open(pathlib.Path(path)) as stream:
                take(_pieces(stream, path, limits), str(path))
    name = title or there[0].resolve().parent.name
    return record.result(name, '', True, backend or model.HYDROPHONE,
                         kubernetes)


def read_folder(path):
    """Read an unpacked archive.

    Links are not followed. The result is never ``verified``.

    :returns: :class:`~..model.Result`.
    """
    path = pathlib.Path(path)
    record = records.Record(path, bounds.DEFAULT)
    tree = _Tree(path, bounds.DEFAULT)
    for member in tree:
        record.take(member, tree)
    return record.result(path.resolve().name, '', True)


class _Tree:
    """The files of a folder, in the form of :class:`~.archive.Walk`."""

    def __init__(self, path, limits):
        self._path, self._limits = path, limits
        self._file = None

    def __iter__(self):
        count = 0
        for place, folders, names in os.walk(self._path):
            folders.sort()
            for name in sorted(names):
                count += 1
                if count > self._limits.members:
                    raise damage.Damage(
                        f'More than {self._limits.members} files',
                        where=self._path)
                self._file = pathlib.Path(place) / name
                if self._file.is_file() and not self._file.is_symlink():
                    yield archive.Member(
                        self._file.relative_to(self._path).as_posix(),
                        self._file.stat().st_size)

    def content(self):
        """The pieces of the current file."""
        with _open(self._file) as stream:
            yield from _pieces(stream, self._file, self._limits)


def find(path, *, verified=False, **kwargs):
    """Read an archive, or a folder with one or with Hydrophone's files.

    The folder may be an unpacked archive.

    :param verified: see :func:`read`.
    :param kwargs: of :func:`read_files`, for loose files.
    :returns: :class:`~..model.Result`.
    :raises UsageError: there is no such file or folder.
    :raises Damage: there is none, or several, or they cannot be read.
    """
    path = local(path)
    try:
        return _find(path, verified, kwargs)
    except OSError as e:
        raise damage.Damage(f'Cannot read the record: {e.strerror}',
                            where=e.filename or path) from e


def local(path) -> pathlib.Path:
    """The path of a record that a user names.

    :raises UsageError: it is a URL.
    """
    if '://' in str(path):
        raise errors.UsageError('A record cannot be read from a URL',
                                where=path, hint='Download it first')
    return pathlib.Path(path)


def _find(path, verified, kwargs):
    if not path.exists():
        raise errors.UsageError('There is no such archive or folder',
                                where=path)
    if not path.is_dir():
        return read(path, verified=verified)
    files = path / 'junit_01.xml', path / 'e2e.log'
    if any(file.exists() for file in files):
        return read_files(*files, **kwargs)
    if (path / 'plugins').is_dir():
        return read_folder(path)
    archives = sorted(path.glob('*.tar.gz'))
    if len(archives) != 1:
        raise damage.Damage(
            f'The folder has {len(archives)} archives and no JUnit file',
            where=path, hint='Name the archive')
    return read(archives[0], verified=verified)


def _open(path):
    try:
        # Opening a FIFO would wait for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as e:
        raise damage.Damage(f'Cannot read the record: {e.strerror}',
                            where=path) from e
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise damage.Damage('It is not a regular file', where=path)
    return open(handle, 'rb', buffering=0)


def _recognize(path, head):
    """Refuse a file that is no gzip file, by what it is.

    :param head: its first 512 bytes.
    """
    if not head or head.startswith(b'\x1f\x8b'):
        return
    hint = ('Name the .tar.gz of Sonobuoy, or the folder with the '
            'junit_01.xml and e2e.log of a run')
    if head[257:262] == b'ustar':
        what = 'It is a tar archive without compression'
        hint = 'Compress it first: gzip FILE'
    elif head.startswith(b'PK\3\4'):
        what = 'It is a zip archive, not a .tar.gz'
    elif b'<testsuite' in head:
        what = 'It is a JUnit file, not an archive'
    elif _is_text(head):
        what = 'It is a text file, not an archive'
    else:
        what = 'It is not a gzip file'
    raise damage.Damage(what, where=path, hint=hint)


def _is_text(head):
    # The last character may be cut.
    text = head.decode('utf-8', 'ignore')
    return len(head) - len(text.encode()) < 4 and '\0' not in text


def _pieces(stream, path, limits):
    size = 0
    while piece := stream.read(archive.PIECE):
        size += len(piece)
        if size > limits.member:
            raise damage.Damage(f'More than {limits.member} bytes',
                                where=path)
        yield piece


def _title(path):
    return path.name.removesuffix('.gz').removesuffix('.tar')
