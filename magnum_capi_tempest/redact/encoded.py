# SPDX-License-Identifier: Apache-2.0
"""Secrets in base64, with or without gzip, within each other.

Data of Kubernetes' Secrets, releases of Helm (gzip in base64 in base64), user
data of machines, and any other base64 is decoded and examined like other text.
If that finds a secret, or if it is a document that always contains one, all of
the encoded text is removed.
"""

import binascii
import collections.abc
import re
import zlib

from magnum_capi_tempest.redact import names
from magnum_capi_tempest.redact import quoting

_E, _F = quoting.ENDS, quoting.FILL
_ALPHABET = 'A-Za-z0-9+/_-'
_STANDARD = bytes.maketrans(b'-_', b'+/')

#: Base64 of at least 12 ASCII characters: the highest bit of each byte is 0,
#: which leaves few characters in three of four places.
_ASCII = re.compile(
    rf'(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589]'
    rf'[{_ALPHABET}]){{4,}}')
_GZIP = 'H4sI'

#: A line, and the lines below if the text was wrapped: the last one may be
#: shorter if nothing else is on its line.
_BELOW = rf'(?:[ \t\r{_F}]{{0,64}}+[{_E}]){{1,4}}[ \t]{{0,64}}+[A-Za-z0-9+/]'
_RUN = re.compile(
    rf'(?<![{_ALPHABET}])[{_ALPHABET}]{{16,}}+={{0,2}}'
    rf'(?:(?<=[{_ALPHABET}]{{40}})(?:{_BELOW}{{40,}}+={{0,2}}'
    rf'(?=[\s"\'\\]|\Z))*(?:{_BELOW}{{1,76}}+={{0,2}}(?=\s|\Z))?)?')
_BLANKS = re.compile(r'\s+')

#: Documents with secrets, by their beginning: kubeconfigs in the format of
#: Cluster API, OpenStack's clouds, Docker's registries, user data.
_DOCUMENTS = (
    (names.KUBECONFIG, re.compile(
        r'\s*(?:---\s+)?(?:apiVersion: |clusters:)')),
    (names.OPENSTACK, re.compile(r'\s*(?:---\s+)?(?:clouds:|\[Global\])')),
    (names.REGISTRY, re.compile(r'\s*\{\s*"auths"')),
    (names.SECRET, re.compile(
        r'\s*(?:#cloud-config|## template: jinja|\{\s*"ignition"'
        r'|Content-Type: multipart/mixed)')),
)

#: How deep encoded text is searched for within encoded text.
DEPTH = 3
#: Limits of unpacked text: bytes per packed byte, and a minimum in bytes.
_RATIO, _LEAST = 40, 1 << 16

#: Kinds of the secrets of a text at a depth, the first one first.
Examine = collections.abc.Callable[
    [str, int], collections.abc.Iterable[str]]


def secrets(text: str, examine: Examine, depth: int
            ) -> collections.abc.Iterator[tuple[str, int, int]]:
    """Find encoded text that holds secrets.

    :param text: from :func:`.quoting.view`.
    :param depth: how many times the text itself was encoded.
    :returns: (kind, start, end) each.
    """
    if depth >= DEPTH:
        return
    for run in _RUN.finditer(text):
        kind = _kind(run.group(), examine, depth)
        if kind:
            yield kind, *run.span()


def _kind(run: str, examine: Examine, depth: int) -> str | None:
    if not _ASCII.search(run) and _GZIP not in run:
        return None
    run = _BLANKS.sub('', run).rstrip('=')
    start = run.find(_GZIP)
    if start >= 0:
        found = _unpacked(_decoded(run[start:]))
        if found is not None:
            text, whole = found
            # Text that was packed and encoded twice is a Helm release.
            return names.SECRET if depth or not whole else next(
                iter(_kinds(text, examine, depth)), None)
    for start in _starts(run):
        text = _decoded(run[start:]).decode('utf-8', 'replace')
        for kind in _kinds(text, examine, depth):
            return kind
    return None


def _kinds(text: str, examine: Examine, depth: int
           ) -> collections.abc.Iterator[str]:
    for kind, pattern in _DOCUMENTS:
        if pattern.match(text):
            yield kind
    yield from examine(text, depth + 1)


def _starts(run: str) -> list[int]:
    """Where readable text begins, once for each alignment of the run."""
    seen: dict[int, int] = {}
    for found in _ASCII.finditer(run):
        seen.setdefault(found.start() % 4, found.start())
    return sorted(seen.values())


def _decoded(run: str) -> bytes:
    # A single character after a multiple of four does not make a byte.
    size = len(run) - (len(run) % 4 == 1)
    return binascii.a2b_base64(
        run[:size].encode().translate(_STANDARD) + b'==')


def _unpacked(data: bytes) -> tuple[str, bool] | None:
    """Unpacked text, and whether it is complete; None if it is not packed.

    It may be cut off, or a decompression bomb.
    """
    most = max(_LEAST, _RATIO * len(data))
    unpack, text = zlib.decompressobj(wbits=31), b''
    try:
        text = unpack.decompress(data, most)
    except zlib.error:
        return None
    return text.decode('utf-8', 'replace'), not unpack.unconsumed_tail
