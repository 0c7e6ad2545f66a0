# SPDX-License-Identifier: Apache-2.0
"""Removes known secrets anywhere in a text, in any form."""

import base64
import collections.abc
import json
import re
import urllib.parse

from magnum_capi_tempest.redact import names

#: Minimum characters of a secret to search for. A shorter one, or a word, is
#: likely to occur with another meaning.
_LEAST = 8


class Known:
    """Values that are secrets, and the forms in which programs print them.

    :param values: short ones and words are ignored.
    """

    def __init__(self, values: collections.abc.Iterable[str]) -> None:
        forms = {form for value in values if _is_distinctive(value)
                 for form in _forms(value)}
        self._pattern = re.compile('|'.join(
            map(re.escape, sorted(forms, key=len, reverse=True)))
        ) if forms else None

    def find(self, text: str) -> list[tuple[str, int, int]]:
        """Their places: (kind, start, end) each, in order."""
        if not self._pattern:
            return []
        return [(names.SECRET, *found.span())
                for found in self._pattern.finditer(text)]


def _is_distinctive(value: str) -> bool:
    return len(value) >= _LEAST and not value.isalpha()


def _forms(value: str) -> collections.abc.Iterator[str]:
    printed = json.dumps(value)[1:-1]
    yield value
    yield printed
    yield json.dumps(printed)[1:-1]
    yield repr(value)[1:-1]
    yield urllib.parse.quote(value, safe='')
    # Within the base64 of a longer text, at each of three alignments: without
    # the characters that it shares with its neighbours.
    data = value.encode()
    for before in range(3):
        size = before + len(data)
        text = base64.b64encode(bytes(before) + data).decode().rstrip('=')
        yield text[-(-before * 8 // 6):size * 8 // 6]
