# SPDX-License-Identifier: Apache-2.0

"""The containers of a sandbox's real nodes in the user's Docker."""

import contextlib
import pathlib

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import spec as specs
from magnum_capi_tempest import dockers
from magnum_capi_tempest import supervision

#: Network of machines of Cluster API's docker provider (DefaultNetwork of
#: test/infrastructure/docker/internal/docker/manager.go).
NETWORK = 'kind'


def owner(directory: pathlib.Path) -> pathlib.Path:
    """Whose the containers are: see :func:`.management.programs.capi`."""
    return directory / 'management'


def up(directory: pathlib.Path, spec: specs.Spec,
       supervisor: supervision.Supervisor, progress: progress.Progress
       ) -> None:
    """Prepare Docker for real nodes: images and network.

    :param directory: folder of the sandbox.
    :param spec: its :class:`~.spec.Spec`.
    :param supervisor: the sandbox's, which runs.
    :raises EnvironmentProblem: Docker does not answer.
    :raises CommandFailed: an image cannot be pulled.
    """
    machines = spec.machines
    if not machines.real:
        return
    docker = dockers.Docker(machines.docker)
    if not docker.answers():
        raise errors.EnvironmentProblem(
            'The Docker of the nodes does not answer', where=docker.host,
            hint='Start it again')
    progress.info('A cluster of two real nodes needs 1 GiB of memory and '
                  '6 GiB of disk, and takes about 2 minutes on 2 cores')
    if not machines.stand_ins:
        for version in machines.kubernetes:
            docker.pull(nodes.PUBLISHED[version], progress)
    if not spec.openstack:
        docker.add_network(NETWORK, owner(directory))
    if not docker.containers(owner(directory)):
        # They may have gone with the Docker that ran them. "capi" looks for
        # them when it starts; otherwise no cluster could be deleted until the
        # next resync after 10 minutes: its load balancer is missing.
        supervisor.stop('capi')
        if spec.openstack:
            # When Nova starts, it boots the servers that have gone.
            supervisor.stop('nova')


def down(directory: pathlib.Path, machines: nodes.Nodes | None,
         progress: progress.Progress) -> None:
    """Remove the containers of a sandbox.

    :param machines: its :class:`~.nodes.Nodes`; None: nothing tells, so the
        user's Docker is searched, if there is one.
    """
    if machines is None:
        with contextlib.suppress(errors.EnvironmentProblem):
            dockers.find().remove(owner(directory))
        return
    if not machines.real:
        return
    docker = dockers.Docker(machines.docker)
    if docker.answers():
        docker.remove(owner(directory))
    else:
        progress.info(
            f'The Docker of the nodes ({docker.host}) does not answer: if it '
            'has containers of this sandbox, they stay')
