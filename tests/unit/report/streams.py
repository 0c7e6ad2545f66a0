# SPDX-License-Identifier: Apache-2.0

"""Subunit streams made to order."""

import datetime
import io

from subunit import v2

START = datetime.datetime(2026, 3, 1, 12, 0, 0, tzinfo=datetime.timezone.utc)


def at(seconds):
    return START + datetime.timedelta(seconds=seconds)


class Stream:
    """Writes a stream; ``data`` has its bytes."""

    def __init__(self):
        self._buffer = io.BytesIO()
        self._out = v2.StreamResultToBytes(self._buffer)
        self._now = 0

    @property
    def data(self):
        return self._buffer.getvalue()

    def test(self, test_id, status='success', *, seconds=1.0, tags=(),
             **details):
        """Add a test; a detail is text or (MIME type, bytes)."""
        self._out.status(test_id, 'inprogress', timestamp=at(self._now))
        self._now += seconds
        for name, detail in details.items():
            kind, content = 'text/plain;charset=utf8', detail
            if isinstance(detail, tuple):
                kind, content = detail
            else:
                content = detail.encode()
            self._out.status(test_id, file_name=name, file_bytes=content,
                             mime_type=kind, eof=True)
        if status != 'inprogress':
            self._out.status(test_id, status, test_tags=set(tags),
                             timestamp=at(self._now))
        return self

    def listed(self, test_id):
        """Add a test that is known but was not run."""
        self._out.status(test_id, 'exists')
        return self

    def noise(self, data):
        """Add what a program printed in between."""
        self._buffer.write(data)
        return self

    def write(self, folder, name='run.subunit'):
        path = folder / name
        path.write_bytes(self.data)
        return path
