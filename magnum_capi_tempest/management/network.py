# SPDX-License-Identifier: Apache-2.0

"""An exclusive 127.x network for one run.

Two sandboxes on a machine must not collide: each takes a whole 127.x.0.0/16.
While a run starts, it claims its network with a bound socket whose name is in
Linux's abstract namespace (unix(7)). Such a name belongs to the network
namespace, as loopback addresses do: all users, homes and caches of the machine
share it. It needs no file, and disappears with its process, however that died.

Once a run has started, its listening sockets show that its network is taken,
on any address: each cluster of a run has its own. So do leftovers of a killed
run.
"""

import collections.abc
import contextlib
import dataclasses
import errno
import socket

from magnum_capi import errors
from magnum_capi_tempest import listeners

#: Second numbers of the networks to try, in this order. Distributions use
#: lower ones themselves (127.0.0.53, 127.0.1.1).
NUMBERS = range(77, 127)


@dataclasses.dataclass
class Network:
    """A network that this process has claimed until :meth:`release`.

    :param prefix: ``127.77``.
    """

    prefix: str
    _claim: socket.socket = dataclasses.field(repr=False)

    @property
    def address(self) -> str:
        """The address of the run's servers."""
        return f'{self.prefix}.0.1'

    @property
    def cidr(self) -> str:
        return f'{self.prefix}.0.0/16'

    def release(self) -> None:
        """Give up the claim; listeners keep the network."""
        self._claim.close()

    def __enter__(self) -> 'Network':
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()


def allocate(ports: collections.abc.Iterable[int],
             numbers: collections.abc.Iterable[int] = NUMBERS) -> Network:
    """Claim the first free network.

    :param ports: port numbers that must be free on its first address.
    :param numbers: the second numbers to try; a list of one asks for that
        network or none.
    :returns: a claimed :class:`Network`, a context manager. Its programs must
        listen before it is released.
    :raises EnvironmentProblem: none is free, or a port is taken on every
        address; names the port and, if /proc shows it, the program.
    """
    refused = []
    for number in numbers:
        network = _claimed(f'127.{number}')
        if network is None:
            refused.append(f'127.{number}: another run starts there')
            continue
        try:
            other = _met(network, ports)
        except BaseException:
            network.release()
            raise
        if other is None:
            return network
        network.release()
        refused.append(f'{network.prefix}: {other}')
    raise errors.EnvironmentProblem(
        'No loopback network is free',
        last_seen='; '.join(refused[:3]) + (
            f' and {len(refused) - 3} more' if len(refused) > 3 else ''),
        hint='Take a sandbox or management cluster down, or choose other '
             'ports')


def claim(address: str) -> Network:
    """Claim the network of a run that existed before, to start it again.

    :param address: one of the network's.
    :returns: a context manager.
    :raises EnvironmentProblem: another run starts there.
    """
    prefix = '.'.join(address.split('.')[:2])
    network = _claimed(prefix)
    if network is None:
        raise errors.EnvironmentProblem(
            'Another run starts on the same loopback network',
            where=f'{prefix}.0.0/16',
            hint='Try again when it is up: if it keeps the network, take one '
                 'of them down')
    return network


def require_free(address: str, ports: collections.abc.Iterable[int]) -> None:
    """Make sure that programs can listen on these ports.

    :raises EnvironmentProblem: names the first port that is taken, and the
        program that listens there.
    """
    busy = _first_busy(address, ports)
    if busy is not None:
        raise errors.EnvironmentProblem(
            f'Port {busy} is taken by {_holder(busy, address)}',
            where=f'{address}:{busy}',
            hint='Stop that program or use other ports')


def _claimed(prefix: str) -> Network | None:
    """A network, None if another process has claimed it."""
    with contextlib.ExitStack() as undo:
        mine = undo.enter_context(socket.socket(socket.AF_UNIX))
        try:
            mine.bind(f'\0magnum-capi-network-{prefix}')
        except OSError as e:
            if e.errno != errno.EADDRINUSE:
                raise
            return None
        undo.pop_all()
    return Network(prefix, mine)


def _met(network: Network, ports: collections.abc.Iterable[int]) -> str | None:
    """Why a network is not free, for a message; None if it is."""
    for found in listeners.listening():
        if found.address.startswith(f'{network.prefix}.'):
            return (f'port {found.port} of {found.address} is taken by '
                    f'{found.holder}')
    busy = _first_busy(network.address, ports)
    return None if busy is None else (
        f'port {busy} of {network.address} is taken by '
        f'{_holder(busy, network.address)}')


def _first_busy(
        address: str, ports: collections.abc.Iterable[int]) -> int | None:
    """The first port that cannot be bound, None when all can.

    :raises EnvironmentProblem: a listener on all addresses has it, so that
        other networks would not help.
    """
    for port in ports:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # Ignore connections in TIME_WAIT, but not listeners on this
            # address or on all: see ip(7), SO_REUSEADDR.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
                # With SO_REUSEADDR two may bind, but only one may listen.
                probe.listen(1)
            except OSError as e:
                if e.errno != errno.EADDRINUSE:
                    raise errors.EnvironmentProblem(
                        f'Cannot listen: {e.strerror}',
                        where=f'{address}:{port}') from e
            else:
                continue
        everywhere = [found for found in listeners.listening()
                      if found.port == port and found.wildcard]
        if everywhere:
            raise errors.EnvironmentProblem(
                f'Port {port} is taken on all addresses by '
                f'{everywhere[0].holder}',
                where=f'{everywhere[0].address}:{port}',
                hint='Stop that program or use other ports')
        return port
    return None


def _holder(port: int, address: str) -> str:
    for found in listeners.listening():
        if found.port == port and found.address == address:
            return found.holder
    return 'an unknown program'
