# SPDX-License-Identifier: Apache-2.0
"""Finds the end of values: strings, lists of them, lines, phrases and words.

Each function takes a text from :func:`.quoting.view` and the place where a
value may begin, and returns spans, (start, end) each, of secrets: without
quotes, and none for values that :mod:`.absent` recognizes.
"""

import re
import typing

from magnum_capi_tempest.redact import absent
from magnum_capi_tempest.redact import quoting

#: Where values begin and end.
Spans: typing.TypeAlias = list[tuple[int, int]]

_T, _E, _F = quoting.TOKEN, quoting.ENDS, quoting.FILL

#: End of a value after its last character: punctuation only before a blank or
#: the end of the text.
_STOP = r'''(?:[;}\])"'\\]{0,16}+(?:[\s,]|:\s|\Z))'''

#: A string, possibly with Python's prefix, or the argument of a function.
_STRING = re.compile(
    rf'(?P<prefix>[bBfFrRuU]{{1,2}}|[A-Za-z_][\w.]{{0,63}}\([bu]?)?'
    rf'(?P<token>{_T})')
_PREFIXED = re.compile(rf'\)?{_STOP}')

#: Begin of something with names of its own instead of a single value: an
#: object, a Go map or struct, a list of them.
_STRUCT = re.compile(
    r'''(?:(?:&?(?:[\w/*]{0,64}\.)?[A-Z]\w{0,64})?\{[A-Z]\w{0,63}:'''
    rf'''|\{{\s{{0,64}}+(?:[bu]?{_T}[^"'\\\n]{{0,200}}+{_T}\s?:'''
    r'''|[\w.-]{1,64}\s?:\s)|map\[|\(\*[\w./]{1,64}\)\('''
    r'''|[\[(]\s{0,64}+[\[({]{1,8}+(?:\s{0,64}+[bu]?\\{0,15}["']'''
    r'''|(?<=\{)[A-Z]\w{0,63}:))''')
_EMPTY = re.compile(rf'(?:\{{\}}|\[\]|\(\)){_STOP}')
_CLOSE = {opening: re.compile(rf'\{closing}(?!\w)')
          for opening, closing in ('{}', '[]', '()')}
_LIST = re.compile(r'[\[(]\s{0,64}+')
#: Characters within which a struct must close.
_REACH = 4000
#: Limit of the lines of a string.
_LINES = 50
_NEXT = re.compile(r'\s{0,64}+,\s{0,64}+')

#: A character of an unquoted value; not a comma before a field of a struct.
_CHARACTER = (
    r'''[^\s,;}\])"'\\]'''
    rf'''|(?!{_STOP})[;}}\])"']|,(?!{_STOP}|[A-Z]\w{{0,63}}:)'''
    rf'''|\\(?!\\{{0,15}}["']{_STOP})''')
_WORD = re.compile(rf'(?:{_CHARACTER})+')
_GLUED_WORD = re.compile(rf'(?=\w)(?:{_CHARACTER})+')
_BLANKS = r'''[ \t]{1,64}+(?=[^\s|,;}\])"'\\-])'''
_PHRASE = re.compile(
    rf'(?:{_CHARACTER}|{_BLANKS}(?![A-Za-z_][\w.-]{{0,63}}[:=]))+')
_FLOW = re.compile(
    rf'(?:{_CHARACTER}|["\']?[ \t]{{1,64}}+(?=[^\s,]))+')

_LINE = re.compile(r'[^\n]*+')
#: Possible ends of a line in a printed text, and the text after them.
_ENDS = re.compile(rf'''\n|(?P<marks>\\*)(?:{_F}{quoting.PRINTED}|["'])''')
_BEHIND = re.compile(
    r'''[}\])"'\\]{0,16}+(?:,[\s"'\\]|:\s|\s{0,16}+(?:[}\])]|\Z)|\n)''')
_INDENTED = re.compile(
    rf'[{_E}](?P<indent>[ \t]*+)(?P<empty>(?=[\r{_F}]*[{_E}]))?')
_SPACE = re.compile(r'\s*+')
_GLUED = re.compile(r'''["']''')
#: A line that is not part of the value above it.
_OWN = re.compile(
    r'''["']?[\w./-]{1,128}["']?:(?:\s|\Z)|- |at |File "''')


def checked(text: str, start: int, end: int) -> Spans:
    """The span of a value without surrounding blanks; none when absent."""
    value = text[start:end]
    start += len(value) - len(value.lstrip())
    value = value.strip()
    if not value or absent.absent(value):
        return []
    return [(start, start + len(value))]


def string(text: str, start: int, column: int | None = None,
           cut: bool = False) -> tuple[Spans, int] | None:
    """A string.

    :param column: lines that are indented deeper may belong to the string;
        None: they do not.
    :param cut: whether all of those lines belong to it if nothing closes it.
    :returns: (spans, end), or None when no string begins here.
    """
    opened = _STRING.match(text, start)
    if not opened:
        return None
    token, begin = opened['token'], opened.end()
    end, closed = closing(text, token, begin, column, cut)
    end += len(token) * closed
    if opened['prefix'] and not (closed and _PREFIXED.match(text, end)):
        return None
    while closed and (more := _GLUED.match(text, end)):
        # Shells concatenate strings: 'it'"'"'s'.
        end, closed = quoting.closing(text, more.group(), more.end())
        end += closed
    if closed and (more := _GLUED_WORD.match(text, end)):
        end, closed = more.end(), False
    inner = end - len(token) * closed
    return checked(text, begin, inner), end


def closing(text: str, token: str, start: int, column: int | None = None,
            cut: bool = False) -> tuple[int, bool]:
    """Find the end of a string that may have several lines.

    See :func:`.quoting.closing` and :func:`string`.
    """
    end, closed = quoting.closing(text, token, start)
    last = end
    if column is not None:
        for _ in range(_LINES):
            line = not closed and _deeper(text, last, column)
            if not line:
                break
            last, closed = quoting.closing(text, token, line.start() + 1)
    return (last if closed or cut else end), closed


def strings(text: str, start: int) -> tuple[Spans, int] | None:
    """A list of strings; see :func:`string`."""
    opened = _LIST.match(text, start)
    item = string(text, opened.end()) if opened else None
    if not item:
        return None
    found: Spans = []
    while item:
        found += item[0]
        end = item[1]
        following = _NEXT.match(text, end)
        item = string(text, following.end()) if following else None
    return found, end


def word(text: str, start: int) -> Spans:
    """Everything up to a blank."""
    return _bare(text, start, _WORD)


def phrase(text: str, start: int) -> Spans:
    """Everything up to the next name, or the end of a list or object."""
    return _bare(text, start, _PHRASE)


def flow(text: str, start: int) -> Spans:
    """Everything up to a comma, or the end of a list or object."""
    return _bare(text, start, _FLOW)


def _bare(text: str, start: int, pattern: re.Pattern[str]) -> Spans:
    found = not _is_struct(text, start) and pattern.match(text, start)
    if not found or _EMPTY.match(text, start):
        return []
    return checked(text, start, found.end())


def line(text: str, start: int, column: int,
         printed: int | None = None) -> Spans:
    """The rest of a line, and the lines below that belong to it.

    :param column: of the name.
    :param printed: depth of the string that the line is printed in; None
        when it is a line of the text itself.
    """
    begin = quoting.end(_SPACE, text, start)
    if _is_struct(text, begin):
        return []
    end = _end(text, start, printed)
    first = text[start:end].strip()
    if not first and _OWN.match(text, begin):
        return []
    all_of_it = not first or first[0] in '|>!&'
    last = end
    while below := _deeper(text, end, column):
        begin = below.end()
        end = _end(text, begin, printed)
        if text[begin:end].strip():
            if not all_of_it and _OWN.match(text, begin):
                break
            last = end
    return checked(text, start, last)


def _is_struct(text: str, start: int) -> bool:
    """Whether a struct, which also closes, begins here."""
    found = _STRUCT.match(text, start)
    if not found:
        return False
    close = _CLOSE[next(c for c in found.group() if c in _CLOSE)]
    return bool(close.search(text, found.start(), found.end() + _REACH))


def _deeper(text: str, end: int, column: int) -> re.Match[str] | None:
    """Match the end of a line and the indentation of the next one.

    None when the next line is not indented deeper than a column, unless it is
    empty.
    """
    below = _INDENTED.match(text, end)
    if below and (len(below['indent']) > column or below['empty'] is not None):
        return below
    return None


def _end(text: str, start: int, printed: int | None) -> int:
    if printed is None:
        return quoting.end(_LINE, text, start)
    for found in _ENDS.finditer(text, start):
        if found['marks'] is None:
            return found.start()
        if len(found['marks']) <= printed and (
                found.group()[-1] == quoting.PRINTED
                or _BEHIND.match(text, found.end())):
            return found.end() - 1
    return len(text)
