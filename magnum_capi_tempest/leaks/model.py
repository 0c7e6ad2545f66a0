# SPDX-License-Identifier: Apache-2.0

"""Things in a cloud: what tests created, and what they left behind. Pure.
"""

import collections.abc
import dataclasses
import shlex
import typing
import uuid

CLUSTER = 'cluster'
TEMPLATE = 'cluster template'
CREDENTIAL = 'application credential'
TRUST = 'trust'
USER, PROJECT = 'user', 'project'
KEYPAIR = 'keypair'
IMAGE = 'image'
OBJECT = 'object of the management cluster'

PORT, VOLUME, BALANCER = 'port', 'volume', 'load balancer'
SECURITY_GROUP = 'security group'
ROUTER, NETWORK = 'router', 'network'

#: What a user of Magnum may have.
OWN = (CLUSTER, TEMPLATE, CREDENTIAL, TRUST)
#: Left by drivers that create servers in Nova.
REAL = ('server', 'server group', PORT, 'floating IP', ROUTER, NETWORK,
        SECURITY_GROUP, VOLUME, BALANCER)

#: What removes a thing, given its id, by kind. First what takes others along:
#: a cluster its servers, credentials and trusts; last what owns others.
_REMOVALS = {
    CLUSTER: 'openstack coe cluster delete',
    TEMPLATE: 'openstack coe cluster template delete',
    'server': 'openstack server delete',
    'server group': 'openstack server group delete',
    BALANCER: 'openstack loadbalancer delete --cascade',
    'floating IP': 'openstack floating ip delete',
    PORT: 'openstack port delete',
    ROUTER: 'openstack router delete',
    NETWORK: 'openstack network delete',
    SECURITY_GROUP: 'openstack security group delete',
    VOLUME: 'openstack volume delete',
    IMAGE: 'openstack image delete',
    KEYPAIR: 'openstack keypair delete',
    CREDENTIAL: 'openstack application credential delete',
    TRUST: 'openstack trust delete',
    USER: 'openstack user delete',
    PROJECT: 'openstack project delete',
    OBJECT: 'kubectl delete',
}
#: Length of a name that is certainly unique; Tempest's names are longer, but
#: there are tests of short ones.
_DISTINCTIVE = 16


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

    @property
    def removal(self) -> str:
        """The command that removes it, for a shell."""
        command = _REMOVALS[self.kind]
        if self.kind != OBJECT:
            return f'{command} {shlex.quote(self.ident)}'
        # As evidence.capi.Object prints it.
        kind, _, path = self.ident.partition(' ')
        namespace, _, name = path.rpartition('/')
        return (f'{command} --namespace {shlex.quote(namespace)} '
                f'{shlex.quote(kind)} {shlex.quote(name)}')

    def __str__(self) -> str:
        if self.name in ('', self.ident):
            return f'{self.kind} {self.ident}'
        return f'{self.kind} {self.name} ({self.ident})'


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What existed at one moment.

    :param unread: kinds that could not be read, and why; two snapshots that
        are compared are of the same kinds.
    """

    things: frozenset[Thing] = frozenset()
    unread: typing.Mapping[str, str] = dataclasses.field(default_factory=dict)

    def union(self, other: 'Snapshot') -> 'Snapshot':
        """Return what both contain."""
        return Snapshot(self.things | other.things,
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

    def words(self) -> tuple[str, ...]:
        """Return what other things may be named after: its ids and name."""
        found = [self.ident, self.stack_id]
        if len(self.name) >= _DISTINCTIVE:
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

    def __str__(self) -> str:
        return (f'{self.thing}, owner: {self.owner}, left by: '
                f'{self.test or "unknown, no test recorded it"}')


@dataclasses.dataclass(frozen=True)
class Left:
    """What a run left behind.

    :param leaks: sorted.
    :param unknown: sentences about what could not be listed.
    :param unlisted: kinds that could be listed before the run, or that its
        tests created, and that cannot be listed after it.
    :param gone: the cloud does not exist any more.
    """

    leaks: tuple[Leak, ...]
    unknown: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    gone: bool = False

    @property
    def clean(self) -> bool:
        """Whether it is certain that nothing was left behind."""
        return not self.leaks and not self.unlisted

    @property
    def exit_code(self) -> int:
        """Of the command line: 0 nothing is left, 1 something, 3 unknown."""
        return 1 if self.leaks else 3 if self.unlisted else 0

    @property
    def commands(self) -> list[str]:
        """Commands that remove the leaks, in the order to run them in."""
        return [leak.thing.removal for leak in sorted(
            self.leaks, key=lambda leak: (
                list(_REMOVALS).index(leak.thing.kind), leak))]

    def __str__(self) -> str:
        lines = []
        if self.leaks:
            lines += [
                f'{len(self.leaks)} left behind:', *_indented(self.leaks)]
        if self.leaks and not self.gone:
            lines += [
                'Commands that remove it, in this order; wait for the '
                'clusters to go before the others:',
                *_indented(self.commands)]
        if self.unknown:
            lines += [f'{len(self.unknown)} not compared:',
                      *_indented(self.unknown)]
        if self.unlisted:
            lines.append('It is unknown what is left of: '
                         + ', '.join(self.unlisted))
        return '\n'.join([*lines, 'Leaks: none'] if self.clean else lines)


def _indented(lines: collections.abc.Iterable[object]
              ) -> collections.abc.Iterator[str]:
    return (f'  {line}' for line in lines)
