# SPDX-License-Identifier: Apache-2.0
"""Where values end: strings, lists of them, lines, phrases and words.

Each function takes a text as :func:`.quoting.view` gives it and the place
where a value may begin, and returns spans, (start, end) each, of what is
secret: without quotes, and none for what :mod:`.absent` knows.
"""

import re
import typing

from magnum_capi.redact import absent
from magnum_capi.redact import quoting

#: Where values begin and end.
Spans: typing.TypeAlias = list[tuple[int, int]]

_T, _E, _F = quoting.TOKEN, quoting.ENDS, quoting.FILL

#: What ends a value behind its last character: punctuation only before a blank
#: or nothing.
_STOP = r'''(?:[;}\])"'\\]{0,16}+(?:[\s,]|:\s|\Z))'''

#: A string, of Python with its prefix, or as the argument of one function.
_STRING = re.compile(
    rf'(?P<prefix>[bBfFrRuU]{{1,2}}|[A-Za-z_][\w.]{{0,63}}\([bu]?)?'
    rf'(?P<token>{_T})')
_PREFIXED = re.compile(rf'\)?{_STOP}')

#: Begins what is no single value, and has names of its own: an object, a map
#: or struct of Go, a list of them.
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
#: Characters in which a struct closes something.
_REACH = 4000
#: Lines of a string, at most.
_LINES = 50
_NEXT = re.compile(r'\s{0,64}+,\s{0,64}+')

#: A character of a value that has no quotes; a comma is none before a field
#: of a struct.
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
#: What may end a line of a printed text, and what stands behind its end.
_ENDS = re.compile(rf'''\n|(?P<marks>\\*)(?:{_F}{quoting.PRINTED}|["'])''')
_BEHIND = re.compile(
    r'''[}\])"'\\]{0,16}+(?:,[\s"'\\]|:\s|\s{0,16}+(?:[}\])]|\Z)|\n)''')
_INDENTED = re.compile(
    rf'[{_E}](?P<indent>[ \t]*+)(?P<empty>(?=[\r{_F}]*[{_E}]))?')
_SPACE = re.compile(r'\s*+')
_GLUED = re.compile(r'''["']''')
#: A line that is no part of the value above it.
_OWN = re.compile(
    r'''["']?[\w./-]{1,128}["']?:(?:\s|\Z)|- |at |File "''')


def checked(text: str, start: int, end: int) -> Spans:
    """The span of a value, without blanks around it; none when absent."""
    value = text[start:end]
    start += len(value) - len(value.lstrip())
    value = value.strip()
    if not value or absent.absent(value):
        return []
    return [(start, start + len(value))]


def string(text: str, start: int, column: int | None = None,
           cut: bool = False) -> tuple[Spans, int] | None:
    """A string.

    :param column: when lines that are indented deeper may belong to the
        string; None when they do not.
    :param cut: whether all of those lines do, when nothing closes it.
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
        # Shells put strings together: 'it'"'"'s'.
        end, closed = quoting.closing(text, more.group(), more.end())
        end += closed
    if closed and (more := _GLUED_WORD.match(text, end)):
        end, closed = more.end(), False
    inner = end - len(token) * closed
    return checked(text, begin, inner), end


def closing(text: str, token: str, start: int, column: int | None = None,
            cut: bool = False) -> tuple[int, bool]:
    """Find the end of a string that may have several lines.

    As :func:`.quoting.closing`, and :func:`string`.
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
    """A list of strings; as :func:`string`."""
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
    """All up to a blank."""
    return _bare(text, start, _WORD)


def phrase(text: str, start: int) -> Spans:
    """All up to the next name, or what closes a list or an object."""
    return _bare(text, start, _PHRASE)


def flow(text: str, start: int) -> Spans:
    """All up to a comma, or what closes a list or an object."""
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
    """Whether what begins here is no single value; it ends somewhere."""
    found = _STRUCT.match(text, start)
    if not found:
        return False
    close = _CLOSE[next(c for c in found.group() if c in _CLOSE)]
    return bool(close.search(text, found.start(), found.end() + _REACH))


def _deeper(text: str, end: int, column: int) -> re.Match[str] | None:
    """Match the end of a line and what the next one is indented by.

    None when that one is indented no deeper than a column, unless it is
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
