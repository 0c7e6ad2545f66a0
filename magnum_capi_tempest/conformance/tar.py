# SPDX-License-Identifier: Apache-2.0

"""Yields the files of a ``.tar.gz`` in one forward pass, and writes none.

:mod:`gzip` (or ISA-L's drop-in for it, from the extra ``conformance``) and
:mod:`tarfile` parse the formats. What no archive of results has ends the
reading: links, devices, names that lead elsewhere, duplicate names, oversized
headers, bombs. Each limit is several times what real archives contain (a
certified run of v1.34: 120 members; 100 nodes with their journals: a few GB).
"""

import collections.abc
import dataclasses
import gzip
import hashlib
import io
import re
import tarfile
import types
import typing
import zlib

from magnum_capi_tempest.conformance import damage

_gzip: types.ModuleType = gzip
#: What reading raises.
_ERRORS: tuple[type[Exception], ...] = OSError, zlib.error
try:
    from isal import igzip
    from isal import isal_zlib
except ImportError:
    pass
else:
    _gzip = igzip
    # For its types, the class is an instance.
    _ERRORS += (vars(isal_zlib)['error'],)

#: Bytes to read at once.
PIECE = 512 << 10
#: Most entries, including folders, and most characters of a name.
MEMBERS, NAME = 100_000, 1024
#: Most bytes of the whole content; most per compressed byte, which is checked
#: from RATIO_FROM on.
TOTAL, RATIO, RATIO_FROM = 16 << 30, 200, 64 << 20
#: Most bytes of an extended header, and digits in a row in a header:
#: tarfile's patterns take time quadratic in these (CVE-2024-6232).
_HEADER, _DIGITS = 16 << 10, re.compile(rb'\d{200}')
#: Compressed bytes that may come without content, beyond four times that:
#: reading many empty gzip streams takes time.
_EMPTY = 3 * PIECE
_KINDS = {tarfile.LNKTYPE: 'a hard link', tarfile.SYMTYPE: 'a symbolic link',
          tarfile.CHRTYPE: 'a character device',
          tarfile.BLKTYPE: 'a block device', tarfile.FIFOTYPE: 'a FIFO'}


@dataclasses.dataclass(frozen=True)
class Member:
    """A regular file.

    :param name: normalised: no leading ``./``, single slashes.
    :param size: bytes.
    :param pieces: called before the next member is asked for, iterates over
        its content.
    """

    name: str
    size: int
    pieces: collections.abc.Callable[[], collections.abc.Iterator[bytes]]


class Content:
    """The uncompressed content of a gzip file, which is read forwards only.

    It is what :class:`tarfile.TarFile` needs of a file: :meth:`read` is for
    headers alone. The checksums of the file are at its end: they have been
    verified once :meth:`to_end` returns.

    :param file: binary file, preferably unbuffered, read from its position.
    :param where: its name, for errors.
    """

    def __init__(self, file: io.RawIOBase, where: object) -> None:
        self._source = _Source(file, self._guard)
        self._gzip: gzip.GzipFile = _gzip.open(self._source, 'rb')
        self._where = where
        self._position = 0
        #: The header that was read last.
        self.header = b''

    def close(self) -> None:
        """Give up the inflater.

        It refers back to this, by an object of ISA-L that Python's garbage
        collector does not know, so it would stay in memory.
        """
        self._gzip.close()
        del self._gzip

    def tell(self) -> int:
        """The position in the content."""
        return self._position

    def seek(self, position: int) -> None:
        """Go forward; a size that leads backwards is invalid."""
        if position < self._position:
            self.refuse('a header that is not a tar header')
        for _ in self.pieces(position - self._position):
            pass

    def read(self, size: int) -> bytes:
        """A header, or what an extended header announces.

        :raises Damage: it is too large, or the content ends within it.
        """
        if not 0 <= size <= _HEADER:
            self.refuse(f'an extended header of {size} bytes')
        data = self._inflate(size)
        if len(data) < size:
            raise damage.Damage('The archive ends within a member',
                                where=self._where, hint='Retrieve it again')
        if _DIGITS.search(data):
            self.refuse('an extended header that is malformed')
        self.header = data
        return data

    def write(self, data: bytes) -> int:
        """Not possible; what tarfile takes must have it."""
        raise io.UnsupportedOperation('write')

    def pieces(self, size: int) -> collections.abc.Iterator[bytes]:
        """Iterate over the next ``size`` bytes.

        :raises Damage: there are fewer.
        """
        while size:
            piece = self._inflate(min(size, PIECE))
            if not piece:
                raise damage.Damage('The archive ends within a member',
                                    where=self._where,
                                    hint='Retrieve it again')
            size -= len(piece)
            yield piece

    def to_end(self) -> bool:
        """Read the rest; is it nothing but zeros?"""
        empty = True
        while piece := self._inflate(PIECE):
            empty = empty and not piece.strip(b'\0')
        return empty

    @property
    def sha256(self) -> str:
        """Of the file, in hex; complete once the file was read to its end."""
        return self._source.digest.hexdigest()

    def refuse(self, what: str, cause: Exception | None = None
               ) -> typing.NoReturn:
        """Give up on an archive because of its content."""
        raise damage.Damage(f'The archive holds {what}', where=self._where,
                            hint='Sonobuoy does not write such archives'
                            ) from cause

    def _inflate(self, size: int) -> bytes:
        """The next bytes: fewer than ``size`` only at the end."""
        try:
            data = self._gzip.read(size)
        except EOFError as e:
            raise damage.Damage(
                'The archive is truncated', where=self._where,
                last_seen=f'{self._source.count} bytes, '
                          f'{self._position} inflated',
                hint='Retrieve it again') from e
        except _ERRORS as e:
            if isinstance(e, OSError) and e.errno:
                raise damage.Damage(
                    f'Cannot read the record: {e.strerror}',
                    where=self._where) from e
            what = ('is corrupt' if self._position
                    else 'is not a gzip file')
            raise damage.Damage(
                f'The archive {what}', where=self._where,
                last_seen=f'{e} within {self._source.count} bytes',
                hint='Retrieve it again') from e
        if not self._source.count:
            raise damage.Damage('The archive is empty', where=self._where)
        self._position += len(data)
        self._guard()
        return data

    def _guard(self) -> None:
        """Refuse content that inflates to too much, or to too little."""
        size, count = self._position, self._source.count
        if size > TOTAL:
            raise damage.Damage(
                f'The archive inflates to more than {TOTAL} bytes',
                where=self._where)
        if size > RATIO_FROM and size > RATIO * count:
            raise damage.Damage(
                f'The archive inflates to more than {RATIO} times '
                'its size: a decompression bomb', where=self._where,
                last_seen=f'{size} bytes of {count}')
        if count > _EMPTY + 4 * size:
            self.refuse('more gzip headers than content')


class _Source(io.RawIOBase):
    """A file whose bytes are counted and hashed as they are read.

    :param guard: called after each read; it may raise.
    """

    def __init__(self, file: io.RawIOBase,
                 guard: collections.abc.Callable[[], None]) -> None:
        self._file = file
        self._guard = guard
        self.digest = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: typing.Any) -> int:
        size = self._file.readinto(buffer) or 0
        self.digest.update(memoryview(buffer)[:size])
        self.count += size
        self._guard()
        return size


def members(content: Content) -> collections.abc.Iterator[Member]:
    """Yield each :class:`Member` of an archive, and read it to its end.

    :raises Damage: while iterating.
    """
    names = set()
    for number, entry in enumerate(_entries(content), 1):
        if number > MEMBERS:
            content.refuse(f'more than {MEMBERS} members')
        name = _name(content, entry)
        # A 64-bit hash with a secret key is enough to tell names apart, and
        # takes a tenth of their memory.
        key = hash(name)
        if name and key in names:
            content.refuse(f'two members of the name {name!r}')
        names.add(key)
        if entry.isreg() and name:
            def pieces(entry: tarfile.TarInfo = entry
                       ) -> collections.abc.Iterator[bytes]:
                content.seek(entry.offset_data)
                return content.pieces(entry.size)
            yield Member(name, entry.size, pieces)
    if content.header.strip(b'\0'):
        # For tarfile, a broken header is the end of the archive.
        content.refuse('a header that is not a tar header')
    if not content.to_end():
        content.refuse('data after its end')


def _entries(content: Content
             ) -> collections.abc.Iterator[tarfile.TarInfo]:
    try:
        tar = tarfile.TarFile(fileobj=content, encoding='utf-8',
                              errors='strict')
        while (entry := tar.next()) is not None:
            if tar.pax_headers.keys() & {'path', 'size'}:
                content.refuse('a name or a size for all members at once')
            yield entry
            # Otherwise it would keep all of them.
            vars(tar)['members'].clear()
            tar.pax_headers = {}
    except UnicodeDecodeError as e:
        content.refuse(f'a name that is not UTF-8: {e.object[:80]!r}', e)
    except (tarfile.TarError, ValueError, RecursionError) as e:
        content.refuse('a header that is not a tar header', e)


def _name(content: Content, entry: tarfile.TarInfo) -> str:
    """The normal form of an entry's name; refuses forbidden entries."""
    name = entry.name
    if entry.issparse():
        content.refuse(f'a sparse file: {name!r}')
    if not (entry.isreg() or entry.isdir()):
        what = _KINDS.get(entry.type,
                          f'an entry of unknown kind {entry.type!r}')
        content.refuse(f'{what}: {name!r}')
    if len(name) > NAME:
        content.refuse(f'a name of more than {NAME} characters')
    parts = [part for part in name.split('/') if part not in ('', '.')]
    if name.startswith('/') or '..' in parts or '\0' in name:
        content.refuse(f'a name that leads elsewhere: {name!r}')
    if not 0 <= entry.size <= TOTAL:
        content.refuse(f'a member of {entry.size} bytes')
    return '/'.join(parts)
