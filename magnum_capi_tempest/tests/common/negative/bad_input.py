# SPDX-License-Identifier: Apache-2.0

"""Invalid values in requests to Magnum, and the answers they must get.

Pure: no requests. :mod:`.refusals` sends them.

A field has a kind, which defines the values that are invalid. They must be
refused with a status in :data:`REFUSED` and an error that a program can read.
Where a Magnum answers otherwise, :mod:`.known_answers` has what was measured.
"""

import dataclasses

#: Statuses of a refusal of the input. Not 401 and 403: with these, Magnum did
#: not even check the input.
REFUSED = frozenset((400, 404, 409, 413, 415, 422))

#: Statuses of a refusal of the user, who is not in the project or lacks the
#: role.
DENIED = frozenset((403, 404))

#: Texts that end lines, statements, strings, tags or formats somewhere.
TEXTS = {
    'letters of the world': 'H\u00f6rst \u6771\u4eac \u05e9\u05dc\u05d5\u05dd',
    'an emoji': 'tada \U0001f389',
    'control characters': 'one\r\ntwo\x1b[2J\x07\u202eeerht\x7f',
    'a NUL': 'one\x00two',
    'SQL': "'; DROP TABLE cluster_template; --",
    'HTML': '<script>alert(1)</script><img src=x onerror=alert(1)>',
    'format strings': '%s%n%(name)s{0}{name.__class__}$HOME`id`',
    'a path': '../../../../etc/passwd',
    'half a surrogate pair': 'one\ud800',
}

#: Values that are no text, or a text of an invalid length.
NO_TEXTS = {
    'a number': 7,
    'a fraction': 1.5,
    'a boolean': True,
    'a list': ['one'],
    'an object': {'one': 'two'},
    'an empty text': '',
    '256 characters': 'n' * 256,
    '100000 characters': 'n' * 100000,
}

_NO_NUMBERS = {
    'a list': [1],
    'an object': {'one': 1},
    'an empty text': '',
    'a word': 'seven',
    'letters of the world': '\u4e03 Hefte',
    'SQL': '1; DROP TABLE cluster_template',
    'a negative number': -1,
}

#: kind -> name of the value -> value: all of them are invalid.
KINDS = {
    # The name of something in another service, or of a fixed choice.
    'reference': {**NO_TEXTS, **TEXTS},
    # The same for fields whose answers take long.
    'slow reference': {**NO_TEXTS, **{name: TEXTS[name] for name in (
        'control characters', 'SQL', 'half a surrogate pair')}},
    # Every text is valid.
    'text': NO_TEXTS,
    'tags': {name: value for name, value in NO_TEXTS.items()
             if name != 'an empty text'},
    'addresses': {**NO_TEXTS, **TEXTS},
    # 1 and above, like sizes.
    'number': {**_NO_NUMBERS, 'zero': 0, 'a fraction': 1.5,
               'more than 64 bits': 2 ** 64},
    # 0 and above. A fraction would be accepted and create a cluster.
    'count': _NO_NUMBERS,
    'boolean': {
        'a number': 7, 'a fraction': 1.5, 'a list': [True],
        'an object': {'one': True}, 'an empty text': '', 'a word': 'maybe'},
    'labels': {
        'a number': 7, 'a boolean': True, 'a list': ['one'],
        'a text': 'one=two', 'an object of lists': {'one': ['two']},
        'an object of objects': {'one': {'two': 'three'}},
        'an object of nulls': {'one': None}},
    # Fields that only Magnum sets.
    'read-only': {'a number': 7, 'a text': 'one', 'a list': ['one'],
                  'an object': {'one': 'two'}},
    'date': {'a number': 7, 'a text': 'one', 'a list': ['one']},
    'links': {'a number': 7, 'a text': 'one', 'a list': ['one']},
    # Names that Magnum, Glance and Keystone look up in their databases; a
    # cluster's in the body, not in the path.
    **{kind: {**NO_TEXTS, **TEXTS}
       for kind in ('cluster', 'template', 'image', 'project')},
    # PEM.
    'signing request': {**NO_TEXTS, **TEXTS, 'PEM of nothing': (
        '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n'
        '-----END CERTIFICATE REQUEST-----\n')},
    # A field that does not exist.
    'unknown': {'a number': 7, 'a text': 'one', 'an object': {'one': 'two'},
                'null': None},
}

#: What an error must not contain, as it is written for users.
_INSIDE = ('Traceback (most recent call last)', '[SQL:', 'site-packages')


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to a request.

    :param status: of HTTP.
    :param body: parsed JSON; None if it is not JSON.
    """

    status: int
    body: object = None

    def __str__(self):
        # It repeats what was sent, so there may be control characters in it,
        # and lone surrogates, which cannot be written anywhere.
        return f'{self.status} {ascii(self.text() or self.body)[:300]}'

    def text(self):
        """Return the text of the error, '' if it has none."""
        # tempest unwraps objects of one member.
        errors = (self.body.get('errors') if isinstance(self.body, dict)
                  else self.body)
        if not isinstance(errors, list):
            return ''
        return ' '.join(
            str(e.get('detail') or e.get('title') or '') for e in errors
            if isinstance(e, dict)).strip()


def complaint(answer, expected=REFUSED):
    """Return what is wrong with a refusal, or None.

    :param expected: statuses of a good refusal.
    """
    if answer.status >= 500:
        return f'is not an answer: {answer}'
    if answer.status < 400:
        return f'is accepted: {answer.status}'
    if answer.status not in expected:
        return f'is answered with {answer}'
    if not answer.text():
        return f'is refused without a reason: {answer}'
    inside = tells_inside(answer)
    if inside:
        return f'is refused with internal words: {inside[0]}'
    return None


def tells_inside(answer):
    """Return the internal words in a refusal."""
    return [words for words in _INSIDE if words in answer.text()]
