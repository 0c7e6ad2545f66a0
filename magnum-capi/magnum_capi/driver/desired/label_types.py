# SPDX-License-Identifier: Apache-2.0

"""The types of labels: which texts are valid, and what they mean.

Magnum's labels are texts. Each kind reads them strictly and says what it
accepts: a typo must not become a default, and no part of a user's text is
dropped. Charts write texts into YAML without quotes, so no kind accepts
characters that have a meaning there.
"""

import dataclasses
import ipaddress
import re
import typing
import uuid as uuid_lib

from magnum_capi.driver.desired import versions

_TRUE = frozenset(('true', 'yes', 'on', '1'))
_FALSE = frozenset(('false', 'no', 'off', '0'))
_WHOLE = re.compile(r'0|[1-9][0-9]{0,8}', re.ASCII).fullmatch
_SIZE = re.compile(r'(0|[1-9][0-9]{0,6})(?:G|GB|GiB)?', re.ASCII).fullmatch
_SEPARATORS = re.compile(r'[,\s]+', re.ASCII)
#: An OpenStack name that can be safe as an unquoted YAML string.
_NAME = re.compile(
    r'[A-Za-z0-9_](?:[A-Za-z0-9_./+@ -]{0,253}[A-Za-z0-9_./+@-])?',
    re.ASCII).fullmatch
#: All forms of numbers in YAML 1.1, and dates.
_NUMBERISH = re.compile(
    r'0[xXoObB][0-9a-fA-F_]*|[0-9][0-9_.]*(?:[eE][+-]?[0-9_.]*)?'
    r'|[0-9]{4}-[0-9].*', re.ASCII).fullmatch
#: A value of an argument: sizes, percentages, lists of them.
_VALUE = re.compile(r'[A-Za-z0-9.,%<=:-]{1,253}', re.ASCII).fullmatch
_YAML_WORDS = frozenset((
    'true', 'false', 'yes', 'no', 'on', 'off', 'null', 'y', 'n'))


class LabelType(typing.Protocol):
    """The type of a label's values."""

    @property
    def form(self) -> str:
        """What it accepts, for messages."""

    def read(self, text: str) -> typing.Any:
        """The value of a text.

        :raises ValueError: it is not accepted; the message may say why.
        """


def plain(text: str) -> bool:
    """Whether YAML reads an unquoted text as exactly that string.

    Charts write flavors, keypairs and volume types without quotes: "2" would
    be a number, "yes" a boolean, and a line break would be another key.
    """
    return (bool(_NAME(text)) and text.lower() not in _YAML_WORDS
            and not _NUMBERISH(text))


class Bool:
    """The words that Magnum's own reader (oslo.utils) accepts."""

    form = 'true or false (also yes/no, on/off, 1/0)'

    def read(self, text: str) -> bool:
        word = text.lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise ValueError


@dataclasses.dataclass(frozen=True)
class Int:
    """A whole number within bounds."""

    low: int = 0
    high: int = 999999999

    @property
    def form(self) -> str:
        return f'a whole number from {self.low} to {self.high}'

    def read(self, text: str) -> int:
        if not _WHOLE(text) or not self.low <= int(text) <= self.high:
            raise ValueError
        return int(text)


@dataclasses.dataclass(frozen=True)
class Size:
    """Gibibytes, as Cinder counts them."""

    low: int = 0
    high: int = 65536

    @property
    def form(self) -> str:
        return (f'a size in GiB from {self.low} to {self.high}, like 20 or '
                '20G')

    def read(self, text: str) -> int:
        match = _SIZE(text)
        if not match or not self.low <= int(match[1]) <= self.high:
            raise ValueError
        return int(match[1])


@dataclasses.dataclass(frozen=True)
class Enum:
    """One of some words; their case counts."""

    words: tuple[str, ...]

    @property
    def form(self) -> str:
        return 'one of ' + ', '.join(self.words)

    def read(self, text: str) -> str:
        if text not in self.words:
            raise ValueError
        return text


class Name:
    """A name of a thing in OpenStack."""

    form = ('a name of letters, digits, spaces and _./+@- that YAML does '
            'not read as something else (like 1.0, yes, null)')

    def read(self, text: str) -> str:
        if not plain(text):
            raise ValueError
        return text


class Names:
    """Several names or uuids, each once.

    Magnum's command line splits labels at commas, so spaces separate, too.
    """

    form = 'names or uuids, separated by commas or spaces'

    def read(self, text: str) -> tuple[str, ...]:
        found = tuple(filter(None, _SEPARATORS.split(text)))
        if not found or len(set(found)) < len(found):
            raise ValueError
        for name in found:
            if not (plain(name) or is_uuid(name)):
                raise ValueError(f'{name!r} is neither')
        return found


@dataclasses.dataclass(frozen=True)
class Text:
    """A text that matches a pattern. For values that charts quote."""

    pattern: str
    form: str

    def read(self, text: str) -> str:
        if len(text) > 253 or not re.fullmatch(self.pattern, text, re.ASCII):
            raise ValueError
        return text


@dataclasses.dataclass(frozen=True)
class Texts:
    """Several texts that match a pattern, each once."""

    pattern: str
    what: str

    @property
    def form(self) -> str:
        return f'{self.what}, separated by commas or spaces'

    def read(self, text: str) -> tuple[str, ...]:
        found = tuple(filter(None, _SEPARATORS.split(text)))
        if not found:
            raise ValueError
        for one in found:
            if not self._is_one(one):
                raise ValueError(f'{one!r} is none')
        return tuple(dict.fromkeys(found))

    def _is_one(self, text: str) -> bool:
        return len(text) <= 253 and bool(
            re.fullmatch(self.pattern, text, re.ASCII))


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Several names out of a list, each once, with values.

    Values may contain commas, so only spaces separate pairs.
    """

    names: tuple[str, ...]

    @property
    def form(self) -> str:
        return ('name=value, separated by spaces, with the names '
                + ', '.join(self.names))

    def read(self, text: str) -> tuple[tuple[str, str], ...]:
        found: dict[str, str] = {}
        for pair in text.split():
            name, is_pair, value = pair.partition('=')
            if name not in self.names:
                raise ValueError(f'{name!r} is not one of the names')
            if not is_pair or not _VALUE(value):
                raise ValueError(f'{name} has no valid value')
            if name in found:
                raise ValueError(f'{name} is there twice')
            found[name] = value
        if not found:
            raise ValueError
        return tuple(sorted(found.items()))


class Uuid:
    """A uuid, with its dashes."""

    form = 'a uuid'

    def read(self, text: str) -> str:
        if not is_uuid(text):
            raise ValueError
        return text.lower()


#: A lower-case DNS name (RFC 1123).
DOMAIN = r'[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*'


class Hosts(Texts):
    """DNS names, whose first part may be *, or addresses."""

    def __init__(self) -> None:
        super().__init__(rf'(\*\.)?{DOMAIN}', 'DNS names or addresses')

    def _is_one(self, text: str) -> bool:
        if re.fullmatch(r'[0-9.]+|.*:.*', text):
            try:
                return bool(ipaddress.ip_address(text))
            except ValueError:
                return False
        return super()._is_one(text)


class Address:
    """An IPv4 address."""

    form = 'an address like 192.0.2.7'

    def read(self, text: str) -> str:
        return str(ipaddress.IPv4Address(text))


class Cidr:
    """A network of nodes, pods, Services or users. IPv4."""

    form = 'a network like 10.0.0.0/24'

    def read(self, text: str) -> str:
        if '/' not in text:
            raise ValueError
        return _refuse_ipv6(str(_network(text)))


class Cidrs:
    """Networks or addresses of IPv4, each once, as networks.

    They are compared with addresses that are IPv4, as clusters are.
    """

    form = ('networks like 192.0.2.0/24 or single addresses, separated by '
            'commas or spaces')

    def read(self, text: str) -> tuple[str, ...]:
        found = tuple(filter(None, _SEPARATORS.split(text)))
        if not found:
            raise ValueError
        return tuple(dict.fromkeys(
            _refuse_ipv6(str(_network(one))) for one in found))


class KubernetesVersion:
    """A version of Kubernetes, kept as it is."""

    form = versions.FORM

    def read(self, text: str) -> str:
        if not versions.is_version(text):
            raise ValueError
        return text


class ChartVersion:
    """A chart's version, without "v"."""

    form = 'a version of a chart like 0.27.0'

    def read(self, text: str) -> str:
        if text.startswith('v') or not versions.is_version(text):
            raise ValueError
        return text


def is_uuid(text: str) -> bool:
    """Whether a text is a uuid with its dashes."""
    try:
        return str(uuid_lib.UUID(text)) == text.lower()
    except (AttributeError, ValueError):
        return False


def _refuse_ipv6(network: str) -> str:
    if ':' in network:
        raise ValueError(f'{network!r} is a network of IPv6; clusters have '
                         'networks of IPv4')
    return network


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        try:
            meant = ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise ValueError(f'{text!r} is not a network') from None
        raise ValueError(f'{text!r} has bits of a host, write {meant}'
                         ) from None
