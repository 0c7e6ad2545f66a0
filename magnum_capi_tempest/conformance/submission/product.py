# SPDX-License-Identifier: Apache-2.0

"""PRODUCT.yaml: its required content, and the lines that violate it.

Fields: instructions.md of cncf/k8s-conformance. Addresses are valid if Go's
``url.ParseRequestURI`` and ``mail.ParseAddress`` accept them, which the bot
uses.
"""

import dataclasses
import re
import types
import typing

import yaml

from magnum_capi_tempest.conformance.submission import findings

NAME = 'PRODUCT.yaml'
#: No description of a product is longer.
MOST_BYTES = 64 << 10
#: Fields are not nested at all; a list in one is a mistake that is reported.
_DEEPEST = 16

REQUIRED = ('vendor', 'name', 'version', 'type', 'description', 'website_url',
            'documentation_url', 'contact_email_address')
URLS = ('website_url', 'repo_url', 'documentation_url', 'product_logo_url')
#: Addresses that must answer with a web page.
PAGES = ('website_url', 'repo_url', 'documentation_url')
EMAIL = 'contact_email_address'
LOGO = 'product_logo_url'
TYPES = ('distribution', 'hosted platform', 'installer')

_PIXELS = ('.png', '.jpg', '.jpeg', '.gif', '.webp')
_SCHEME = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:')
_CONTROL = re.compile(r'[\x00-\x1f\x7f]')
#: Bytes that Go accepts in a host (net/url, shouldEscape in mode encodeHost);
#: others must not be ASCII.
_HOST = re.compile(r'''[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>"%\x80-\U0010ffff]*''')
#: In a host, only bytes of non-ASCII characters are percent-encoded.
_HOST_PERCENT = re.compile('%[0-7]')
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_PERCENT = re.compile(r'%(?![0-9A-Fa-f]{2})')
_IN_ATOM = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-"
_ATOM = rf'[{_IN_ATOM}]+'
_DOTTED = rf'{_ATOM}(?:\.{_ATOM})*'
_ADDRESS = rf'(?:{_DOTTED}|"(?:[^"\\\n]|\\.)*")@(?:{_DOTTED}|\[[^\[\]\s]*\])'
_WORD = rf'(?:[.{_IN_ATOM}]++|"(?:[^"\\\n]|\\.)*")'
_EMAIL = re.compile(
    rf'\s*+(?:{_ADDRESS}|(?:{_WORD}\s*+)*<{_ADDRESS}>)\s*+'
    r'(?:\([^()]*+\))?\s*+')


@dataclasses.dataclass(frozen=True)
class Field:
    """A field: its value, None for null, and the number of its line."""

    value: str | None
    line: int


@dataclasses.dataclass(frozen=True)
class Product:
    """The content of a PRODUCT.yaml.

    :param fields: by name.
    :param broken: (text, line) if it is no YAML mapping, None otherwise.
    :param nested: names of fields that are lists or mappings.
    :param twice: names of duplicate fields; the last value counts.
    """

    fields: typing.Mapping[str, Field] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))
    broken: tuple[str, int | None] | None = None
    nested: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()

    def value(self, name) -> str:
        """Value of a field, empty if there is none."""
        field = self.fields.get(name)
        return (field.value or '').strip() if field else ''


def parse(content) -> Product:
    """Read a PRODUCT.yaml without constructing objects from it.

    :param content: bytes.
    """
    try:
        text = content.decode('utf-8-sig')
    except UnicodeDecodeError as e:
        line = content[:e.start].count(b'\n') + 1
        return Product(broken=('it is not UTF-8', line))
    if len(content) > MOST_BYTES:
        return Product(broken=(f'it is longer than {MOST_BYTES} bytes', None))
    try:
        root = _compose(text)
    except yaml.YAMLError as e:
        mark = getattr(e, 'problem_mark', None)
        problem = getattr(e, 'problem', None) or str(e)
        return Product(broken=(f'it is not YAML: {problem}',
                               mark.line + 1 if mark else None))
    if not isinstance(root, yaml.MappingNode):
        return Product(broken=('it is not a mapping of fields to values', 1))
    return _fields(root)


def _compose(text):
    """The tree of nodes: nothing is constructed and no alias expanded.

    The depth is checked first: PyYAML needs time for each level at each
    character.
    """
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise yaml.MarkedYAMLError(problem='it is nested too deeply',
                                       problem_mark=event.start_mark)
    loader = yaml.SafeLoader(text)
    try:
        first = loader.get_node() if loader.check_node() else None
        # An empty document, from a "---" at the end.
        while loader.check_node():
            other = loader.get_node()
            if other.start_mark.index != other.end_mark.index:
                raise yaml.MarkedYAMLError(problem='found another document',
                                           problem_mark=other.start_mark)
        return first
    finally:
        loader.dispose()


def _fields(root):
    fields, nested, twice = {}, [], []
    for key, value in root.value:
        line = key.start_mark.line + 1
        name = getattr(key, 'value', None)
        if not isinstance(key, yaml.ScalarNode):
            return Product(broken=('the name of a field is not a word', line))
        if name in fields:
            twice.append(name)
        if not isinstance(value, yaml.ScalarNode):
            nested.append(name)
            fields[name] = Field('', line)
        else:
            null = value.tag == 'tag:yaml.org,2002:null'
            fields[name] = Field(None if null else value.value, line)
    return Product(types.MappingProxyType(fields), None, tuple(nested),
                   tuple(twice))


def check(product, file) -> list[findings.Finding]:
    """Rules 7, 8 and 10, and the part of rule 2 that the file is YAML.

    :param file: path of the file, for the findings.
    """
    if product.broken:
        text, line = product.broken
        return [findings.Finding('2', f'{NAME} cannot be read: {text}', file,
                                 line)]
    return [*_required(product, file), *_well_formed(product, file),
            *_type(product, file)]


def _required(product, file):
    for name in product.twice:
        yield findings.Finding(
            '7', f'the field {name} is there twice; the bot takes the last',
            file, product.fields[name].line, findings.WARNING)
    for name in REQUIRED:
        field = product.fields.get(name)
        if field is None:
            yield findings.Finding('7', f'the field {name} is missing', file)
        elif name not in product.nested and not (field.value or '').strip():
            yield findings.Finding('7', f'the field {name} is empty', file,
                                   field.line)


def _well_formed(product, file):
    for name in product.nested:
        yield findings.Finding(
            '8', f'the field {name} is not a text: the bot then reads none '
            'of the fields', file, product.fields[name].line)
    for name in (*URLS, EMAIL):
        value = product.fields.get(name, Field('', 0)).value or ''
        problem = value and (email_problem(value) if name == EMAIL
                             else url_problem(value))
        if problem:
            yield findings.Finding(
                '8', f'{name} is not '
                f'{"an address" if name == EMAIL else "a URL"}: {problem}',
                file, product.fields[name].line)
        elif value and name != EMAIL and not value.startswith(
                ('https://', 'http://')):
            yield findings.Finding(
                '8', f'{name} is not the URL of a web page; the bot lets '
                'it pass', file, product.fields[name].line, findings.WARNING)
        elif name == LOGO and value.partition('?')[0].lower().endswith(
                _PIXELS):
            yield findings.Finding(
                '8', f'{name} is not of SVG, AI or EPS, which instructions.md '
                'asks for; the bot lets it pass', file,
                product.fields[name].line, findings.WARNING)


def _type(product, file):
    value = product.value('type')
    if value and value not in TYPES:
        # The step of the bot's scenario lacks quotation marks, so its
        # expression does not match and nothing is checked (measured).
        yield findings.Finding(
            '10', f'the type is {value!r}, not one of {", ".join(TYPES)}; '
            'the bot lets it pass', file, product.fields['type'].line,
            findings.WARNING)


def url_problem(text) -> str:
    """Why Go would reject it as a URL or absolute path; empty if it accepts.

    net/url, ParseRequestURI.
    """
    if not text:
        return 'it is empty'
    if _CONTROL.search(text):
        return 'it has control characters'
    scheme = _SCHEME.match(text)
    rest = text[scheme.end():] if scheme else text
    if not rest.startswith('/'):
        return '' if scheme else 'it does not begin with https://'
    rest = rest.partition('?')[0]
    if scheme and rest.startswith('//') and not rest.startswith('///'):
        authority, _, path = rest[2:].partition('/')
        user, _, host = authority.rpartition('@')
        if not _USER.fullmatch(user):
            return 'the user has invalid characters'
        if not _HOST.fullmatch(host) or _HOST_PERCENT.search(host):
            return 'the host has invalid characters'
        if not _port(host):
            return 'the port is not a number'
        rest = authority + path
    return 'a percent sign is not followed by a code' if (
        _PERCENT.search(rest)) else ''


def _port(host):
    name, colon, port = host.rpartition(':')
    if host.startswith('['):
        return ']' in host and host.rpartition(']')[2].lstrip(
            ':').isdecimal() or host.endswith(']')
    return not colon or not port or (port.isascii() and port.isdecimal())


def email_problem(text) -> str:
    """Why it is no e-mail address (RFC 5322), empty if it is one."""
    return '' if _EMAIL.fullmatch(text) else (
        'the form is name@example.org')
