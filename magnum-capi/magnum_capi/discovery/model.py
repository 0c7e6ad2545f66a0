# SPDX-License-Identifier: Apache-2.0
"""Data of a decision and its inputs; only types, no rules.

Values of images and templates come from users, so texts show them with
:func:`shown`.
"""

import collections.abc
import dataclasses
import enum
import re
import types
import typing

_PLAIN = re.compile(r'[\w.:+/-]{1,64}', re.ASCII).fullmatch
_UUID = re.compile(
    '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}').fullmatch
_MAX_VALUE = 64
_MAX_LINE = 200
#: Limit of names or cluster types in a message; the rest is counted.
_MAX_LISTED = 24


def is_uuid(ident: str) -> bool:
    """Whether a text can be an id; otherwise it is a name."""
    return _UUID(ident) is not None


def shown(value: object) -> str:
    """A value that is safe in messages and logs: quoted, short, printable.

    Control characters, quotes and everything but ASCII are escaped. The result
    is cut after 64 characters; it has 69 at most.
    """
    return f"'{_bare(value)}'"


def plain(text: object) -> str:
    """A text of a third party, such as an error message, on one line.

    Whitespace becomes single blanks; everything but printable ASCII is
    escaped; at most 203 characters.
    """
    return _cut(' '.join(str(text).split()), _MAX_LINE)


def listed(values: collections.abc.Sequence[object]) -> str:
    """Names or cluster types in a message; a long list is cut."""
    texts = [str(value) if isinstance(value, ClusterType) else _bare(value)
             for value in values[:_MAX_LISTED]]
    if len(values) > _MAX_LISTED:
        texts[-1] += f' and {len(values) - _MAX_LISTED} more'
    return ', '.join(texts)


def subject(kind: str, name: str | None, identifier: str) -> str:
    """A kind of object, with the name and identifier of one."""
    identifier = listed([identifier])
    return (f'{kind} {listed([name])} ({identifier})' if name
            else f'{kind} {identifier}')


def _bare(value: object) -> str:
    text = str(value)
    return text if _PLAIN(text) else _cut(text, _MAX_VALUE, quote="'")


def _cut(text: str, longest: int, quote: str = '') -> str:
    pieces: list[str] = []
    for character in text:
        piece = r'\x27' if character == quote else character.encode(
            'unicode_escape').decode('ascii')
        longest -= len(piece)
        if longest < 0:
            return ''.join(pieces) + '...'
        pieces.append(piece)
    return ''.join(pieces)


class ClusterType(typing.NamedTuple):
    """What Magnum matches drivers by."""

    server_type: str
    os: str
    coe: str

    def __str__(self) -> str:
        return f'({", ".join(map(_bare, self))})'


@dataclasses.dataclass(frozen=True)
class Offer:
    """An installed driver, usable or not.

    :param name: of its entry point.
    :param types: cluster types that it provides.
    :param beta: it must be enabled by [drivers]enabled_beta_drivers.
    :param error: why it cannot be loaded; then it provides nothing.
    :param origin: distribution and version, ``magnum-capi-helm 1.4.0``.
    """

    name: str
    types: tuple[ClusterType, ...] = ()
    beta: bool = False
    error: str | None = None
    origin: str = ''


class Mode(enum.Enum):
    """Which of several drivers is chosen when nothing names one."""

    #: None: the request is refused as ambiguous.
    STRICT = 'strict'
    #: The first by name, as in cluster-template-driver-selection.
    HIBISCUS = 'hibiscus'


@dataclasses.dataclass(frozen=True)
class Policy:
    """The options in magnum.conf that choose drivers.

    :param mode: of [k8s_discovery], the others are of [drivers].
    """

    default_driver: str | None = None
    disabled_drivers: frozenset[str] = frozenset()
    enabled_beta_drivers: frozenset[str] = frozenset()
    mode: Mode = Mode.STRICT


class State(enum.Enum):
    """Whether a driver can be chosen."""

    USABLE = 'usable'
    DISABLED = 'disabled'
    BETA = 'beta, not enabled'
    BROKEN = 'broken'


class Catalog:
    """The drivers of a Magnum under a policy; immutable.

    :param offers: in the order in which Magnum enumerates entry points. The
        order does not affect decisions, only what an unmodified Magnum does.
    :ivar by_name: offers by the names of their entry points.
    :ivar states: :class:`State` of each of them.
    :ivar offered: text for messages: what usable drivers provide.
    """

    def __init__(self, offers: collections.abc.Iterable[Offer],
                 policy: Policy = Policy()) -> None:
        self.offers = tuple(offers)
        self.policy = policy
        self.by_name = types.MappingProxyType(
            {offer.name: offer for offer in self.offers})
        if len(self.by_name) != len(self.offers):
            raise ValueError('Two offers have one name')
        self.states = types.MappingProxyType(
            {offer.name: self._state(offer) for offer in self.offers})
        self._providers = self._index(State.USABLE)
        self._waiting = self._index(State.BETA)
        self.offered = self._offered()

    def _index(self, state: State) -> dict[ClusterType, tuple[str, ...]]:
        found: dict[ClusterType, list[str]] = {}
        for name in sorted(self.by_name):
            if self.states[name] is state:
                for cluster_type in dict.fromkeys(self.by_name[name].types):
                    found.setdefault(cluster_type, []).append(name)
        return {t: tuple(names) for t, names in found.items()}

    def _offered(self) -> str:
        return listed(sorted(self._providers)) or 'nothing'

    def _state(self, offer: Offer) -> State:
        # Disabled drivers are not loaded, so nothing else is known of them.
        if offer.name in self.policy.disabled_drivers:
            return State.DISABLED
        if offer.error is not None:
            return State.BROKEN
        if offer.beta and offer.name not in self.policy.enabled_beta_drivers:
            return State.BETA
        return State.USABLE

    def providers(self, cluster_type: ClusterType) -> tuple[str, ...]:
        """Names of the usable drivers that provide a type, sorted."""
        return self._providers.get(cluster_type, ())

    def beta_providers(self, cluster_type: ClusterType) -> tuple[str, ...]:
        """Names of beta drivers that would provide a type if enabled."""
        return self._waiting.get(cluster_type, ())


def _property(properties: collections.abc.Mapping[str, typing.Any],
              name: str) -> str | None:
    return str(properties.get(name) or '').strip() or None


@dataclasses.dataclass(frozen=True)
class ImageProperties:
    """What a Glance image says about drivers; None: nothing.

    :param magnum_distro: operating system, for Magnum's use.
    :param os_distro: operating system, by its name in libosinfo.
    :param magnum_driver: name of a driver.
    """

    magnum_distro: str | None = None
    os_distro: str | None = None
    magnum_driver: str | None = None

    @classmethod
    def of(cls, properties: collections.abc.Mapping[str, typing.Any],
           ) -> 'ImageProperties':
        """Read properties; values are stripped, blank ones are None."""
        return cls(*(_property(properties, name) for name in (
            'magnum_distro', 'os_distro', 'magnum_driver')))


@dataclasses.dataclass(frozen=True)
class Request:
    """A request for a cluster template.

    :param driver: the template's explicit choice.
    """

    image: ImageProperties
    server_type: str = 'vm'
    coe: str = 'kubernetes'
    driver: str | None = None


class Step(enum.Enum):
    """The possible sources of a decision, in their order."""

    DISTRO = 'distro'
    TEMPLATE = 'template'
    IMAGE = 'image'
    SOLE_PROVIDER = 'sole provider'
    DEFAULT = 'default'
    FIRST = 'first by name'


class Reason(typing.NamedTuple):
    """The result of one step, a clause without a full stop."""

    step: Step
    text: str


class Kind(enum.Enum):
    """Why there is no driver."""

    NO_DISTRO = 'no distro'
    UNKNOWN = 'unknown driver'
    DISABLED = 'disabled driver'
    BETA = 'beta driver'
    BROKEN = 'broken driver'
    MISMATCH = 'driver does not provide the type'
    AMBIGUOUS = 'ambiguous'
    NOT_SUPPORTED = 'not supported'


class Refusal(typing.NamedTuple):
    """Why there is no driver, and what to do.

    :param text: a sentence without its full stop.
    :param hint: sentences.
    :param candidates: drivers to choose from.
    """

    kind: Kind
    text: str
    hint: str
    candidates: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f'{self.text}. {self.hint}'


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """A driver, or a refusal, and its reasons.

    :param cluster_type: None when the operating system is unknown.
    :param reasons: one for each step, in order.
    :param deprecated: the operating system came from os_distro.
    """

    cluster_type: ClusterType | None
    driver: str | None
    refusal: Refusal | None
    reasons: tuple[Reason, ...]
    deprecated: bool = False

    def __post_init__(self) -> None:
        if (self.driver is None) == (self.refusal is None):
            raise ValueError('Either a driver or a refusal')

    @property
    def by_name(self) -> bool:
        """Whether the driver was chosen only because of its name."""
        return bool(self.reasons) and self.reasons[-1].step is Step.FIRST

    @property
    def os(self) -> str | None:
        """The operating system, None if unknown."""
        return self.cluster_type and self.cluster_type.os
