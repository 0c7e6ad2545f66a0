# SPDX-License-Identifier: Apache-2.0

"""How programs use a running engine."""

import dataclasses
import ipaddress
import os
import pathlib

from tools.offline.containers import networks


@dataclasses.dataclass(frozen=True)
class Access:
    """A running engine.

    :param socket: of its API.
    :param pid: a process in its network.
    :param network: its own network.
    """

    socket: pathlib.Path
    pid: int
    network: networks.EngineNetwork

    @property
    def docker_host(self) -> str:
        """Value for DOCKER_HOST."""
        return f'unix://{self.socket}'

    @property
    def environment(self) -> dict[str, str]:
        """Variables for programs that use the engine or reach its nodes."""
        direct = ','.join(filter(None, [
            os.environ.get('NO_PROXY') or os.environ.get('no_proxy'),
            str(self.network.whole)]))
        return {'DOCKER_HOST': self.docker_host, 'NO_PROXY': direct,
                'no_proxy': direct}

    @property
    def netns(self) -> pathlib.Path:
        """The engine's network namespace, which has published ports."""
        return pathlib.Path(f'/proc/{self.pid}/ns/net')

    @property
    def minikube_subnet(self) -> ipaddress.IPv4Network:
        """For ``minikube start --subnet``; the host has a route to it."""
        return self.network.minikube

    def run_in(self, args) -> list[str]:
        """The command line that runs another one in the engine's network.

        It shares only the network with the engine; files are the host's.
        """
        return ['nsenter', f'--net={self.netns}', '--', *map(str, args)]

    def client(self):
        """A ``docker.DockerClient``; the caller closes it."""
        import docker
        return docker.DockerClient(base_url=self.docker_host, timeout=120)
