# SPDX-License-Identifier: Apache-2.0

"""The kinds of nodes that workload clusters have: in memory, or containers.

*memory*: objects in an in-memory API server; they exist at once and run no
pods. *docker*: containers in the user's Docker, in which kubeadm makes real
nodes.
"""

import dataclasses
import re

from magnum_capi import errors
from magnum_capi_tempest import dockers

MEMORY, DOCKER = 'memory', 'docker'

KINDS = (MEMORY, DOCKER)

#: Repository of kind's node images; the tag is the version of Kubernetes.
REPOSITORY = 'kindest/node'

#: Node images that kind publishes, by version, as Cluster API's docker
#: provider pins them (preBuiltMappings of test/infrastructure/kind/mapper.go
#: in kubernetes-sigs/cluster-api v1.14.0).
PUBLISHED = {
    'v1.35.5': f'{REPOSITORY}:v1.35.5@sha256:ce977ae6d65918d0b58a5f8b5e940429'
               'c2ce42fa3a5619ec2bbc60b949c0ac95',
    'v1.36.1': f'{REPOSITORY}:v1.36.1@sha256:3489c7674813ba5d8b1a9977baea8a6e'
               '553784dab7b84759d1014dbd78f7ebd5',
}


@dataclasses.dataclass(frozen=True)
class Nodes:
    """What the nodes of a sandbox's clusters are.

    :param kind: one of :data:`KINDS`.
    :param docker: the Docker of the containers, as in DOCKER_HOST.
    :param kubernetes: versions for which there are machines, oldest first,
        ``v1.34.9``.
    :param stand_ins: whether the images are not the published ones.
    """

    kind: str = MEMORY
    docker: str = ''
    kubernetes: tuple[str, ...] = ()
    stand_ins: bool = False

    @property
    def real(self) -> bool:
        """Whether pods run on them."""
        return self.kind == DOCKER


def image_name(version: str) -> str:
    """Name of the Glance image for a version of Kubernetes."""
    return f'kubernetes-{minor(version)}'


def glance_images(nodes: Nodes) -> dict[str, dict[str, str]]:
    """Properties of the Glance images for real nodes, by name."""
    return {image_name(v): {'os_distro': 'ubuntu', 'kube_version': v}
            for v in nodes.kubernetes}


def wanted(kind: str | None, servers: bool = False) -> Nodes:
    """The nodes that a user wants, checked to be possible here.

    The images are those of kind, unless Docker has stand-ins.

    :param kind: one of :data:`KINDS`, or None.
    :param servers: whether they are servers of Nova, which boot with
        cloud-init.
    :raises EnvironmentProblem: there is no Docker, or its images have no
        cloud-init.
    """
    if kind != DOCKER:
        return Nodes()
    docker = dockers.find()
    made = docker.stand_ins(REPOSITORY)
    if servers and not made:
        raise errors.EnvironmentProblem(
            'Docker has no node image with cloud-init, which boots servers',
            where=docker.host, last_seen='the published images have none',
            hint='In the source tree run: tools/offline/images.sh load; or '
                 'omit --infrastructure openstack')
    return Nodes(DOCKER, docker.host,
                 tuple(sorted(made or PUBLISHED, key=_number)), bool(made))


def minor(version: str) -> str:
    """``v1.34.9`` -> ``1.34``."""
    return '.'.join(version.lstrip('v').split('.')[:2])


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r'\d+', version)))
