# SPDX-License-Identifier: Apache-2.0

"""PRODUCT.yaml: its required content, and the lines that violate it. Pure.

Fields: instructions.md of cncf/k8s-conformance. The bot accepts an address if
Go's ``url.ParseRequestURI`` and ``mail.ParseAddress`` do.
"""

import dataclasses
import email.utils
import re
import types
import typing
from urllib import parse as urls

import yaml

NAME = 'PRODUCT.yaml'
#: No description of a product is longer, or has more brackets: PyYAML takes
#: seconds for thousands.
MOST_BYTES, _BRACKETS = 64 << 10, 1000

REQUIRED = ('vendor', 'name', 'version', 'type', 'description', 'website_url',
            'documentation_url', 'contact_email_address')
URLS = ('website_url', 'repo_url', 'documentation_url', 'product_logo_url')
#: Addresses that must answer with a web page.
PAGES = ('website_url', 'repo_url', 'documentation_url')
EMAIL = 'contact_email_address'
LOGO = 'product_logo_url'
TYPES = ('distribution', 'hosted platform', 'installer')
PIXELS = ('.png', '.jpg', '.jpeg', '.gif', '.webp')

_CONTROL = re.compile(r'[\x00-\x1f\x7f]')
#: Characters that Go refuses in front of a path.
_NO_HOST = re.compile(r'[\s{}|\\^`]|%[0-7]')
_PERCENT = re.compile(r'%(?![0-9A-Fa-f]{2})')
_LOCAL = re.compile(r'"[^"\\\n]*"|[^\s@"(),:;<>\[\]\\.]+'
                    r'(?:\.[^\s@"(),:;<>\[\]\\.]+)*')
_DOMAIN = re.compile(r'\[[^\[\]\s]*\]|[^\s@"(),:;<>\[\]\\.]+'
                     r'(?:\.[^\s@"(),:;<>\[\]\\.]+)*')


#: Why a file cannot be read, and the number of the line, None if unknown.
Broken: typing.TypeAlias = tuple[str, int | None]


@dataclasses.dataclass(frozen=True)
class Field:
    """A field: its value, None for null, and the number of its line."""

    value: str | None
    line: int


@dataclasses.dataclass(frozen=True)
class Product:
    """The content of a PRODUCT.yaml.

    :param fields: by name.
    :param broken: None if it is a YAML mapping.
    :param nested: names of fields that are lists or mappings.
    :param twice: names of duplicate fields; the last value counts.
    """

    fields: typing.Mapping[str, Field] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))
    broken: Broken | None = None
    nested: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()

    def value(self, name: str) -> str:
        """Value of a field, empty if there is none."""
        field = self.fields.get(name)
        return (field.value or '').strip() if field else ''

    def line(self, name: str) -> int | None:
        """Number of a field's line, None if there is no such field."""
        field = self.fields.get(name)
        return field.line if field else None


def parse(content: bytes) -> Product:
    """Read a PRODUCT.yaml without constructing objects from it."""
    root, broken = compose(content)
    return Product(broken=broken) if broken else _fields(root)


def compose(content: bytes
            ) -> tuple[yaml.MappingNode | None, Broken | None]:
    """The node of a YAML mapping, or why it is none.

    Nothing is constructed from it.
    """
    if len(content) > MOST_BYTES:
        return None, (f'it is longer than {MOST_BYTES} bytes', None)
    try:
        text = content.decode('utf-8-sig')
        if text.count('[') + text.count('{') > _BRACKETS:
            raise RecursionError
        # No alias is expanded.
        root = yaml.compose(_without_end(text), yaml.SafeLoader)
    except UnicodeDecodeError as e:
        line = content[:e.start].count(b'\n') + 1
        return None, ('it is not UTF-8', line)
    except RecursionError:
        return None, ('it is nested too deeply', None)
    except yaml.YAMLError as e:
        mark = getattr(e, 'problem_mark', None)
        problem = getattr(e, 'problem', None) or str(e)
        return None, (f'it is not YAML: {problem}',
                      mark.line + 1 if mark else None)
    if not isinstance(root, yaml.MappingNode):
        return None, ('it is not a mapping of fields to values', 1)
    return root, None


def _without_end(text: str) -> str:
    """The text without a "---" at its end: an empty document follows."""
    return re.sub(r'\n---\s*\Z', '\n', text)


def _fields(root: yaml.MappingNode) -> Product:
    fields: dict[str, Field] = {}
    nested, twice = [], []
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            return Product(broken=('the name of a field is not a word', line))
        name = key.value
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


def url_problem(text: str) -> str:
    """Why it is neither a URL nor an absolute path; empty if it is one."""
    if _CONTROL.search(text):
        return 'it has control characters'
    if text[:1].isspace():
        return 'it begins with a blank'
    try:
        parts = urls.urlsplit(text)
        # Reading it checks it.
        parts.port  # noqa: B018
    except ValueError as e:
        return f'{e}'.lower()
    if not parts.scheme and not text.startswith('/'):
        return 'it does not begin with https://'
    if _NO_HOST.search(parts.netloc):
        return 'the host has invalid characters'
    if parts.netloc and _PERCENT.search(parts.netloc + parts.path):
        return 'a percent sign is not followed by a code'
    return ''


def email_problem(text: str) -> str:
    """Why it is no e-mail address (RFC 5322), empty if it is one."""
    found = email.utils.getaddresses([text])
    address = found[0][1] if len(found) == 1 else ''
    local, at, domain = address.rpartition('@')
    if (at and address in text and _LOCAL.fullmatch(local)
            and _DOMAIN.fullmatch(domain)):
        return ''
    return 'the form is name@example.org'
