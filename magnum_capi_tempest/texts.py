# SPDX-License-Identifier: Apache-2.0

"""Makes text from outside harmless and short.

A test name or a log may contain terminal escapes, characters that are invalid
in XML, or a hundred megabytes. Text is cleaned when it is read, before it is
stored, and again when it is shown. Escaping for an output format (HTML, XML)
is left to that format.
"""

import re

#: Name of a test detail that lists, one a line, errors of Magnum after which
#: waits of the test went on, "class, request: error"; reports count them.
TOLERATED = 'tolerated errors of Magnum'

#: Name of a test detail that lists, one a line, what a test did not check for
#: want of access; reports count them.
NOT_CHECKED = 'not checked'

#: Name of a test detail that lists, one a line, wrong answers of a Magnum that
#: its release is known for; reports count them.
KNOWN_ANSWERS = 'known answers of Magnum'

#: Name of a test detail with versions of the cloud: "part: version", a line
#: each; reports show them first.
VERSIONS = 'versions'

#: Name of a test detail about the clusters that its process has seen: JSON, a
#: line each, [seconds since the epoch, uuid, name, status since then]; an
#: empty status: it is gone. Reports draw them.
PHASES = 'phases of clusters'

#: Control characters except tab and newline, C1 controls, lone surrogates, and
#: characters that change the direction of text: none may reach a terminal or
#: XML 1.0. Characters without width are included: with them, two different
#: names may look the same.
_HARMFUL = re.compile(
    '[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b\u200e\u200f'
    '\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffe\uffff]')
#: Colours and cursor movements (ECMA-48), dropped as a whole.
_ESCAPE = re.compile('\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b'
                     '\\\\)|[@-Z\\\\-_])')


def clean(text: str) -> str:
    """Text without terminal escapes and control characters."""
    if text.isprintable():
        # True of most text, and no harmful character is printable.
        return text
    text = text.replace('\r\n', '\n')
    return _HARMFUL.sub('\ufffd', _ESCAPE.sub('', text))


def line(text: str, width: int = 200) -> str:
    """One line of at most ``width`` characters."""
    text = ' '.join(clean(text).split())
    return text if len(text) <= width else text[:width - 1] + '…'


def file_name(text: str) -> str:
    """A text as a valid file name, at most 150 characters.

    Of a long text the end is kept, which distinguishes it from others.
    """
    # Most file systems take 255 bytes.
    return re.sub(r'[^\w.-]+', '-', text, flags=re.ASCII)[
        -150:].strip('-.') or 'unnamed'


def number(count: int, noun: str) -> str:
    """Count and noun: ``1 spec``, ``2 specs``, ``2 classes``."""
    if count == 1:
        return f'{count} {noun}'
    return f'{count} {noun}{"es" if noun.endswith("s") else "s"}'


def start(text: str, most: int) -> str:
    """The beginning of a text, cleaned."""
    text = clean(text)
    return text if len(text) <= most else text[:most] + '\n[...]'


def end(text: str, most: int) -> str:
    """The end of a text, cleaned, starting at the beginning of a line."""
    text = clean(text)
    if len(text) <= most:
        return text
    text = text[-most:]
    return '[...]\n' + text.partition('\n')[2] if '\n' in text else text


def exception(traceback: str) -> str:
    """The part of a Python traceback after its last stack frame."""
    lines = traceback.rstrip().splitlines()
    frames = [i for i, line in enumerate(lines)
              if line.startswith('  File "')]
    if frames:
        lines = lines[frames[-1] + 1:]
        while len(lines) > 1 and lines[0].startswith('    '):
            del lines[0]
    return '\n'.join(lines).strip()
