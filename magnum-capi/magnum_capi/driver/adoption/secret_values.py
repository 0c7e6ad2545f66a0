# SPDX-License-Identifier: Apache-2.0

"""Hides the secret values of an object before it is shown.

A value is secret by the last words of its name, whatever it is; ``secretName``
and ``token-ttl`` only describe a secret. If the end of a value in a text is
not certain, the rest of its line is hidden.
"""

import re
import typing

#: Replaces a secret.
HIDDEN = '<hidden>'

#: End of the name of a secret value.
_SECRET = (
    r'(?:pass|passw(?:or)?d|passphrase|pwd|token|secret|credential'
    r'|authorization|(?<![\w.-])auth|(?:access|api|ca|certificate|client'
    r'|encryption|private|secret|server|signing|tls)[-_. ]?key)s?'
    r'(?:[-_.]?(?:base64|data|hash))?')
_QUOTED = r'"(?:\\.|[^"\\])*"' r"|'[^']*'"

_NAME = re.compile(rf'{_SECRET}\Z', re.I)
#: The value is the next argument.
_OPTION = re.compile(rf'--?[\w.-]*{_SECRET}\Z', re.I)

#: Values with such a name that only switch something on or off.
_SWITCHES = ('', 'true', 'false')

#: What is found in a text, and what takes its place, in this order.
_IN_TEXT = tuple((re.compile(pattern, re.I | re.M), instead)
                 for pattern, instead in (
    (r'-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----'
     r'(?s:.)*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\Z)', HIDDEN),
    # user:password@ (a port and a path before "@" are an image with its
    # digest), and a token in the place of the user
    (r"""(://(?P<user>[^\s/:@"'<>]*:(?!\d{1,5}/))?)"""
     r"""(?(user)[^\s"'<>]+|[^\s/:"'<>]{20,})(?=@)""", rf'\1{HIDDEN}'),
    # A block of YAML: all lines that are indented deeper than the name.
    (rf'^([ \t]*)((?:- +)?["\']?[\w.-]*{_SECRET}["\']?:)[ \t]*[|>].*'
     r'(?:\n\1[ \t].*|\n[ \t]*$)*', rf'\1\2 {HIDDEN}'),
    # --password x, --password=x
    (rf'(?<![\w.-])(--?[\w.-]*{_SECRET}(?:=|[ \t]+))(?:{_QUOTED}|\S)+',
     rf'\1{HIDDEN}'),
    # password: x, "password": "x", PASSWORD=x
    (rf'(?<![\w.-])((?!-)[\w.-]*{_SECRET}\\*["\']?[ \t]*[:=][ \t]*)'
     rf'(?:(?:{_QUOTED})(?=[\s,;)}}\]]|$)|\S.*)', rf'\1{HIDDEN}'),
))


def hide(found: typing.Any, *names: str) -> typing.Any:
    """A copy without secret values.

    :param found: an object of Kubernetes, or a part of it.
    :param names: that say what a value is.
    """
    if isinstance(found, dict):
        return _fields(found)
    if isinstance(found, list):
        before = ['', *(item if isinstance(item, str) and _OPTION.match(item)
                        else '' for item in found)]
        return [hide(item, option, *names)
                for option, item in zip(before, found)]
    if found is None or isinstance(found, bool) or found in _SWITCHES:
        return found
    if any(map(_NAME.search, names)):
        return HIDDEN
    return _text(found) if isinstance(found, str) else found


def _fields(found: dict[str, typing.Any]) -> dict[str, typing.Any]:
    # {name: DB_PASSWORD, value: x} is a variable of a container.
    names = {'value': str(found.get('name', ''))}
    if 'base64' in str(found.get('encoding', '')):
        # A file of nodes, which nobody can read and which may hold secrets.
        names['content'] = 'secret'
    return {key: hide(value, str(key), names.get(key, ''))
            for key, value in found.items()}


def _text(text: str) -> str:
    for pattern, instead in _IN_TEXT:
        text = pattern.sub(instead, text)
    return text
