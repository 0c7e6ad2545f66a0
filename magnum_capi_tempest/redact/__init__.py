# SPDX-License-Identifier: Apache-2.0
"""Removes secrets from text before it is published, and counts them.

Logs and test results of OpenStack's CI are public. Everything that this
project attaches to a failure or publishes passes through here. Certificates
and certificate requests are public and stay: they help to find a wrong CA.
A secret of several lines is replaced by as many lines, so that line numbers
do not change.

A secret is found by its form (:mod:`.patterns`), by the name of the value
(:mod:`.names`, :mod:`.syntax`), in encoded text (:mod:`.encoded`), or because
it is known (:class:`Known`).

The running time is linear in the length of any text: every repetition in the
patterns is possessive or bounded, and a pattern that starts with a repetition
looks back first, so that a run of characters is not read again from each of
its positions.
"""

import collections
import collections.abc
import dataclasses
import functools
import re
import types
import typing

from magnum_capi_tempest.redact import absent
from magnum_capi_tempest.redact import encoded
from magnum_capi_tempest.redact import known as known_values
from magnum_capi_tempest.redact import names
from magnum_capi_tempest.redact import patterns
from magnum_capi_tempest.redact import quoting
from magnum_capi_tempest.redact import syntax

#: Kind, start and end of a secret.
_Span: typing.TypeAlias = tuple[str, int, int]

MARK = absent.MARK
Known = known_values.Known

BEARER = names.BEARER
BOOTSTRAP = names.BOOTSTRAP
COOKIE = names.COOKIE
KUBECONFIG = names.KUBECONFIG
OPENSTACK = names.OPENSTACK
PASSWORD = names.PASSWORD
PRIVATE_KEY = names.PRIVATE_KEY
REGISTRY = names.REGISTRY
SECRET = names.SECRET
URL = names.URL
#: Every kind of secret that is distinguished.
KINDS = (BEARER, BOOTSTRAP, COOKIE, KUBECONFIG, OPENSTACK, PASSWORD,
         PRIVATE_KEY, REGISTRY, SECRET, URL)

#: A line of a wrapped secret: the next line may belong to it.
_WRAPPED_LINE = re.compile(r'[ \t]*[A-Za-z0-9+/]{40,}+={0,2}\s*')


@dataclasses.dataclass(frozen=True)
class Redacted:
    """Text without secrets.

    :param counts: number of removed secrets by kind; only kinds that occur.
    """

    text: str
    counts: typing.Mapping[str, int] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))


def redact(text: str, known: Known | None = None) -> str:
    """Return text without private keys, tokens and passwords.

    :param text: of any form: log, JSON, YAML, INI, traceback.
    :param known: secrets that may be in it, whatever stands around them.
    """
    return examine(text, known).text


def examine(text: str, known: Known | None = None) -> Redacted:
    """Return text without secrets, and their number by kind.

    This is idempotent: a second run finds nothing.

    :param text: of any form: log, JSON, YAML, INI, traceback.
    :param known: secrets that may be in it, whatever stands around them.
    """
    text, found = _without(text, known)
    return Redacted(text, types.MappingProxyType(
        dict(collections.Counter(kind for kind, _ in found))))


def secrets(text: str) -> list[str]:
    """The secrets in a text, such as a settings file, for :class:`Known`."""
    return [secret for _, secret in _without(text)[1]]


def _without(text: str, known: Known | None = None,
             depth: int = 0) -> tuple[str, list[tuple[str, str]]]:
    """The text without secrets, and (kind, secret) of each."""
    found: list[tuple[str, str]] = []
    for find in finders(known, depth):
        spans = find(text)
        if spans:
            found += [(kind, text[start:end]) for kind, start, end in spans]
            text = _cut(text, spans)
    return text, found


def finders(
        known: Known | None = None, depth: int = 0
) -> collections.abc.Iterator[collections.abc.Callable[[str], list[_Span]]]:
    """Functions that find secrets in a text, in order."""
    if known:
        yield known.find
    for kind, pattern in patterns.RULES:
        # Bound now: a lambda would take those of the last round.
        yield functools.partial(_matching, kind, pattern)
    yield lambda text: list(encoded.secrets(
        quoting.view(text), _kinds, depth))
    yield lambda text: list(syntax.secrets(quoting.view(text)))


def _matching(kind: str, pattern: re.Pattern[str], text: str
              ) -> list[_Span]:
    return [(kind, _start(found), found.end())
            for found in pattern.finditer(text)]


def _start(found: re.Match[str]) -> int:
    groups = found.re.groupindex
    if 'keep' in groups:
        return found.end('keep')
    return found.start('start' if 'start' in groups else 0)


def _kinds(text: str, depth: int) -> list[str]:
    return [kind for kind, _ in _without(text, None, depth)[1]]


def _cut(text: str, spans: list[_Span]) -> str:
    """Replace each span by the mark, and keep line ends."""
    parts: list[str] = []
    last = 0
    for _, start, end in spans:
        parts += text[last:start], MARK, '\n' * text.count('\n', start, end)
        last = end
    return ''.join((*parts, text[last:]))


def blocks(lines: collections.abc.Iterable[str],
           size: int = 1 << 20) -> collections.abc.Iterator[str]:
    """Cut a long text into pieces that can be examined one by one.

    No cut is inside a private key, a YAML block or wrapped base64, as long as
    those are shorter than four times ``size``.

    :param lines: each with its line end.
    :param size: approximate characters of a piece.
    """
    block: list[str] = []
    length, in_key, before = 0, False, ''
    for line in lines:
        if length >= size and (length >= 4 * size or not (
                in_key or line[:1] in ' \t\r\n-'
                or _WRAPPED_LINE.fullmatch(before))):
            yield ''.join(block)
            block, length = [], 0
        block.append(line)
        length += len(line)
        if 'PRIVATE KEY' in line:
            in_key = line.rfind('-----BEGIN ') > line.rfind('-----END ')
        before = line
    if block:
        yield ''.join(block)


def places(
        lines: collections.abc.Iterable[str]
) -> collections.abc.Iterator[tuple[int, tuple[str, ...]]]:
    """Places of secrets: numbers of lines, from 1, and kinds of secrets.

    :param lines: as for :func:`blocks`.
    :returns: for a secret of several lines, the first one.
    """
    first = 1
    for block in blocks(lines):
        found = examine(block)
        if found.counts:
            pairs = zip(block.split('\n'), found.text.split('\n'))
            for number, (old, new) in enumerate(pairs, first):
                if old != new and MARK in new:
                    yield number, tuple(examine(old).counts) or tuple(
                        found.counts)
        first += block.count('\n')
