# SPDX-License-Identifier: Apache-2.0

"""The TCP listeners of this machine and their processes.

For errors that name the program that holds a port, and for the proof that
nothing of a run can be reached from another machine.
"""

import collections.abc
import contextlib
import dataclasses
import ipaddress

import psutil


@dataclasses.dataclass(frozen=True)
class Listener:
    """A listening TCP socket.

    :param pid: of a process that has it; None: one of another user.
    """

    address: str
    port: int
    pid: int | None

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

    @property
    def holder(self) -> str:
        """The program that has it, for a message: ``nginx (pid 12)``."""
        with contextlib.suppress(psutil.Error):
            if self.pid:
                return f'{psutil.Process(self.pid).name()} (pid {self.pid})'
        return 'a program of another user'


def listening() -> list[Listener]:
    """All listening TCP sockets of this network namespace."""
    return [Listener(found.laddr.ip, found.laddr.port, found.pid)
            for found in psutil.net_connections('tcp')
            if found.status == psutil.CONN_LISTEN]


def of_processes(pids: collections.abc.Iterable[int]) -> list[Listener]:
    """The listening sockets of these processes; a shared one several times."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            found += [
                Listener(one.laddr.ip, one.laddr.port, pid)
                for one in psutil.Process(pid).net_connections('tcp')
                if one.status == psutil.CONN_LISTEN]
    return found
