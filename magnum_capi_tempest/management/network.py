# SPDX-License-Identifier: Apache-2.0

"""A 127.x network for one run, and for nobody else meanwhile.

Two sandboxes on a machine must not meet: each takes a whole 127.x.0.0/16.
Which ones are taken is known by flock(2) on one file per network, because
such a lock ends with its last holder, however that died. The locks are
shared ones: :func:`allocate` makes sure that nobody holds any (an exclusive
lock for a moment), keeps a shared one, and the program that lives as long
as the run (etcd) takes a shared one of its own before ours is given up. So
the network is never without an owner, not even during the hand-over.

Locks are per cache folder. Runs of other users, and whatever a run left when
it was killed, are found by the sockets that listen in the network, on any of
its addresses: the clusters of a run have one each.
"""

import dataclasses
import errno
import fcntl
import os
import pathlib
import socket

from magnum_capi import errors
from magnum_capi_tempest import listeners

#: Second number of the networks that are tried, in this order. Below are
#: those that distributions use themselves (127.0.0.53, 127.0.1.1).
NUMBERS = range(77, 127)


@dataclasses.dataclass
class Network:
    """A network that this process holds until :meth:`release`.

    :param prefix: ``127.77``.
    :param lock: file that a program takes a shared flock(2) on to go on
        holding the network.
    """

    prefix: str
    lock: pathlib.Path
    _descriptor: int | None = dataclasses.field(default=None, repr=False)

    @property
    def address(self) -> str:
        """The address for the servers of the run."""
        return f'{self.prefix}.0.1'

    @property
    def cidr(self) -> str:
        return f'{self.prefix}.0.0/16'

    def release(self):
        """Let go; whoever else took the lock keeps the network."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.release()


def allocate(ports, lock_directory, numbers=NUMBERS) -> Network:
    """Take the first free network.

    :param ports: port numbers that must be free on its first address.
    :param lock_directory: folder of the lock files, made when missing.
    :param numbers: the second numbers to try; a list of one asks for this
        network or none.
    :returns: a held :class:`Network`, a context manager.
    :raises EnvironmentProblem: none is free, or a port is taken on every
        address; names the port and who has it, as far as /proc tells.
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


def require_free(address, ports):
    """Make sure that programs can listen on these ports.

    :raises EnvironmentProblem: names the first port that is taken, and by
        whom.
    """
    busy = _first_busy(address, ports)
    if busy is not None:
        raise errors.EnvironmentProblem(
            f'Port {busy} is taken by {_holder(busy, address)}',
            where=f'{address}:{busy}',
            hint='Stop that program or use other ports')


def taken(lock) -> bool:
    """Whether somebody holds this lock for himself alone."""
    with open(lock, 'rb') as f:
        try:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _hold(path):
    """A descriptor with a shared lock on ``path``, None if others have it.

    flock(2) does not convert a lock in one go: somebody may slip in between
    the exclusive and the shared one. Then the network is theirs.
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


def _met(network, ports):
    """Whom a run would meet in a network, for a message; None when nobody."""
    for found in listeners.listening():
        if found.address.startswith(f'{network.prefix}.'):
            return (f'port {found.port} of {found.address} is taken by '
                    f'{listeners.holder(found)}')
    busy = _first_busy(network.address, ports)
    return busy and (f'port {busy} of {network.address} is taken by '
                     f'{_holder(busy, network.address)}')


def _first_busy(address, ports):
    """The first port that cannot be bound, None when all can.

    :raises EnvironmentProblem: a listener on all addresses has it, so that
        no other network would do either.
    """
    for port in ports:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # Connections in TIME_WAIT do not count; a listener still does,
            # be it on this address or on all: see ip(7), SO_REUSEADDR.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
                # Two may bind with SO_REUSEADDR, only one may listen.
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


def _holder(port, address):
    for found in listeners.listening():
        if found.port == port and found.address == address:
            return listeners.holder(found)
    return 'an unknown program'
