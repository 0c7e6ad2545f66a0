# SPDX-License-Identifier: Apache-2.0

"""The TCP listeners of this machine and their processes, from /proc.

For errors that name the program that holds a port, and for the proof that
nothing of a run can be reached from another machine.
"""

import collections.abc
import contextlib
import dataclasses
import ipaddress
import os
import pathlib
import struct

#: ``st`` of a listening socket in /proc/net/tcp: TCP_LISTEN of
#: include/net/tcp_states.h in Linux.
_LISTEN = '0A'


@dataclasses.dataclass(frozen=True)
class Listener:
    """A listening TCP socket.

    :param address: as ipaddress prints it.
    :param inode: number that /proc/PID/fd names it by.
    """

    address: str
    port: int
    inode: int

    @property
    def wildcard(self) -> bool:
        return self._plain.is_unspecified

    @property
    def loopback(self) -> bool:
        """Only this machine can connect to it."""
        return self._plain.is_loopback

    @property
    def _plain(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
        address = ipaddress.ip_address(self.address)
        return getattr(address, 'ipv4_mapped', None) or address


def parse(text: str) -> list[Listener]:
    """The listeners in the text of /proc/net/tcp or /proc/net/tcp6.

    Addresses are there in words of 4 bytes in the order of the processor:
    net/ipv4/tcp_ipv4.c get_tcp4_sock, net/ipv6/tcp_ipv6.c get_tcp6_sock.
    """
    found = []
    for line in text.splitlines()[1:]:
        field = line.split()
        if len(field) < 10 or field[3] != _LISTEN:
            continue
        host, port = field[1].split(':')
        words = [int(host[i:i + 8], 16) for i in range(0, len(host), 8)]
        packed = struct.pack(f'={len(words)}I', *words)
        found.append(Listener(str(ipaddress.ip_address(packed)),
                              int(port, 16), int(field[9])))
    return found


def listening() -> list[Listener]:
    """All listening TCP sockets of this network namespace."""
    found = []
    for name in ('tcp', 'tcp6'):
        with contextlib.suppress(FileNotFoundError):
            found += parse(pathlib.Path('/proc/net', name).read_text())
    return found


def sockets(pid: str | int) -> set[int]:
    """Inodes of the sockets of a process; empty when it cannot be read."""
    found = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f'/proc/{pid}/fd'):
            with contextlib.suppress(OSError):
                target = os.readlink(entry.path)
                if target.startswith('socket:['):
                    found.add(int(target[8:-1]))
    return found


def of_processes(pids: collections.abc.Iterable[int]) -> list[Listener]:
    """The listening sockets of these processes."""
    mine = set().union(*(sockets(pid) for pid in pids))
    return [found for found in listening() if found.inode in mine]


def holder(listener: Listener) -> str:
    """The program that holds a socket, for a message: ``nginx (pid 12)``."""
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        if listener.inode in sockets(folder.name):
            with contextlib.suppress(OSError):
                name = (folder / 'comm').read_text().strip()
                return f'{name} (pid {folder.name})'
    return 'a program of another user'
