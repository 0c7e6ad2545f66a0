# SPDX-License-Identifier: Apache-2.0
"""Which Docker runs the machine of a management cluster.

This machine's Docker if it runs, configured as its user has it; otherwise, for
root, an engine of our own (room ``containers``). Both have ``environment``,
``socket``, ``run_in``, ``load`` and ``minikube_subnet``, see
:class:`magnum_capi_tempest.containers.Access`.
"""

import contextlib
import dataclasses
import os
import pathlib

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import containers

#: Names of both, for the record of a cluster, and of an engine that belongs to
#: the caller, which takes it down, too.
MACHINE, OWN, LENT = 'machine', 'own', 'lent'

_CLUSTER = 'io.x-k8s.kind.cluster'
_SOCKET = 'unix:///var/run/docker.sock'


@dataclasses.dataclass(frozen=True)
class HostDocker:
    """This machine's Docker.

    :param host: as in DOCKER_HOST.
    """

    host: str

    #: minikube finds a free network itself.
    minikube_subnet = None

    @property
    def environment(self) -> dict[str, str]:
        return {'DOCKER_HOST': self.host}

    @property
    def socket(self) -> pathlib.Path:
        """Docker's socket, for a container that starts others.

        :raises UsageError: Docker is on another machine.
        """
        if not self.host.startswith('unix://'):
            raise errors.UsageError(
                'Machines that are containers need Docker on this machine',
                where=self.host, hint='Unset DOCKER_HOST')
        return pathlib.Path(self.host.removeprefix('unix://'))

    def run_in(self, args) -> list[str]:
        return [str(a) for a in args]

    def load(self, archives, progress):
        """Load the images that Docker lacks.

        :param archives: objects with ``path``, ``references``, ``image_id``
            and ``name``.
        :raises EnvironmentProblem: Docker rejects an image.
        """
        import docker
        from magnum_capi_tempest.containers import store
        with self._client(1800) as client:
            for archive in store.missing(archives, client):
                with progress.step(f'loading the image {archive.name}'):
                    try:
                        with open(archive.path, 'rb') as stream:
                            client.images.load(stream)
                        image = client.images.get(
                            f'sha256:{archive.image_id}')
                        for reference in archive.references:
                            image.tag(reference)
                    except docker.errors.DockerException as e:
                        raise errors.EnvironmentProblem(
                            'Docker cannot load the image',
                            where=archive.path, last_seen=e) from e

    def remove(self, clusters):
        """Remove the containers of workload clusters.

        :param clusters: their names; Cluster API's docker provider labels
            the containers with them, as kind does.
        """
        with self._client(120) as client:
            for name in clusters:
                for container in client.containers.list(all=True, filters={
                        'label': f'{_CLUSTER}={name}'}):
                    container.remove(v=True, force=True)

    def _client(self, timeout):
        import docker
        return contextlib.closing(
            docker.DockerClient(base_url=self.host, timeout=timeout))


def machine() -> HostDocker | None:
    """This machine's Docker, None when it does not answer."""
    host = os.environ.get('DOCKER_HOST') or _SOCKET
    try:
        processes.run(['docker', 'version', '--format',
                       '{{.Server.Version}}'], timeout=20,
                      env={**os.environ, 'DOCKER_HOST': host})
    except (errors.CommandFailed, errors.EnvironmentProblem):
        return None
    return HostDocker(host)


def engine(directory) -> containers.Engine:
    """Our own engine for the cluster of a folder; nothing is started."""
    return containers.Engine(directory / 'engine')


def kind() -> str:
    """The Docker for a new cluster, MACHINE or OWN; nothing is started.

    :raises EnvironmentProblem: neither is possible.
    """
    if machine():
        return MACHINE
    problem = containers.problem()
    if problem:
        raise errors.EnvironmentProblem(
            'Docker is not available for the management cluster',
            last_seen=problem,
            hint='Start Docker, or run this command as root')
    return OWN


def use(kind, directory, progress):
    """The Docker of a folder's cluster; starts our own engine if needed.

    :param kind: MACHINE or OWN.
    :raises EnvironmentProblem: this machine's Docker does not run any more.
    """
    if kind == OWN:
        return engine(directory).up(progress)
    found = machine()
    if found is None:
        raise errors.EnvironmentProblem(
            'Docker, which runs the management cluster, does not respond',
            where=os.environ.get('DOCKER_HOST') or _SOCKET)
    return found
