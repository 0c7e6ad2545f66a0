# SPDX-License-Identifier: Apache-2.0
"""Names, addresses and files of one sandbox.

Every sandbox has its own network of 65 536 loopback addresses,
``127.x.0.0/16``: its servers listen on ``127.x.0.1``, the API servers of
workload clusters on higher addresses. If the clusters consist of servers,
floating IPs and load balancers get a part of 198.18.0.0/15, which is reserved
for network tests (RFC 2544) and hides no real machine. Two sandboxes therefore
never collide, and nothing is reachable from another machine.
"""

import dataclasses
import ipaddress
import pathlib
import types

from magnum_capi_sandbox import catalog
from magnum_capi_tempest import management
from magnum_capi_tempest.management import network

#: Offsets of the ports of the cloud from the sandbox's port base. With the
#: default base they resemble the services' registered ports (25000, 25774).
PORTS = types.MappingProxyType({
    'keystone': 0,
    'glance': 292,
    'nova': 774,
    'neutron': 696,
    'cinder': 776,
    'magnum': 511,
    'placement': 778,
    'octavia': 876,
    'rabbitmq': 672,
    'rabbitmq-distribution': 673,
    'epmd': 369,
})

DEFAULT_PORT_BASE = 25000

_EXTERNAL = ipaddress.ip_network('198.18.0.0/15')


@dataclasses.dataclass(frozen=True)
class Layout:
    """The addresses and files of a sandbox.

    :param directory: absolute path of its state folder.
    :param prefix: first two numbers of its network, ``127.77``.
    :param port_base: first of its ports.
    :param https: whether its services answer https.
    """

    directory: pathlib.Path
    prefix: str
    port_base: int = DEFAULT_PORT_BASE
    https: bool = False

    @property
    def address(self) -> str:
        """Address that all servers of the sandbox listen on."""
        return f'{self.prefix}.0.1'

    @property
    def external_network(self) -> str:
        """Network of floating IPs and load balancers: 2,046 addresses."""
        number = network.NUMBERS.index(int(self.prefix.split('.')[1]))
        return str([*_EXTERNAL.subnets(new_prefix=21)][number])

    @property
    def etc(self) -> pathlib.Path:
        return self.directory / 'etc'

    @property
    def magnum_conf(self) -> tuple[pathlib.Path, pathlib.Path]:
        """Magnum's configuration: a file, and a folder that overrides it."""
        return self.etc / 'magnum.conf', self.etc / 'magnum.d'

    @property
    def magnum_env(self) -> pathlib.Path:
        """Python environment of Magnum's programs."""
        return self.directory / 'magnum-env'

    @property
    def tls(self) -> pathlib.Path:
        """Folder of the services' certificate, see :mod:`.management.pki`."""
        return self.directory / 'tls'

    @property
    def authority(self) -> pathlib.Path | None:
        """Certificate of the private authority that signed it, if any."""
        return self.tls / 'ca.crt' if self.https else None

    @property
    def drivers(self) -> pathlib.Path:
        """Packages installed for Magnum in addition to the cloud's."""
        return self.directory / 'drivers'

    @property
    def cloud_env(self) -> pathlib.Path:
        """Environment of a real OpenStack: the cloud's plus our drivers."""
        return self.directory / 'cloud-env'

    @property
    def machines(self) -> pathlib.Path:
        """Socket of the machine service, which runs Nova's servers."""
        return self.management.machines

    @property
    def databases(self) -> pathlib.Path:
        return self.directory / 'db'

    @property
    def log(self) -> pathlib.Path:
        return self.directory / 'log'

    @property
    def management(self) -> management.Layout:
        """Layout of this sandbox's management cluster."""
        return management.Layout(
            directory=self.directory / 'management', address=self.address,
            port_base=self.port_base,
            workload_network=f'{self.prefix}.0.0/16')

    @property
    def kubeconfig(self) -> pathlib.Path:
        """Kubeconfig of the management cluster."""
        return self.directory / 'management' / 'kubeconfig'

    def port(self, service: str) -> int:
        """Port of a service of :data:`PORTS`."""
        return self.port_base + PORTS[service]

    def url(self, service_type: str) -> str:
        """Endpoint of a service type of :mod:`.catalog`."""
        return self._url(service_type, self.address)

    def public_url(self, service_type: str) -> str:
        """The endpoint for pods of the engine, see room ``management``.

        Its address is that of the gateway of the external network.
        """
        return self._url(service_type,
                         ipaddress.ip_network(self.external_network)[1])

    def _url(self, service_type: str, address: object
             ) -> str:
        service = catalog.BY_TYPE[service_type]
        scheme = 'https' if self.https else 'http'
        return (f'{scheme}://{address}:{self.port(service.name)}'
                f'{service.path}')

    @property
    def auth_url(self) -> str:
        return self.url('identity')
