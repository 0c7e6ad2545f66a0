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

"""Inflates a gzip file piece by piece, to its very end.

The checksums at the end of a gzip stream are what tells a whole download
from a broken one, so whoever takes every piece has checked them. ISA-L
(extra ``conformance``) inflates about three times as fast as zlib; both give
the same bytes and the same errors here (benchmarks/conformance.py).
"""

import zlib

from magnum_capi_tempest.conformance.record import damage

try:
    # Not isal_zlib: that makes each piece by doubling a small one.
    from isal import igzip_lib as fast
except ImportError:
    fast = None

#: Most bytes that are inflated at once.
INPUT = 128 << 10
#: Most bytes of a piece.
PIECE = 512 << 10
#: gzip streams in one file; Sonobuoy writes one.
_STREAMS = 10_000


class Gzip:
    """The inflated content of a gzip file, as an iterator of pieces.

    Streams that follow each other are one file (RFC 1952); padding with
    zeros behind them is accepted, anything else is not.

    :param blocks: iterable of bytes, :class:`~.blocks.Blocks`.
    :param where: name of the file, for errors.
    :param limits: :class:`~.limits.Limits`.
    :param engine: :mod:`zlib` or ``isal.igzip_lib``, the fastest by default.
    :raises Damage: while iterating: no gzip, corrupt, cut, or a bomb.
    """

    def __init__(self, blocks, where, limits, engine=None):
        self._blocks = iter(blocks)
        self._where = where
        self._limits = limits
        self._engine = engine or fast or zlib
        self._block = memoryview(b'')
        self.compressed = 0
        self.inflated = 0

    def __iter__(self):
        data = self._read()
        if not data:
            raise damage.Damage('The archive is empty', where=self._where)
        streams = 0
        while bytes(data).strip(b'\0'):
            streams += 1
            if streams > _STREAMS:
                raise damage.Damage(
                    f'The archive has more than {_STREAMS} gzip streams',
                    where=self._where)
            data = yield from self._member(data)
            data = data or self._read()
        if data:
            self._padding()

    def _member(self, data):
        """One gzip stream; returns the bytes that were read behind it."""
        inflater = machine(self._engine)
        while True:
            try:
                piece = inflater.decompress(data, PIECE)
            except (zlib.error, self._engine.error) as e:
                what = ('is no gzip file' if not self.inflated
                        else 'is corrupt')
                raise damage.Damage(
                    f'The archive {what}', where=self._where,
                    last_seen=f'{e} within {self.compressed} bytes',
                    hint='Retrieve it again') from e
            if piece:
                self.inflated += len(piece)
                self._guard()
                yield piece
            if inflater.eof:
                return inflater.unused_data
            data = b''
            # Output may wait although all input was taken.
            if inflater.needs_input and len(piece) < PIECE:
                data = self._read()
                if not data:
                    raise damage.Damage(
                        'The archive is cut off', where=self._where,
                        last_seen=f'{self.compressed} bytes, '
                                  f'{self.inflated} inflated',
                        hint='Retrieve it again')

    def _read(self):
        if not self._block:
            self._block = memoryview(next(self._blocks, b''))
        data, self._block = self._block[:INPUT], self._block[INPUT:]
        self.compressed += len(data)
        return data

    def _padding(self):
        while data := self._read():
            if bytes(data).strip(b'\0'):
                raise damage.Damage(
                    'Something follows the end of the archive',
                    where=self._where)

    def _guard(self):
        limits = self._limits
        if self.inflated > limits.total:
            raise damage.Damage(
                f'The archive inflates to more than {limits.total} bytes',
                where=self._where)
        if (self.inflated > limits.ratio_from
                and self.inflated > limits.ratio * self.compressed):
            raise damage.Damage(
                f'The archive inflates to more than {limits.ratio} times '
                'its size: a decompression bomb', where=self._where,
                last_seen=f'{self.inflated} bytes of {self.compressed}')


def machine(engine):
    """What inflates one gzip stream, with the interface of ISA-L's."""
    if engine is zlib:
        return _Zlib()
    return engine.IgzipDecompressor(flag=engine.DECOMP_GZIP)


class _Zlib:
    """The decompressor of zlib, used as that of ISA-L is."""

    def __init__(self):
        self._machine = zlib.decompressobj(wbits=31)

    def decompress(self, data, most):
        return self._machine.decompress(
            data or self._machine.unconsumed_tail, most)

    @property
    def needs_input(self):
        return not self._machine.unconsumed_tail

    @property
    def eof(self):
        return self._machine.eof

    @property
    def unused_data(self):
        return self._machine.unused_data
