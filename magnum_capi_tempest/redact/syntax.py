# SPDX-License-Identifier: Apache-2.0
"""Finds the value that belongs to a name.

JSON, YAML, INI, shells, Python's repr, Go's print, headers, argument lists,
tables and XML have few ways to join the two (:data:`_JOINT`). If the end of a
value is ambiguous, the later one counts.
"""

import collections.abc
import dataclasses
import functools
import re
import typing

from magnum_capi_tempest.redact import absent
from magnum_capi_tempest.redact import names
from magnum_capi_tempest.redact import quoting
from magnum_capi_tempest.redact import values

#: Characters examined before a name, and within a name before its stem.
_REACH, _LONGEST = 200, 64

_T, _E, _F = quoting.TOKEN, quoting.ENDS, quoting.FILL

#: A relevant name contains one of these; most text does not. Matched in
#: lower-case text, which is ten times as fast as a case-insensitive pattern.
_STEM = re.compile(
    'pass|pwd|secret|token|key|cookie|psk|authorization|cloud|docker'
    '|kubeconfig|value')
_LEFT = re.compile(r'[\w.-]*\Z')
_RIGHT = re.compile(r'[\w.-]*+')

#: The text between a name and its value.
_JOINT = re.compile(
    rf'(?P<quote>{_T})?(?:'
    r'\]?[ \t]{0,64}+(?P<assign>:=|=>|==?|:(?!:))(?P<gap>[ \t]{0,64}+)'
    r'|(?P<pair>[ \t]{0,64}+,\s{0,64}+)'
    r'|(?P<cell>[ \t]{0,64}+\|[ \t]{0,64}+)'
    r'|(?P<element>>)'
    rf'|(?P<item>[ \t\r{_F}]{{0,64}}+[{_E}][ \t]{{0,64}}+-[ \t]{{1,16}}+)'
    r'|(?P<argument>[ \t]{1,64}+))')

#: Possible text before a name at the beginning of a line.
_LEAD = re.compile(
    r'(?P<log>.*\] )?(?P<indent>[ \t]*(?:[-?*] +)*)(?:[#;/]{1,3} ?)?'
    rf'(?:export +|declare -x +|set +|ENV +)?{_T}?', re.S)
_OPENED = re.compile(rf'(?P<token>{_T})(?:[A-Za-z][\w-]{{0,63}}[=:] ?)?\Z')
_FLOW = re.compile(r'[{(\[,;]\s*\Z')
_PAIRED = re.compile(r'(?P<by>[(\[,])\s*[bu]?\Z')
_TAG = re.compile(r'<(?:[\w.-]+:)?\Z')
_CELL = re.compile(r'[^|\n]*?(?=[ \t]*\|[ \t]*\r?(?:\n|\Z))')
_CONTENT = re.compile(r'[^<]{1,4096}+(?=</)')
_CLOSED = re.compile(r'\s{0,64}+[)\]]')
_OF_KEY = re.compile(r'\s{0,64}+:')
_SPACE = re.compile(r'\s{0,64}+')
#: A frame in a Python traceback: the next line is source code.
_FRAME = re.compile(r'\s*File \\{0,15}"[^"\n]*", line \d+, in ')
#: A field with the name, "name: DB_PASSWORD" before "value: hunter2".
_CALLED = re.compile(
    rf'(?:name|key|header){_T}?[ \t]*[:=][ \t]*{_T}?(?P<name>[\w.-]+){_T}?'
    rf'[\s,;]*{_T}?\Z', re.I)
_NAMES = re.compile(r'[A-Za-z_-]+')
_WORD_BEFORE = re.compile(r'[A-Za-z]+ \Z')
_SENTENCE = re.compile(r'[a-z,] \Z')
_FIRST = re.compile(r'\S{0,200}')
#: Namespace and name of an object, as logged by controllers.
_OBJECT = re.compile(
    rf'({_T}?)[a-z][a-z0-9-]{{0,62}}/[a-z][a-z0-9.-]{{0,252}}\1'
    r'(?=[\s,}\])]|\Z)')
_SCHEME = re.compile(r'(?:basic|bearer|digest|negotiate|token)[ \t]+', re.I)

#: Returns the kind of a name, depending on the text before it.
_Context: typing.TypeAlias = collections.abc.Callable[[str, int], str | None]


@dataclasses.dataclass(frozen=True)
class _Place:
    """The place of a name.

    :param opened: quote before it, or ''.
    :param before: the end of the text before it and its quote.
    :param column: its column if it is at the beginning of a line, else None.
    :param message: whether the prefix of a log line is before it.
    :param printed: depth of the string that the line is printed in, or None.
    :param source: whether the line is source code in a traceback.
    """

    opened: str
    before: str
    column: int | None
    message: bool
    printed: int | None
    source: bool


def secrets(
        text: str) -> collections.abc.Iterator[tuple[str, int, int]]:
    """Find values whose names say that they are secret.

    :param text: from :func:`.quoting.view`.
    :returns: (kind, start, end), in order.
    """
    done = 0
    for start, end in _names(text):
        role = start >= done and _role(text[start:end])
        if not role:
            continue
        kind = role(text, start) if callable(role) else role
        if not kind or not (joint := _JOINT.match(text, end)):
            continue
        for begin, done in _value(text, text[start:end], start, joint):
            yield kind, begin, done


def _names(text: str) -> collections.abc.Iterator[tuple[int, int]]:
    """Begin and end of names that may be those of secrets."""
    end = 0
    for stem in _STEM.finditer(_lower(text)):
        if stem.start() >= end:
            low = max(end, stem.start() - _LONGEST)
            left = _LEFT.search(text, low, stem.start())
            start = left.start() if left else stem.start()
            end = quoting.end(_RIGHT, text, stem.end())
            yield start, end


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    # A Turkish letter becomes two.
    return re.sub('[A-Z]+', lambda found: found[0].lower(), text)


@functools.lru_cache(1 << 13)
def _role(name: str) -> str | _Context | None:
    """Kind of a name's value, None, or a function that needs the context."""
    by_context: dict[str, _Context] = {'value': _called, 'key': _key}
    return names.kind(name) or by_context.get(name.lower())


def _called(text: str, start: int) -> str | None:
    """Kind of a value whose name is in the field before."""
    called = _CALLED.search(text, max(0, start - _REACH), start)
    return called and names.kind(called['name'])


def _key(text: str, start: int) -> str | None:
    """Kind of a key by the word before it: "private key"."""
    before = _WORD_BEFORE.search(text, max(0, start - 24), start)
    return before and names.kind('key', before.group())


def _value(text: str, name: str, start: int,
           joint: re.Match[str]) -> values.Spans:
    how = joint.lastgroup
    place = _place(text, start)
    at = joint.end()
    if how == 'gap':
        return _assigned(text, name, place, joint)
    if how == 'pair' and joint['quote']:
        return _paired(text, name, place, at)
    if how == 'cell' and not place.before.rpartition('\n')[2].strip(' \t|'):
        return _matched(_CELL, text, at)
    if how == 'element' and _TAG.search(place.before):
        return _matched(_CONTENT, text, at)
    if name[0] == '-' and how in ('item', 'argument'):
        found = values.string(text, at, 0)
        if found:
            return found[0]
        if how == 'item':
            return values.line(text, at, 1 << 30, place.printed)
        return [] if absent.is_sentence(text, at) else values.word(text, at)
    return []


def _place(text: str, start: int) -> _Place:
    low = max(0, start - _REACH)
    opened = _OPENED.search(text, max(low, start - 90), start)
    before = opened.start() if opened else start
    line = max(text.rfind(end, low, start) for end in _E) + 1
    lead = (_LEAD.fullmatch(text, line, start)
            if line or not low else None)
    above = text[max(0, line - 2 * _REACH):max(0, line - 1)]
    return _Place(
        opened['token'] if opened else '', text[low:before],
        len(lead['indent']) if lead else None,
        bool(lead and lead['log']),
        _depth(text, line),
        bool(_FRAME.match(re.split(f'[{_E}]', above)[-1])))


def _depth(text: str, line: int) -> int | None:
    """Depth of the string that a line is printed in; None without one."""
    if text[line - 1:line] != quoting.PRINTED:
        return None
    end = line - 2
    return end - len(text[max(0, end - 16):end].rstrip('\\')) - max(
        0, end - 16)


def _assigned(text: str, name: str, place: _Place,
              joint: re.Match[str]) -> values.Spans:
    at, column = joint.end(), place.column
    if _is_no_secret(text, name, joint):
        return []
    if joint['quote']:
        at = quoting.end(_SPACE, text, at)
    elif place.opened:
        end, closed = values.closing(text, place.opened, at, 0)
        if closed and _OF_KEY.match(text, end + len(place.opened)):
            # A name that contains a colon: a policy rule.
            return []
        return _without_scheme(text, at, end, name)
    elif column is None:
        # Strings may have several lines in YAML, but not in JSON.
        column = 0
    found = (values.string(text, at, column, cut=place.column is not None)
             or values.strings(text, at))
    spans = found[0] if found else _unquoted(text, place, joint, at)
    return [span for start, end in spans
            for span in _without_scheme(text, start, end, name)]


def _unquoted(text: str, place: _Place, joint: re.Match[str],
              at: int) -> values.Spans:
    if place.source or (place.column is None or place.message) and (
            absent.absent(text[at:quoting.end(_FIRST, text, at)])):
        return []
    if place.column is not None and (
            not joint['quote'] or text[at:at + 1] in ('|', '>', '!', '&')):
        return values.line(text, at, place.column, place.printed)
    if _FLOW.search(place.before):
        return (values.flow if joint['gap'] else values.phrase)(text, at)
    if joint['assign'] == '=' and not joint['gap']:
        return values.word(text, at)
    spans = values.phrase(text, at)
    if joint['gap'] and _SENTENCE.search(place.before) and any(
            absent.is_prose(text, *s) for s in spans):
        return []
    return spans


def _is_no_secret(text: str, name: str, joint: re.Match[str]) -> bool:
    at, lower = joint.end(), name.lower()
    if joint['gap'] and absent.is_error(text, at):
        return True
    if lower == 'pass':
        # Results of tests: "PASS: x", "pass: 7".
        return joint['assign'] == ':' and (
            name == 'PASS' or text[at:at + 1].isdigit())
    return (lower.endswith('pwd') and text[at:at + 1] == '/'
            or lower == 'secret' and bool(_OBJECT.match(text, at)))


def _without_scheme(text: str, start: int, end: int, name: str
                    ) -> values.Spans:
    """Spans without the scheme of an authorization, which stays."""
    scheme = (name.lower().endswith('authorization')
              and _SCHEME.match(text, start, end))
    return values.checked(text, scheme.end() if scheme else start, end)


def _paired(text: str, name: str, place: _Place, at: int) -> values.Spans:
    """The second of two strings in a tuple, in headers or arguments."""
    found = values.string(text, at)
    if not found or not found[0] or text[found[0][0][0]] == '-':
        return []
    if name[0] == '-':
        return found[0]
    paired = _PAIRED.search(place.before)
    second = text[slice(*found[0][0])]
    if not paired or _NAMES.fullmatch(second) and names.kind(second):
        return []
    if '-' in name or names.kind(name) == names.COOKIE or (
            name.lower() == 'authorization'):
        # The name of a header, possibly in a flat list.
        return found[0]
    if paired['by'] == '(' or paired['by'] == '[' and len(
            names.split(name)) > 1:
        return found[0] if _CLOSED.match(text, found[1]) else []
    return []


def _matched(pattern: re.Pattern[str], text: str, at: int) -> values.Spans:
    found = pattern.match(text, at)
    return values.checked(text, *found.span()) if found else []
