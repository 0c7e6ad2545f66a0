# SPDX-License-Identifier: Apache-2.0
"""Values that are not secrets, although their names suggest it.

These are empty values, redacted ones, references to a secret, and the words of
an error or of a sentence.
"""

import re

from magnum_capi_tempest.redact import names

#: Replaces a secret. Not empty, so that a reader sees that there was one.
MARK = '<redacted>'

#: The scheme of an authorization, before a value.
_SCHEME = r'(?:(?:basic|bearer|digest|token)\s+)?'
_HIDDEN = re.compile(_SCHEME + MARK, re.I)
_NOTHING = re.compile(
    _SCHEME + r'''(?:<masked>|<omitted>|<hidden>'''
    r'''|<nil>|<none>|<unset>|<set to the key .*|\*{3,}|null|nil'''
    r'''|none|true|false|on|off|yes|no|~|\d+ bytes|str(?:ing)?|bool(?:ean)?'''
    # The word that instructions use as an example.
    r'''|test'''
    # Times after the steps of Kubernetes' tests, with colours.
    r'''|(?:\x1b\[[\d;]{1,16}m)?@? ?\d\d/\d\d/\d\d \d\d:\d\d:\d\d'''
    r'''(?:\.\d{1,9})?(?:\x1b\[\d{0,3}m)?'''
    # Hashes of tokens, as keystoneauth logs them.
    r'''|\{SHA\d{0,3}\}[0-9a-f]{40,128}|)[\s,;'"]*''', re.I)
_PATH = re.compile(
    r'(?:file://)?~?/(?:etc|home|opt|root|run|srv|tmp|usr|var)(?:/[\w.@+-]+)*'
    r'|~?(?:/[\w@+-]+)*/[\w-]+\.(?:pem|key|crt|conf|cfg|ini|json|ya?ml|txt)')
_NAME = r'[A-Za-z_][\w.-]*'
#: ``<password>``, ``<YOUR API TOKEN>``, with the scheme before it.
_BLANK = re.compile(
    _SCHEME + r'<[A-Za-z][A-Za-z_. -]{0,60}>', re.I)
#: ``$OS_PASSWORD``, ``{{ admin_password }}``, ``PASSWORD``.
_PLACE = re.compile(
    rf'\$?\{{{_NAME}\}}|\${_NAME}|\$?\{{\{{ *{_NAME} *\}}\}}'
    rf'|%\({_NAME}\)s|[A-Z_-]+')
#: Commands that get a secret, as a tracing shell prints them.
_COMMAND = re.compile(
    _SCHEME + r'(?:`|\$\()(?:cat [\w./@+-]+'
    r'|kubectl (?:-n [\w-]+ )?create token [\w .-]+)(?:`|\))', re.I)
_NAMED = re.compile(_NAME)
#: A comment after a value in YAML, INI, shells and Python.
_REMARK = re.compile(r'[ \t]+#.*')
#: Longer values are none of these.
_MOST = 200

#: First words of an error, after the name of what failed.
_ERROR = re.compile(
    r'''(?:cannot|context|could|denied|dial|empty|EOF|error|expired|failed'''
    r'''|failure|forbidden|has|invalid|is|missing|must|not|permission'''
    r'''|rejected|required|rpc|timeout|unable|unauthorized|unexpected'''
    r'''|unknown|unsupported|was|Delete|Get|Patch|Post|Put|secrets'''
    r'''|server message|serviceaccounts)(?=[\s:.,;]|\Z)''')
#: Words that most sentences have, and lists of words do not.
_FUNCTION = re.compile(
    r'(?<![\w-])(?:a|all|an|and|any|are|as|at|be|by|can|does|for|from|has|have'
    r'|in|is|it|not|of|on|only|or|that|the|their|there|they|this|to|was|were'
    r'|what|when|which|will|with)(?![\w=@-])')
_PLAIN = re.compile(r'[A-Za-z]?[a-z]*,?(?:[ \t]|\Z)')
#: Words after an option in a sentence that are not its value.
_SENTENCE = re.compile(
    r'''(?:and|as|for|from|if|in|instead|is|may|must|of|on|option|or|so|that'''
    r'''|the|to|was|when|which|with)(?=[\s.,;)]|\Z)|[-|\\&]'''
    r'''|<[A-Za-z][\w -]{0,40}>''')


def absent(value: str) -> bool:
    """Whether a whole value is not a secret."""
    if _HIDDEN.match(value):
        # The rest of it was checked when the mark was inserted.
        return True
    if len(value) > _MOST:
        return False
    value = _REMARK.sub('', value)
    if (_NOTHING.fullmatch(value) or _PATH.fullmatch(value)
            or _BLANK.fullmatch(value) or _COMMAND.fullmatch(value)):
        return True
    name = _PLACE.fullmatch(value) and _NAMED.search(value)
    return bool(name and names.kind(name.group()))


def is_prose(text: str, start: int, end: int) -> bool:
    """Whether a phrase is part of a sentence of plain words."""
    return bool(_PLAIN.match(text, start, end)
                and _FUNCTION.search(text, start, end))


def is_error(text: str, start: int) -> bool:
    """Whether the words of an error begin here."""
    return bool(_ERROR.match(text, start))


def is_sentence(text: str, start: int) -> bool:
    """Whether the text after an option is not its value."""
    return bool(_SENTENCE.match(text, start))
