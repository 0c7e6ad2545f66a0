# SPDX-License-Identifier: Apache-2.0

"""Reads a ``.tar.gz`` in one forward pass with limits, and writes no file.

:mod:`gzip` (or ISA-L's drop-in for it, from the extra ``conformance``) and
:mod:`tarfile` parse the formats. Dangerous contents that no archive of results
has end the reading: links, devices, names that lead elsewhere, duplicate
names, oversized headers, bombs.
"""

import dataclasses
import gzip
import hashlib
import io
import re
import tarfile
import zlib

from magnum_capi_tempest.conformance.results import damage

try:
    from isal import igzip
    from isal.isal_zlib import error as _Error
except ImportError:
    igzip, _Error = gzip, zlib.error

PIECE = 512 << 10
#: Compressed bytes that may be read before any content appears, beyond those
#: of a piece: reading many empty gzip streams takes time.
_HEADERS = 3 * PIECE
#: Bytes of an extended header, and digits in a row in it: tarfile's patterns
#: take time quadratic in these (CVE-2024-6232).
_EXTENDED, _DIGITS = 64 << 10, re.compile(rb'\d{200}')
_RECORD = re.compile(rb'([1-9]\d{0,5}) ([^=\n]+)=')
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE,
          tarfile.DIRTYPE)
_PAX = (tarfile.XHDTYPE, tarfile.XGLTYPE)
_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_KINDS = {tarfile.LNKTYPE: 'a hard link', tarfile.SYMTYPE: 'a symbolic link',
          tarfile.CHRTYPE: 'a character device',
          tarfile.BLKTYPE: 'a block device', tarfile.FIFOTYPE: 'a FIFO',
          tarfile.GNUTYPE_SPARSE: 'a sparse file'}


@dataclasses.dataclass(frozen=True)
class Member:
    """A regular file.

    :param name: normalised: no leading ``./``, single slashes.
    :param size: bytes.
    """

    name: str
    size: int


class Content:
    """The uncompressed content of a gzip file, to be read once.

    Its checksums are at its end: they have been verified once :meth:`to_end`
    is exhausted.

    :param file: binary file, preferably unbuffered, read from its position.
    :param where: its name, for errors.
    :param limits: :class:`~.limits.Limits`.
    """

    def __init__(self, file, where, limits):
        self._source = _Source(file, where, limits)
        self._gzip = igzip.open(self._source, 'rb')
        self._where = where

    def read(self, size: int) -> bytes:
        """The next bytes: fewer than ``size`` only at the end.

        :raises Damage: not a gzip file, corrupt, truncated, or a bomb.
        """
        try:
            data = self._gzip.read(size)
        except EOFError as e:
            raise damage.Damage(
                'The archive is truncated', where=self._where,
                last_seen=f'{self._source.count} bytes, '
                          f'{self._source.inflated} inflated',
                hint='Retrieve it again') from e
        except (OSError, zlib.error, _Error) as e:
            if isinstance(e, OSError) and e.errno:
                raise damage.Damage(
                    f'Cannot read the record: {e.strerror}',
                    where=self._where) from e
            what = ('is corrupt' if self._source.inflated
                    else 'is not a gzip file')
            raise damage.Damage(
                f'The archive {what}', where=self._where,
                last_seen=f'{e} within {self._source.count} bytes',
                hint='Retrieve it again') from e
        if not self._source.count:
            raise damage.Damage('The archive is empty', where=self._where)
        self._source.inflated += len(data)
        self._source.guard()
        return data

    def pieces(self, size: int):
        """Iterate over the next ``size`` bytes; fewer come at the end."""
        while size and (piece := self.read(min(size, PIECE))):
            size -= len(piece)
            yield piece

    def tell(self) -> int:
        """The position in the content."""
        return self._source.inflated

    def seek(self, position: int):
        """Go forward."""
        for _ in self.pieces(position - self._source.inflated):
            pass

    def to_end(self):
        """Iterate over the rest."""
        while piece := self.read(PIECE):
            yield piece

    @property
    def sha256(self) -> str:
        """Of the file, in hex; complete once the file was read to its end."""
        return self._source.digest.hexdigest()


class _Source(io.RawIOBase):
    """A file whose bytes are counted and hashed as they are read.

    ``inflated`` is the uncompressed size, which the decompressor counts.
    """

    def __init__(self, file, where, limits):
        self._file = file
        self._where = where
        self._limits = limits
        self.digest = hashlib.sha256()
        self.count = self.inflated = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        size = self._file.readinto(buffer)
        self.digest.update(memoryview(buffer)[:size])
        self.count += size
        self.guard()
        return size

    def guard(self):
        """Refuse content that inflates to too much, or to too little.

        :raises Damage: it does.
        """
        limits, compressed = self._limits, self.count
        if self.inflated > limits.total:
            raise damage.Damage(
                f'The archive inflates to more than {limits.total} bytes',
                where=self._where)
        if (self.inflated > limits.ratio_from
                and self.inflated > limits.ratio * compressed):
            raise damage.Damage(
                f'The archive inflates to more than {limits.ratio} times '
                'its size: a decompression bomb', where=self._where,
                last_seen=f'{self.inflated} bytes of {compressed}')
        if compressed > _HEADERS + 4 * self.inflated:
            raise damage.Damage(
                'The archive has more gzip headers than content',
                where=self._where,
                hint='Sonobuoy does not write such archives')


class _Headers:
    """The content of an archive as :class:`tarfile.TarFile` reads it.

    :param refuse: function of a forbidden content; it raises.
    :param cut: function to call if the content ends too early.
    """

    def __init__(self, content, refuse, cut):
        self._content = content
        self._refuse = refuse
        self._cut = cut
        self._pax = None
        self.tell = content.tell

    def seek(self, position):
        """Go forward; a size that leads backwards is invalid."""
        if position < self.tell():
            self._refuse('a header that is not a tar header')
        self._content.seek(position)

    def read(self, size):
        """A header, or the content of an extended header."""
        data = self._content.read(size)
        if len(data) < size:
            self._cut()
        if self._pax:
            self._check(self._pax, data.rstrip(b'\0'))
            self._pax = None
        return data

    def expect(self, entry):
        """Refuse a header before reading what it announces."""
        kind = entry.type
        if kind in (*_PAX, *_NAMES):
            if not 0 <= entry.size <= _EXTENDED:
                self._refuse(f'an extended header of {entry.size} bytes')
            self._pax = kind if kind in _PAX else None
        elif kind not in _FILES:
            what = _KINDS.get(kind, f'an entry of unknown kind {kind}')
            self._refuse(f'{what}: {entry.name!r}')
        elif entry.size < 0:
            self._refuse('a header that is not a tar header')

    def _check(self, kind, data):
        """Refuse pax records that tarfile would silently ignore."""
        if _DIGITS.search(data):
            self._refuse('an extended header that is malformed')
        while data:
            match = _RECORD.match(data)
            end = int(match[1]) if match else 0
            key, value = match[2] if match else b'', data[:end]
            if not end <= len(data) or not value.endswith(b'\n'):
                self._refuse('an extended header that is malformed')
            if key.startswith(b'GNU.sparse'):
                self._refuse('a sparse file')
            if kind == tarfile.XGLTYPE and key in (b'path', b'size'):
                self._refuse('a name or a size for all members at once')
            if key == b'size' and not value[match.end():-1].isdigit():
                self._refuse('a size that is not a number')
            data = data[end:]


class _Entry(tarfile.TarInfo):
    """A header that is either refused or taken literally."""

    @classmethod
    def fromtarfile(cls, tar):
        """Read the next header; TarFile.next takes a broken one for the end.

        :raises ReadError: it is broken.
        """
        try:
            return super().fromtarfile(tar)
        except tarfile.EOFHeaderError:
            raise
        except tarfile.HeaderError as e:
            raise tarfile.ReadError(str(e)) from e

    def _proc_member(self, tar):
        # tarfile documents that subclasses may override it.
        tar.fileobj.expect(self)
        return super()._proc_member(tar)


class Walk:
    """Iterates over the files of an archive.

    Between two members, :meth:`content` yields the pieces of the last one; the
    rest of it is skipped.

    :param content: :class:`Content`.
    :param where: name of the archive, for errors.
    :param limits: :class:`~.limits.Limits`.
    :raises Damage: while iterating.
    """

    def __init__(self, content, where, limits):
        self._content = content
        self._where = where
        self._limits = limits
        self._entry = None
        self._names = set()
        self._count = 0

    def __iter__(self):
        for entry in self._entries():
            name = self._name(entry)
            if entry.isreg() and name:
                self._entry = entry
                yield Member(name, entry.size)
        for piece in self._content.to_end():
            if piece.strip(b'\0'):
                self._refuse('data after its end')

    def content(self):
        """The pieces of the current member."""
        entry = self._entry
        self._content.seek(entry.offset_data)
        yield from self._content.pieces(entry.size)
        if self._content.tell() < entry.offset_data + entry.size:
            self._cut()

    def _entries(self):
        try:
            tar = tarfile.TarFile(
                fileobj=_Headers(self._content, self._refuse, self._cut),
                tarinfo=_Entry, encoding='utf-8', errors='strict')
            while (entry := tar.next()) is not None:
                yield entry
                # Otherwise it would keep all of them.
                tar.members.clear()
                tar.pax_headers.clear()
        except UnicodeDecodeError as e:
            self._refuse(f'a name that is not UTF-8: {e.object[:80]!r}', e)
        except (tarfile.TarError, ValueError, RecursionError) as e:
            self._refuse('a header that is not a tar header', e)

    def _name(self, entry):
        """The normal form of an entry's name; refuses forbidden entries."""
        self._count += 1
        name, limits = entry.name, self._limits
        if self._count > limits.members:
            self._refuse(f'more than {limits.members} members')
        if len(name) > limits.name:
            self._refuse(f'a name of more than {limits.name} characters')
        parts = [part for part in name.split('/') if part not in ('', '.')]
        if name.startswith('/') or '..' in parts or '\0' in name:
            self._refuse(f'a name that leads elsewhere: {name!r}')
        if entry.size > limits.total:
            self._refuse(f'a member of {entry.size} bytes')
        normal = '/'.join(parts)
        # A 64-bit hash with a secret key is enough to tell names apart, and
        # takes a tenth of their memory.
        key = hash(normal)
        if normal and key in self._names:
            self._refuse(f'two members of the name {normal!r}')
        self._names.add(key)
        return normal

    def _cut(self):
        raise damage.Damage('The archive ends within a member',
                            where=self._where, hint='Retrieve it again')

    def _refuse(self, what, cause=None):
        raise damage.Damage(f'The archive holds {what}', where=self._where,
                            hint='Sonobuoy does not write such archives'
                            ) from cause
