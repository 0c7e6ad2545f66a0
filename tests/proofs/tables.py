# SPDX-License-Identifier: Apache-2.0

"""A proof's table."""

import pathlib
import re

from magnum_capi_tempest import texts

#: Variable parts of texts, and their replacements in tables.
_NEW_EACH_TIME = (
    ('<uuid>', re.compile(r'\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b')),
    ('<release>', re.compile(r'\bc[0-9a-f]{32}\b')),
    # Id of a message to a conductor, or of a project.
    ('<id>', re.compile(r'\b[0-9a-f]{32}\b')),
    ('<address>', re.compile(r'\b127(\.\d+){3}\b(:\d+)?')),
)


def plain(text: str) -> str:
    """A text on one line, without variable parts."""
    for word, pattern in _NEW_EACH_TIME:
        text = pattern.sub(word, text)
    return texts.line(text, 240)


def collect(results: pathlib.Path):
    """Write ``table.csv``, the rows of all cases that have been run.

    :param results: has the rows of each case, with their head.
    """
    found = [path.read_text(encoding='utf-8').splitlines(keepends=True)
             for path in sorted((results / 'rows').glob('*.csv'))]
    if found:
        (results / 'table.csv').write_text(''.join([
            found[0][0], *(line for _head, *lines in found
                           for line in lines)]), encoding='utf-8')
