# SPDX-License-Identifier: Apache-2.0
"""Removes secrets from subunit streams of version 2.

A secret may be split between two chunks of an attachment, so attachments are
held back until they are complete. Anything other than text cannot be searched
and is replaced by its size.
"""

import collections
import collections.abc
import datetime
import typing

from subunit import v2
import testtools

from magnum_capi_tempest import json_types
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

#: Route code, id of the test, name.
_Attachment: typing.TypeAlias = tuple[str | None, str | None, str]

#: Bytes per packet. The limit is 4 MiB, and a longer packet ends the worker
#: with all of its tests (python-subunit 1.4, subunit/v2.py, _write_packet).
PIECE = 1 << 20

#: With any other status a test has ended.
_GOES_ON = (None, 'exists', 'inprogress')

_TEXT = 'text/plain;charset=utf8'


class Redacting(testtools.StreamResult):
    """Passes a stream on without secrets.

    :param target: StreamResult that gets it.
    :param known: secrets that may be in it, in any context.
    """

    def __init__(self, target: typing.Any, known: redact.Known | None = None
                 ) -> None:
        super().__init__()
        self._target = target
        self._known = known
        #: Chunks, and the other values of the first event, by attachment.
        self._waiting: dict[_Attachment, tuple[
            list[bytes], json_types.Object]] = collections.defaultdict(
                lambda: ([], {}))

    def startTestRun(self) -> None:
        self._target.startTestRun()

    def stopTestRun(self) -> None:
        self._flush(lambda key: True)
        self._target.stopTestRun()

    def status(self, test_id: str | None = None,
               test_status: str | None = None,
               test_tags: collections.abc.Set[str] | None = None,
               runnable: bool = True, file_name: str | None = None,
               file_bytes: memoryview | bytes | None = None, eof: bool = False,
               mime_type: str | None = None, route_code: str | None = None,
               timestamp: datetime.datetime | None = None) -> None:
        if file_name is not None:
            chunks, event = self._waiting[route_code, test_id, file_name]
            event.setdefault('timestamp', timestamp)
            event.setdefault('mime_type', mime_type)
            chunks.append(bytes(file_bytes or b''))
            if eof:
                self._flush(lambda key: key == (
                    route_code, test_id, file_name))
        if test_status not in _GOES_ON:
            self._flush(lambda key: key[:2] == (route_code, test_id))
        if file_name is None or test_status or test_tags:
            self._target.status(
                test_id=test_id, test_status=test_status,
                test_tags=test_tags, runnable=runnable,
                route_code=route_code, timestamp=timestamp)

    def _flush(self, wanted: collections.abc.Callable[[_Attachment], bool]
               ) -> None:
        for key in [key for key in self._waiting if wanted(key)]:
            self._pass_on(*key, *self._waiting.pop(key))

    def _pass_on(self, route_code: str | None, test_id: str | None,
                 file_name: str, chunks: collections.abc.Sequence[bytes],
                 event: json_types.Object) -> None:
        data, event['mime_type'] = without_secrets(
            b''.join(chunks), event['mime_type'], self._known)
        for start in range(0, len(data) or 1, PIECE):
            self._target.status(
                test_id=test_id, file_name=file_name, route_code=route_code,
                file_bytes=data[start:start + PIECE],
                eof=start + PIECE >= len(data), **event)


def without_secrets(data: bytes, mime_type: str | None = None,
                    known: redact.Known | None = None
                    ) -> tuple[bytes, str | None]:
    """An attachment without secrets, and its type.

    :param mime_type: None for text.
    """
    kind = mime_type or _TEXT
    try:
        text = data.decode()
    except UnicodeDecodeError:
        if not kind.startswith('text/'):
            return f'[{len(data)} bytes of {kind}]'.encode(), _TEXT
        text = data.decode('utf-8', 'surrogateescape')
    if '\x1b' in text:
        # There may be colour codes between a name and its value.
        text = texts.clean(text)
    found = ''.join(redact.redact(block, known) for block in redact.blocks(
        text.splitlines(keepends=True)))
    return found.encode('utf-8', 'surrogateescape'), mime_type


def copy(source: typing.BinaryIO, target: typing.BinaryIO,
         known: redact.Known | None = None) -> None:
    """Copy a stream, without secrets.

    :param source: binary file with the stream.
    :param target: binary file.
    :param known: secrets that may be in it, in any context.
    """
    result = Redacting(v2.StreamResultToBytes(target), known)
    result.startTestRun()
    try:
        v2.ByteStreamToStreamResult(source, 'noise').run(result)
    finally:
        result.stopTestRun()
