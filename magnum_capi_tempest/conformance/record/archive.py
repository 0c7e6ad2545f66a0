# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Walks a tar archive once, forward, and never writes a file.

Why not :mod:`tarfile`: it keeps every member it has seen, reads extended
headers of any size into memory, and its ``getmember`` gives the last of two
members of one name where Go gives the first. Here a member is either read
while it passes by or skipped; what an archive of results never holds (links,
devices, names that lead elsewhere, two members of one name) ends the walk.

Formats: POSIX ustar and pax, which Go writes, and GNU's long names.
"""

import dataclasses

from magnum_capi_tempest.conformance.record import damage

_BLOCK = 512
#: Most bytes of an extended header; a name and a path are a few hundred.
_EXTENDED = 64 << 10
_FILES = frozenset(b'0\x007')
_FOLDER = ord('5')
_PAX, _GLOBAL, _LONG_NAME, _LONG_LINK = b'xgLK'
_KINDS = {ord('1'): 'a hard link', ord('2'): 'a symbolic link',
          ord('3'): 'a character device', ord('4'): 'a block device',
          ord('6'): 'a FIFO', ord('S'): 'a sparse file'}


@dataclasses.dataclass(frozen=True)
class Member:
    """A regular file.

    :param name: normalised: without ``./`` in front, single slashes.
    :param size: bytes.
    """

    name: str
    size: int


class Walk:
    """Iterates over the files of an archive.

    Between two members, :meth:`content` gives the pieces of the last one;
    what is not taken of it is skipped.

    :param pieces: iterable of bytes, :class:`~.inflate.Gzip`.
    :param where: name of the archive, for errors.
    :param limits: :class:`~.limits.Limits`.
    :raises Damage: while iterating.
    """

    def __init__(self, pieces, where, limits):
        self._pieces = iter(pieces)
        self._where = where
        self._limits = limits
        self._piece = memoryview(b'')
        self._left = 0
        self._padding = 0
        self._names = set()
        self._count = 0

    def __iter__(self):
        while (header := self._header()) is not None:
            kind, name, size = header
            self._left, self._padding = size, -size % _BLOCK
            if kind in _FILES and name:
                yield Member(name, size)
            self._skip(self._left + self._padding)
            self._left = self._padding = 0
        self._end()

    def content(self):
        """The pieces of the current member, as memoryviews."""
        while self._left:
            piece = self._some(self._left) or self._cut()
            self._left -= len(piece)
            yield piece

    def _header(self):
        """Kind, name and size of the next entry, None at the end."""
        override = {}
        while True:
            block = self._exactly(_BLOCK)
            if not block.strip(b'\0'):
                return None
            self._checksum(block)
            kind, size = block[156], self._number(block[124:136])
            if kind in (_PAX, _GLOBAL, _LONG_NAME, _LONG_LINK):
                override |= self._extended(kind, size)
                continue
            name = override.get('path') or self._name(block)
            size = override.get('size', size)
            return kind, self._entry(kind, name), self._size(kind, size)

    def _entry(self, kind, name):
        """Count an entry, refuse what cannot be ours."""
        self._count += 1
        if self._count > self._limits.members:
            self._refuse(f'more than {self._limits.members} members')
        if len(name) > self._limits.name:
            self._refuse('a name of more than '
                         f'{self._limits.name} characters')
        parts = [part for part in name.split('/') if part not in ('', '.')]
        if name.startswith('/') or '..' in parts or '\0' in name:
            self._refuse(f'a name that leads elsewhere: {name!r}')
        if kind not in _FILES and kind != _FOLDER:
            what = _KINDS.get(kind, f'an entry of unknown kind {kind}')
            self._refuse(f'{what}: {name!r}')
        normal = '/'.join(parts)
        # 64 bits of a hash with a secret key are enough to tell names
        # apart, and a tenth of the memory of the names.
        key = hash(normal)
        if normal and key in self._names:
            self._refuse(f'two members of the name {normal!r}')
        self._names.add(key)
        return normal

    def _size(self, kind, size):
        if kind == _FOLDER:
            return 0
        if size > self._limits.total:
            self._refuse(f'a member of {size} bytes')
        return size

    def _name(self, block):
        name = block[:100].split(b'\0', 1)[0]
        if block[257:263] == b'ustar\0':
            prefix = block[345:500].split(b'\0', 1)[0]
            name = prefix + b'/' + name if prefix else name
        return self._text(name)

    def _text(self, data):
        try:
            return data.decode()
        except UnicodeDecodeError as e:
            self._refuse(f'a name that is not UTF-8: {data[:80]!r}', e)

    def _extended(self, kind, size):
        """What an extended header says of the next entry."""
        if size > _EXTENDED:
            self._refuse(f'an extended header of {size} bytes')
        data = self._exactly(size + -size % _BLOCK)[:size]
        if kind == _LONG_NAME:
            return {'path': self._text(data.rstrip(b'\0'))}
        if kind == _LONG_LINK:
            return {}
        found = self._records(data)
        if kind == _GLOBAL and found.keys() & {'path', 'size'}:
            self._refuse('a name or a size for all members at once')
        if any(key.startswith('GNU.sparse') for key in found):
            self._refuse('a sparse file')
        return {key: value for key, value in found.items()
                if key in ('path', 'size')}

    def _records(self, data):
        """``LENGTH KEY=VALUE\\n`` of pax (POSIX.1-2001)."""
        found = {}
        while data:
            length, blank, _ = data[:16].partition(b' ')
            if not blank or not length.isdigit() or length[:1] == b'0':
                self._refuse('an extended header that is malformed')
            record = data[len(length) + 1:int(length)]
            key, equals, value = record.partition(b'=')
            if (not equals or len(record) != int(length) - len(length) - 1
                    or not value.endswith(b'\n')):
                self._refuse('an extended header that is malformed')
            key, value = self._text(key), value[:-1]
            if key == 'size':
                if not value.isdigit() or len(value) > 19:
                    self._refuse('a size that is no number')
                found[key] = int(value)
            else:
                found[key] = self._text(value) if key == 'path' else ''
            data = data[int(length):]
        return found

    def _number(self, field):
        """A number of the header: octal digits, or GNU's binary form."""
        if field[0] & 0x80:
            return int.from_bytes(
                bytes([field[0] & 0x7f]) + field[1:], 'big')
        digits = field.strip(b' \0') or b'0'
        if digits.strip(b'01234567'):
            self._refuse('a header that is no tar header')
        return int(digits, 8)

    def _checksum(self, block):
        field = block[148:156]
        total = sum(block) - sum(field) + 8 * ord(' ')
        if self._number(field) != total:
            self._refuse('a header that is no tar header')

    def _end(self):
        """After the end only zeros may follow."""
        while piece := self._some(1 << 30):
            if bytes(piece).strip(b'\0'):
                self._refuse('something behind its end')

    def _exactly(self, size):
        found = []
        while size:
            piece = self._some(size) or self._cut()
            found.append(bytes(piece))
            size -= len(piece)
        return b''.join(found)

    def _skip(self, size):
        while size:
            size -= len(self._some(size) or self._cut())

    def _some(self, size):
        """At most ``size`` of the next bytes, empty at the end."""
        if not self._piece:
            self._piece = memoryview(next(self._pieces, b''))
        piece, self._piece = self._piece[:size], self._piece[size:]
        return piece

    def _cut(self):
        raise damage.Damage('The archive ends within a member',
                            where=self._where, hint='Retrieve it again')

    def _refuse(self, what, cause=None):
        raise damage.Damage(f'The archive holds {what}', where=self._where,
                            hint='It is not what Sonobuoy writes'
                            ) from cause
