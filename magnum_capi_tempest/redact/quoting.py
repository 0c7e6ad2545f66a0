# SPDX-License-Identifier: Apache-2.0
"""Quoted text as programs print it: nested, cut off, or in several lines.

Logs contain JSON in JSON in the repr of bytes. Depth is the number of
backslashes before a quote, and :func:`view` returns a text in which printed
line ends are line ends, with every character in its place.
"""

import re

#: Opens and closes a string: a quote, printed once or more, or in HTML.
TOKEN = r'''(?:\\{0,15}["']|&(?:quot|apos|#34|#39|#x22|#x27);)'''

#: Replace a printed line end in a quoted text: PRINTED its last character,
#: FILL the one before.
PRINTED, FILL = '\x0b', '\x0c'
#: Both kinds of line end, for a character class.
ENDS = '\n' + PRINTED

_IN_WORD = re.compile(r'[\w<]')
#: Characters to search after a quote that may not be the last one.
_FURTHER = 200
#: A quote in a string of a shell.
_SHELL = '\'"\'"\''
_QUOTES = {quote: re.compile(rf'\n|\\*{quote}') for quote in '"\''}


def view(text: str) -> str:
    r"""A text of the same length, in which ``\n`` is :data:`PRINTED`.

    Printed tabs become tabs, and printed carriage returns are filled.
    """
    if '\\' not in text:
        return text
    return text.replace('\\n', FILL + PRINTED).replace(
        '\\t', FILL + '\t').replace('\\r', FILL + FILL)


def closing(text: str, token: str, start: int) -> tuple[int, bool]:
    """Find the end of a quoted string.

    :param token: that opened it.
    :param start: where it begins, after the token.
    :returns: where it ends, before the closing token, and whether there is
        one: a string that was cut off ends with the line, or with the string
        around it.
    """
    if token[0] == '&':
        return _in_html(text, token, start)
    depth, last, skipped = len(token) - 1, None, start
    for found in _QUOTES[token[-1]].finditer(text, start):
        begin, end = found.span()
        marks = end - begin - 1
        if last is not None and begin - last > _FURTHER:
            return last, True
        if found.group() == '\n' or marks < depth:
            return (begin, False) if last is None else (last, True)
        if begin < skipped:
            continue
        if token == "'" and text.startswith(_SHELL, end - 1):
            skipped = end - 1 + len(_SHELL)
        elif token == "'" == text[end:end + 1] and begin > start:
            # YAML and SQL: a quote in the string.
            skipped = end + 1
        elif marks % (2 * depth + 2) == depth:
            # Each depth doubles the backslashes and adds one for the quote;
            # Python's repr doubles them and adds none, so it is ambiguous
            # here. And no syntax has a word directly after a string.
            if marks == depth and not _IN_WORD.match(text, end):
                return end - len(token), True
            last = end - len(token) if last is None else last
    return (len(text), False) if last is None else (last, True)


def end(pattern: re.Pattern[str], text: str, start: int) -> int:
    """End of the match of a pattern at ``start``; ``start`` if none."""
    found = pattern.match(text, start)
    return found.end() if found else start


def _in_html(text: str, token: str, start: int) -> tuple[int, bool]:
    line = text.find('\n', start)
    line = len(text) if line < 0 else line
    end = text.find(token, start, line)
    return (line, False) if end < 0 else (end, True)
