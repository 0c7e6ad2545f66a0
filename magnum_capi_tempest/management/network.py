# SPDX-License-Identifier: Apache-2.0

"""An exclusive 127.x network for one run.

Two sandboxes on a machine must not collide: each takes a whole 127.x.0.0/16.
A network is taken while its lock file is locked with flock(2), because such a
lock ends with its last holder, however that died. The locks are shared:
:func:`allocate` makes sure that there is no holder (with an exclusive lock for
a moment), then keeps a shared lock, and the program that lives as long as the
run (etcd) takes another shared lock before ours is released. So the network is
never without an owner, not even during the hand-over.

Locks are per cache folder. Runs of other users, and leftovers of killed runs,
are found by listening sockets on any address of the network: each cluster of a
run has its own address.
"""

import collections.abc
import dataclasses
import errno
import fcntl
import os
import pathlib
import socket

from magnum_capi import errors
from magnum_capi_tempest import listeners

#: Second numbers of the networks to try, in this order. Distributions use
#: lower ones themselves (127.0.0.53, 127.0.1.1).
NUMBERS = range(77, 127)


@dataclasses.dataclass
class Network:
    """A network that this process holds until :meth:`release`.

    :param prefix: ``127.77``.
    :param lock: file; a program that takes a shared flock(2) on it keeps
        holding the network.
    """

    prefix: str
    lock: pathlib.Path
    _descriptor: int | None = dataclasses.field(default=None, repr=False)

    @property
    def address(self) -> str:
        """The address of the run's servers."""
        return f'{self.prefix}.0.1'

    @property
    def cidr(self) -> str:
        return f'{self.prefix}.0.0/16'

    def release(self) -> None:
        """Release our lock; other holders keep the network."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> 'Network':
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()


def allocate(ports: collections.abc.Iterable[int],
             lock_directory: pathlib.Path,
             numbers: collections.abc.Iterable[int] = NUMBERS) -> Network:
    """Take the first free network.

    :param ports: port numbers that must be free on its first address.
    :param lock_directory: folder of the lock files, made when missing.
    :param numbers: the second numbers to try; a list of one asks for that
        network or none.
    :returns: a held :class:`Network`, a context manager.
    :raises EnvironmentProblem: none is free, or a port is taken on every
        address; names the port and, if /proc shows it, the program.
    """
    lock_directory = pathlib.Path(lock_directory)
    lock_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    refused = []
    for number in numbers:
        prefix = f'127.{number}'
        path = lock_directory / f'{prefix}.lock'
        descriptor = _hold(path)
        if descriptor is None:
            refused.append(f'{prefix}: in use by another run')
            continue
        network = Network(prefix, path, descriptor)
        try:
            other = _met(network, ports)
        except BaseException:
            network.release()
            raise
        if other is None:
            return network
        network.release()
        refused.append(f'{prefix}: {other}')
    raise errors.EnvironmentProblem(
        'No loopback network is free', where=str(lock_directory),
        last_seen='; '.join(refused[:3]) + (
            f' and {len(refused) - 3} more' if len(refused) > 3 else ''),
        hint='Take a sandbox or management cluster down, or choose other '
             'ports')


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


def taken(lock: pathlib.Path) -> bool:
    """Whether this lock is held exclusively."""
    with open(lock, 'rb') as f:
        try:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _hold(path: pathlib.Path) -> int | None:
    """A descriptor with a shared lock on ``path``, None if it is locked.

    flock(2) does not convert a lock atomically: another run may get the lock
    between the exclusive and the shared one. Then it has the network.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _met(network: Network, ports: collections.abc.Iterable[int]) -> str | None:
    """Why a network is not free, for a message; None if it is."""
    for found in listeners.listening():
        if found.address.startswith(f'{network.prefix}.'):
            return (f'port {found.port} of {found.address} is taken by '
                    f'{listeners.holder(found)}')
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
                f'{listeners.holder(everywhere[0])}',
                where=f'{everywhere[0].address}:{port}',
                hint='Stop that program or use other ports')
        return port
    return None


def _holder(port: int, address: str) -> str:
    for found in listeners.listening():
        if found.port == port and found.address == address:
            return listeners.holder(found)
    return 'an unknown program'
