# SPDX-License-Identifier: Apache-2.0

"""The table of invalid input to Magnum, and the answers that it must get.

Pure: no requests. :mod:`.refusals` sends them.

A field has a kind, which defines the values that are invalid. They must be
refused with a status in :data:`REFUSED` and an error that a program can read.
Where a release of Magnum answers otherwise, :mod:`.known_answers` has what was
measured.
"""

import collections.abc
import dataclasses
import typing

#: Statuses of a refusal of the input. Not 401 and 403: with these, Magnum did
#: not even check the input.
REFUSED = frozenset((400, 404, 409, 413, 415, 422))

#: Statuses of a refusal of the user, who is not in the project or lacks the
#: role.
DENIED = frozenset((403, 404))

#: Statuses of a refusal of what does not exist.
MISSING = frozenset((404,))

#: An id of nothing.
NOBODY = '00000000-0000-4000-8000-000000000000'

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
KINDS: dict[str, dict[str, object]] = {
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
    # Names that Magnum and Glance look up in their databases; a cluster's in
    # the body, not in the path.
    **{kind: {**NO_TEXTS, **TEXTS}
       for kind in ('cluster', 'template', 'image')},
    # A field that does not exist.
    'unknown': {'a number': 7, 'a text': 'one', 'an object': {'one': 'two'},
                'null': None},
}

#: Fields of what a request creates, and the kind of values that each refuses.
FIELDS = {
    'cluster template': {
        'name': 'text', 'coe': 'reference', 'image_id': 'image',
        'flavor_id': 'reference', 'master_flavor_id': 'reference',
        'dns_nameserver': 'addresses', 'keypair_id': 'text',
        'external_network_id': 'reference', 'fixed_network': 'reference',
        'fixed_subnet': 'reference', 'network_driver': 'reference',
        'volume_driver': 'reference', 'server_type': 'reference',
        'cluster_distro': 'text', 'http_proxy': 'text',
        'https_proxy': 'text', 'no_proxy': 'text',
        'insecure_registry': 'text', 'docker_storage_driver': 'text',
        'tags': 'tags', 'apiserver_port': 'number',
        'docker_volume_size': 'number', 'registry_enabled': 'boolean',
        'tls_disabled': 'boolean', 'public': 'boolean', 'hidden': 'boolean',
        'master_lb_enabled': 'boolean', 'floating_ip_enabled': 'boolean',
        'labels': 'labels', 'uuid': 'reference', 'project_id': 'read-only',
        'user_id': 'read-only', 'links': 'links', 'created_at': 'date',
        'updated_at': 'date', 'driver': 'reference', 'colour': 'unknown',
    },
    'cluster': {
        'name': 'reference', 'cluster_template_id': 'template',
        'keypair': 'slow reference', 'flavor_id': 'slow reference',
        'master_flavor_id': 'slow reference',
        'fixed_network': 'slow reference', 'fixed_subnet': 'slow reference',
        'node_count': 'count', 'master_count': 'count',
        'docker_volume_size': 'count', 'create_timeout': 'count',
        'labels': 'labels', 'merge_labels': 'boolean',
        'floating_ip_enabled': 'boolean', 'master_lb_enabled': 'boolean',
        'status': 'read-only', 'health_status': 'read-only',
        'stack_id': 'read-only', 'cluster_id': 'read-only',
        'project_id': 'read-only', 'user_id': 'read-only',
        'api_address': 'read-only', 'coe_version': 'read-only',
        'container_version': 'read-only', 'node_addresses': 'read-only',
        'master_addresses': 'read-only', 'links': 'links',
        'created_at': 'date', 'updated_at': 'date', 'colour': 'unknown',
    },
}

#: Values that are only invalid for one field; None: the field is left out.
MORE: dict[str, dict[str, dict[str, object]]] = {
    'cluster template': {
        'image_id': {'no image': None, 'an id of nobody': NOBODY},
        'flavor_id': {'an id of nobody': NOBODY},
        'master_flavor_id': {'an id of nobody': NOBODY},
        'external_network_id': {'an id of nobody': NOBODY},
        'network_driver': {'no network driver': 'pigeons'},
        'driver': {'no driver': 'k8s_pigeon_v1'},
    },
    'cluster': {
        'name': {'a digit first': '1-cluster', '243 characters': 'n' * 243},
        'flavor_id': {'an id of nobody': NOBODY},
        'keypair': {'a name of nobody': 'nobody'},
        'master_count': {'zero': 0},
    },
}

#: Of a JSON patch: op, path and value, of which the last ones may be missing.
Operation: typing.TypeAlias = tuple[object, ...]

#: Operations of a JSON patch that a cluster template refuses, by kind.
UPDATES: dict[str, tuple[Operation, ...]] = {
    'patch': (
        # What clusters need.
        *(('remove', f'/{field}') for field in (
            'image_id', 'coe', 'network_driver', 'external_network_id',
            'tls_disabled', 'server_type', 'registry_enabled',
            'cluster_distro', 'public', 'hidden')),
        # What only Magnum sets.
        *((op, f'/{field}', 'one') for op in ('add', 'replace', 'remove')
          for field in ('id', 'uuid', 'project_id', 'user_id', 'links',
                        'created_at', 'updated_at')),
        # Invalid values.
        ('replace', '/name', ''), ('replace', '/name', 7),
        ('replace', '/name', 'n' * 256),
        *(('replace', f'/{field}', 'nobody') for field in (
            'image_id', 'flavor_id', 'master_flavor_id',
            'external_network_id', 'fixed_network', 'fixed_subnet')),
        ('replace', '/coe', 'swarm'), ('replace', '/server_type', 'balloon'),
        ('replace', '/network_driver', 'pigeons'),
        ('replace', '/volume_driver', 'pigeons'),
        ('replace', '/dns_nameserver', 'one'),
        ('replace', '/docker_volume_size', 0),
        ('replace', '/apiserver_port', 1), ('replace', '/labels', 'one=two'),
        ('replace', '/labels', {'one': 'two'}),
        # Paths that lead nowhere.
        ('replace', '/colour', 'blue'), ('add', '/colour', 'blue'),
        ('remove', '/colour'), ('remove', '/labels/nobody'),
        ('replace', '/labels/one/two', 'three'), ('replace', 'name', 'one'),
        ('replace', '', 'one'), ('replace', '/', 'one'),
        ('replace', '//name', 'one'), ('replace', '/name/../uuid', 'one'),
        ('replace', 7, 'one'), ('replace', '/name\n', 'one'),
        # Operations that do not exist, or lack a part.
        ('test', '/name', 'one'), ('move', '/name', '/tags'),
        ('copy', '/name', '/tags'), ('destroy', '/name', 'one'),
        ('', '/name', 'one'), (7, '/name', 'one'), ('replace', '/name'),
        ('replace',),
        # A field that is already there.
        ('add', '/name', 'one'), ('add', '/image_id', 'one')),
    'patched type': (
        ('replace', '/docker_volume_size', 'seven'),
        ('replace', '/apiserver_port', 'seven'),
        ('replace', '/dns_nameserver', 7),
        ('replace', '/floating_ip_enabled', 'maybe')),
}

#: Parameters of lists that are refused.
PARAMETERS: tuple[tuple[str, str | list[str]], ...] = (
    ('limit', '0'), ('limit', '-1'), ('limit', ''), ('limit', 'one'),
    ('limit', '1.5'), ('limit', '1e3'), ('limit', ['1', '2']),
    ('marker', 'one'), ('marker', ''), ('marker', '%00'), ('marker', '\0'),
    ('marker', NOBODY), ('marker', "' OR 1=1 --"),
    ('sort_key', 'colour'), ('sort_key', 'id;drop'), ('sort_key', 'id desc'),
    ('sort_key', '__class__'), ('sort_key', 'metadata'),
    ('sort_key', 'links'), ('sort_key', '\U0001f389'), ('sort_key', '\0'),
    ('sort_key', 'n' * 1000),
    ('sort_dir', 'up'), ('sort_dir', ''), ('sort_dir', 'ASC;'),
    ('colour', 'blue'), ('name', 'one'), ('\U0001f389', 'one'))

#: Bodies by kind: which are sent as they are.
BODIES: dict[str, dict[str, str | bytes]] = {
    'body': {
        'an open bracket': '{', 'a word': 'name=one',
        'no UTF-8': b'{"name": "\xff"}', 'two objects': '{}{}',
        'a comma too much': '{"name": "one",}'},
    'no object': {
        'null': 'null', 'a number': '7', 'a text': '"one"', 'a list': '[]',
        'a list of objects': '[{"name": "one"}]'},
    'no patch': {
        'null': 'null', 'a number': '7', 'a text': '"one"',
        'an object': '{"op": "replace"}', 'a list of nulls': '[null]',
        'a list of numbers': '[7]', 'an empty object in a list': '[{}]',
        'a list of lists': '[[]]'},
    'empty object': {'nothing in it': '{}'},
    # Deeper than any parser supports.
    'depth': {'5000 brackets': '[' * 5000},
}

#: Bodies of other content types.
CONTENT = {'application/xml': '<name>one</name>',
           'application/x-www-form-urlencoded': 'name=one',
           'text/yaml': 'name: one'}


def values(resource: str, field: str
           ) -> collections.abc.Iterator[tuple[str, str, object]]:
    """Yield (kind, name, value) of the invalid values of a field.

    :param resource: key of :data:`FIELDS`.
    """
    kind = FIELDS[resource][field]
    for name, value in KINDS[kind].items():
        yield kind, name, value
    for name, value in MORE[resource].get(field, {}).items():
        yield kind, name, value


#: What an error must not contain, as it is written for users.
_INSIDE = ('Traceback (most recent call last)', '[SQL:', 'site-packages')


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to a request.

    :param status: of HTTP.
    :param body: parsed JSON; None if it is not JSON.
    """

    status: int
    body: typing.Any = None

    def __str__(self) -> str:
        # It repeats what was sent, so there may be control characters in it,
        # and lone surrogates, which cannot be written anywhere.
        return f'{self.status} {ascii(self.text() or self.body)[:300]}'

    def text(self) -> str:
        """Return the text of the error, '' if it has none."""
        # tempest unwraps objects of one member.
        errors = (self.body.get('errors') if isinstance(self.body, dict)
                  else self.body)
        if not isinstance(errors, list):
            return ''
        return ' '.join(
            str(e.get('detail') or e.get('title') or '') for e in errors
            if isinstance(e, dict)).strip()


def complaint(answer: Answer,
              expected: collections.abc.Container[int] = REFUSED
              ) -> str | None:
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


def tells_inside(answer: Answer) -> list[str]:
    """Return the internal words in a refusal."""
    return [words for words in _INSIDE if words in answer.text()]
