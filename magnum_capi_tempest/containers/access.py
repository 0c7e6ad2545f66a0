# SPDX-License-Identifier: Apache-2.0

"""How programs use a running engine."""

import contextlib
import dataclasses
import ipaddress
import os
import pathlib
import shutil

from magnum_capi_tempest.containers import networks
from magnum_capi_tempest.containers import store


@dataclasses.dataclass(frozen=True)
class Access:
    """A running engine.

    :param socket: of its API.
    :param pid: a process in its network.
    :param network: its own network.
    :param data: folder of its images.
    """

    socket: pathlib.Path
    pid: int
    network: networks.EngineNetwork
    data: pathlib.Path

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
    def subnet(self) -> ipaddress.IPv4Network:
        """Subnet of the container network "kind", which has the nodes."""
        return self.network.kind

    @property
    def minikube_subnet(self) -> ipaddress.IPv4Network:
        """For ``minikube start --subnet``; the host has a route to it."""
        return self.network.minikube

    def run_in(self, args) -> list[str]:
        """The command line that runs another one in the engine's network.

        It shares only the network with the engine; files are the host's.
        """
        return ['nsenter', f'--net={self.netns}', '--', *map(str, args)]

    def client(self, timeout=120):
        """A ``docker.DockerClient``; the caller closes it.

        :param timeout: seconds for one request.
        """
        import docker
        return docker.DockerClient(
            base_url=self.docker_host, timeout=timeout)

    def missing(self, archives) -> list:
        """The archives that :meth:`load` would load."""
        with contextlib.closing(self.client()) as client:
            return store.missing(archives, client)

    def load(self, archives, progress):
        """Load the images that the engine lacks.

        :param archives: objects with ``name``, ``path``, ``references`` and
            ``image_id``, see :func:`.store.missing`.
        :raises EnvironmentProblem: no disk space, or a file is not an image.
        """
        client = self.client(timeout=1800)
        try:
            for archive in store.missing(archives, client):
                with progress.step(f'loading the image {archive.name}'):
                    store.load(archive, client,
                               shutil.disk_usage(self.data).free)
        finally:
            client.close()
