# SPDX-License-Identifier: Apache-2.0

"""Things in a cloud: what tests created, and what they left behind. Pure.
"""

import dataclasses
import typing
import uuid

CLUSTER = 'cluster'
TEMPLATE = 'cluster template'
CREDENTIAL = 'application credential'
TRUST = 'trust'
USER = 'user'
OBJECT = 'object of the management cluster'

PORT, VOLUME, BALANCER = 'port', 'volume', 'load balancer'
SECURITY_GROUP = 'security group'

#: Left by drivers that create servers in Nova.
REAL = ('server', 'server group', PORT, 'floating IP', 'router', 'network',
        SECURITY_GROUP, VOLUME, BALANCER)

#: Length of a name that is certainly unique; Tempest's names are longer, but
#: there are tests of short ones.
_TELLING = 16


@dataclasses.dataclass(frozen=True, order=True)
class Thing:
    """Something in a cloud.

    :param ident: identifies it among others of its kind.
    :param project: id of the project it belongs to, if known.
    :param user: id of the user it belongs to, if known.
    :param about: its description, tags, metadata and device, one text.
    """

    kind: str
    ident: str
    name: str = ''
    project: str = ''
    user: str = ''
    about: str = ''

    def __str__(self):
        if self.name in ('', self.ident):
            return f'{self.kind} {self.ident}'
        return f'{self.kind} {self.name} ({self.ident})'


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What existed at one moment.

    :param kinds: those that could be read.
    :param unread: what could not be read, and why.
    """

    things: frozenset[Thing] = frozenset()
    kinds: frozenset[str] = frozenset()
    unread: typing.Mapping[str, str] = dataclasses.field(default_factory=dict)

    def union(self, other):
        """Return the union of both."""
        return Snapshot(self.things | other.things, self.kinds | other.kinds,
                        {**self.unread, **other.unread})


@dataclasses.dataclass(frozen=True, order=True)
class Made:
    """Something that a test created on purpose.

    :param kind: as in Thing.
    :param test: id of the test, or of its class.
    :param project: id of the project in which it was created.
    :param user: id of the user who created it.
    :param stack_id: of a cluster, once Magnum has shown it.
    """

    kind: str
    ident: str
    name: str
    test: str
    project: str = ''
    user: str = ''
    stack_id: str = ''

    def words(self):
        """Return what other things may be named after: its ids and name."""
        found = [self.ident, self.stack_id]
        if len(self.name) >= _TELLING:
            found.append(self.name)
        try:
            found.append(uuid.UUID(self.ident).hex)
        except ValueError:
            pass
        return tuple(word for word in dict.fromkeys(found) if word)


@dataclasses.dataclass(frozen=True, order=True)
class Leak:
    """Something that should be gone.

    :param test: id of the test that left it behind; empty if unknown.
    :param owner: in words.
    """

    thing: Thing
    test: str
    owner: str

    def __str__(self):
        return (f'{self.thing}, owner: {self.owner}, left by: '
                f'{self.test or "unknown, no test recorded it"}')


@dataclasses.dataclass(frozen=True)
class Left:
    """What a run left behind.

    :param leaks: those that count.
    :param others: those that no test of the run recorded; other users may
        work in this cloud.
    :param unknown: sentences about what could not be compared.
    :param unlisted: kinds that could be listed before the run, and not after
        it.
    """

    leaks: tuple[Leak, ...]
    others: tuple[Leak, ...]
    unknown: tuple[str, ...]
    unlisted: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether it is certain that nothing was left behind."""
        return not self.leaks and not self.unlisted

    def __str__(self):
        lines = []
        for what, items in (
                ('left behind', self.leaks),
                ('new, but not from a test of this run', self.others),
                ('not compared', self.unknown)):
            if items:
                lines += [f'{len(items)} {what}:',
                          *(f'  {item}' for item in items)]
        if self.unlisted:
            lines.append('It is unknown what is left of: '
                         + ', '.join(self.unlisted))
        return '\n'.join([*lines, 'Leaks: none'] if self.clean else lines)
