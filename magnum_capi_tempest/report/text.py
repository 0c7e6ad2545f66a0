# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Makes text from elsewhere harmless and short, for every form.

A test name or a log may hold terminal escapes, characters that XML does not
know, or a hundred megabytes. Escaping for a certain form (HTML, XML) is the
business of that form.
"""

import re

#: Control characters but tab and newline, C1 controls, lone surrogates, and
#: what changes the direction of text: none may reach a terminal or XML 1.0.
_HARMFUL = re.compile(
    '[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069'
    '\ufffe\uffff]')
#: Colours and cursor movements (ECMA-48), dropped as a whole.
_ESCAPE = re.compile('\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b'
                     '\\\\)|[@-Z\\\\-_])')


def clean(text):
    """Text without terminal escapes and control characters."""
    text = text.replace('\r\n', '\n')
    return _HARMFUL.sub('\ufffd', _ESCAPE.sub('', text))


def line(text, width=200):
    """One line of at most ``width`` characters."""
    text = ' '.join(clean(text).split())
    return text if len(text) <= width else text[:width - 1] + '…'


def cut(text, most=200_000):
    """Beginning and end of a text that is longer than ``most``."""
    if len(text) <= most:
        return text
    half = most // 2
    return (f'{text[:half]}\n\n[... {len(text) - 2 * half} characters are '
            f'left out here; the subunit stream has them ...]\n\n'
            f'{text[-half:]}')


def duration(seconds):
    """Seconds as people say them: ``0.12 s``, ``7.1 s``, ``3 min 5 s``."""
    if seconds is None:
        return '?'
    if seconds < 1:
        return f'{seconds:.2f} s'
    if seconds < 60:
        return f'{seconds:.1f} s'
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f'{minutes} min {rest} s'
    return f'{minutes // 60} h {minutes % 60} min'
