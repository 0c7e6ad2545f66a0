# SPDX-License-Identifier: Apache-2.0
"""Searches for secrets in everything that a run leaves, in every form.

It works with the values of secrets, independently of how they are removed.
"""

import base64
import binascii
import collections
import html
import io
import json
import pathlib
import re
import tarfile
import urllib.parse
import zipfile
import zlib

from subunit import v2
import testtools

#: Maximum depth of nested contents.
_DEPTH = 4
_BASE64 = re.compile(rb'[A-Za-z0-9+/_-]{24,}')


class Scan:
    """Searches for secrets.

    :param secrets: dict of descriptions and values, str or bytes; if a value
        has several lines, like a key, the longest one is searched.
    """

    def __init__(self, secrets):
        self._forms = {}
        for name, value in secrets.items():
            value = value.encode() if isinstance(value, str) else value
            line = max(value.splitlines(), key=len, default=b'').strip()
            if len(line) >= 8:
                for form in _forms(line):
                    self._forms.setdefault(form, name)
        self._any = re.compile(b'|'.join(
            map(re.escape, sorted(self._forms, key=len, reverse=True))))

    def __len__(self):
        return len(set(self._forms.values()))

    def data(self, data, depth=0) -> list[str]:
        """The secrets in some bytes."""
        found = {self._forms[f] for f in self._any.findall(data)
                 } if self._forms else set()
        if depth < _DEPTH:
            for inner in _inside(data):
                found.update(self.data(inner, depth + 1))
        return sorted(found)

    def files(self, *folders) -> dict[str, list[str]]:
        """The secrets in each file below some folders."""
        found = {}
        for folder in map(pathlib.Path, folders):
            for path in sorted(folder.rglob('*')):
                if path.is_file() and not path.is_symlink():
                    secrets = self.data(path.read_bytes())
                    if secrets:
                        found[str(path.relative_to(folder))] = secrets
        return found


def _forms(value):
    """A value as programs print it."""
    text = value.decode()
    escaped = json.dumps(text)[1:-1]
    forms = {text, escaped, json.dumps(escaped)[1:-1], repr(text)[1:-1],
             repr(value)[2:-1], repr(escaped)[1:-1], html.escape(text),
             html.escape(escaped), urllib.parse.quote(text, ''),
             urllib.parse.quote_plus(text)}
    yield from (form.encode() for form in forms)
    for before in range(3):
        coded = base64.b64encode(bytes(before) + value).rstrip(b'=')
        core = coded[-(-before * 8 // 6):(before + len(value)) * 8 // 6]
        yield core
        yield core.translate(bytes.maketrans(b'+/', b'-_'))


def _inside(data):
    """Contents of bytes: attachments, members of archives, encoded text."""
    yield from _attachments(data)
    if data[:2] == b'\x1f\x8b':
        unpack = zlib.decompressobj(wbits=31)
        yield unpack.decompress(data, 1 << 28)
    if data[:4] == b'PK\x03\x04':
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield archive.read(name)
    if data[257:262] == b'ustar':
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if member.isfile():
                    yield archive.extractfile(member).read()
    for run in set(_BASE64.findall(data)):
        run = run.translate(bytes.maketrans(b'-_', b'+/'))
        for start in range(4):
            text = run[start:]
            text = text[:len(text) // 4 * 4]
            try:
                decoded = binascii.a2b_base64(text)
            except binascii.Error:
                continue
            if decoded[:2] == b'\x1f\x8b' or decoded.isascii():
                yield decoded


def _attachments(data):
    """Whole attachments of a subunit stream: packets cut them anywhere."""
    if data[:1] != b'\xb3':
        return
    found = collections.defaultdict(bytes)

    class Join(testtools.StreamResult):

        def status(self, test_id=None, file_name=None, file_bytes=None, **_):
            if file_bytes:
                found[test_id, file_name] += bytes(file_bytes)

    v2.ByteStreamToStreamResult(io.BytesIO(data), 'noise').run(Join())
    yield from found.values()
