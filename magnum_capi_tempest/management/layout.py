# SPDX-License-Identifier: Apache-2.0

"""Paths and ports of a management cluster.

The only place that defines them; pure. All ports are relative to one base and
all listeners use one address: two management clusters on a machine differ
only in the address.
"""

import dataclasses
import pathlib
import types

#: Listener -> offset from ``port_base``; the last digits of the usual port
#: (etcd 2379 and 2380, kube-apiserver 6443, controller-runtime 9443 and
#: 9440).
OFFSETS = types.MappingProxyType({
    'etcd': 79,
    'etcd-peer': 80,
    'kube-apiserver': 443,
    'capi-webhook': 943,
    'capi-health': 440,
    # Only with the OpenStack provider.
    'capo-webhook': 944,
    'capo-health': 441,
})


@dataclasses.dataclass(frozen=True)
class Layout:
    """Files and listeners of one management cluster.

    :param directory: folder for all its files, mode 0700.
    :param address: loopback address of all its servers.
    :param port_base: number that the offsets are added to.
    :param workload_network: network from which each in-memory API server of a
        workload cluster gets an address.
    """

    directory: pathlib.Path
    address: str = '127.77.0.1'
    port_base: int = 25000
    workload_network: str = '127.77.0.0/16'

    def port(self, listener: str) -> int:
        """Port of a listener of :data:`OFFSETS`."""
        return self.port_base + OFFSETS[listener]

    @property
    def ports(self) -> dict[str, int]:
        """All ports, by listener."""
        return {name: self.port(name) for name in OFFSETS}

    def url(self, listener: str, scheme: str = 'https') -> str:
        return f'{scheme}://{self.address}:{self.port(listener)}'

    @property
    def kubeconfig(self) -> pathlib.Path:
        """The administrator's, with an embedded client certificate."""
        return self.directory / 'kubeconfig'

    @property
    def pki(self) -> pathlib.Path:
        """Keys and certificates, see :mod:`..pki` for the names."""
        return self.directory / 'pki'

    @property
    def etcd(self) -> pathlib.Path:
        """Data of etcd."""
        return self.directory / 'etcd'

    @property
    def machines(self) -> pathlib.Path:
        """Socket of the machine service, with the OpenStack provider."""
        return self.directory / 'machines.sock'

    @property
    def behaviours(self) -> pathlib.Path:
        """Delays and faults of the in-memory infrastructure provider."""
        return self.directory / 'behaviours.json'
