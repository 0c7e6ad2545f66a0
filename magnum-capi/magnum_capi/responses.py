# SPDX-License-Identifier: Apache-2.0

"""Reads the body of a response with a time limit for the whole body.

The read timeouts of urllib3 and requests apply between two bytes, so a server
that sends one byte a second never times out.
"""

import collections.abc
import http.client
import time
import typing

import urllib3
from urllib3 import exceptions

#: Bytes per read.
_CHUNK = 65536


def read(response: urllib3.HTTPResponse, end: float,
         clock: typing.Any = time) -> bytes:
    """The body of a response that was not preloaded, as it is sent.

    The connection returns to the pool, or is closed if the body is not read
    to its end. Nothing is decoded: request the encoding ``identity``.

    :param end: monotonic time in seconds.
    :raises TimeoutError: the body takes longer.
    :raises urllib3.exceptions.HTTPError: the connection failed.
    """
    content = bytearray()
    try:
        for chunk in _chunks(response):
            content += chunk
            if clock.monotonic() > end:
                raise TimeoutError('the response takes too long')
    except BaseException:
        # The pool counts a connection as in use until it is released.
        response.close()
        raise
    finally:
        response.release_conn()
    return bytes(content)


def lines(response: urllib3.HTTPResponse) -> collections.abc.Iterator[bytes]:
    """The lines of a body as they arrive; the last one only if complete.

    :raises urllib3.exceptions.HTTPError: the connection failed.
    """
    rest = b''
    for chunk in _chunks(response):
        *whole, rest = (rest + chunk).split(b'\n')
        yield from whole


def _chunks(response: urllib3.HTTPResponse) -> collections.abc.Iterator[bytes]:
    """The chunks of a body as they arrive.

    urllib3 1.26, which Magnum 20 and 21 are pinned to, has no read1(), and
    its read() waits for all bytes requested; the response of http.client that
    it wraps has read1().
    """
    below: typing.Any = response._fp
    take = getattr(response, 'read1', None) or below.read1
    try:
        while chunk := take(_CHUNK):
            yield chunk
        # After the last byte, read1() of http.client leaves the response open,
        # and the next request of the connection would fail.
        below.close()
    except http.client.HTTPException as e:
        raise exceptions.ProtocolError(str(e), e) from e
