# SPDX-License-Identifier: Apache-2.0

"""The kinds of nodes that workload clusters have: in memory, or containers.

*memory*: objects in an in-memory API server; they exist at once and run no
pods. *docker*: containers in which kubeadm makes real nodes, in the sandbox's
own engine, with images from archives.
"""

import dataclasses
import re

from magnum_capi import errors

MEMORY, DOCKER = 'memory', 'docker'

KINDS = (MEMORY, DOCKER)

#: Minor versions of Kubernetes to make if there is no archive.
MINORS = ('1.36',)

#: Repository of the image of control planes' load balancers.
LOAD_BALANCER = 'kindest/haproxy'

#: Serves traffic between nodes, for tests.
WORKLOAD = 'e2e-test-images/agnhost'


@dataclasses.dataclass(frozen=True)
class Nodes:
    """What the nodes of a sandbox's clusters are.

    :param kind: one of :data:`KINDS`.
    :param images: folder of the archives, empty for nodes in memory.
    :param kubernetes: versions for which there are machines, oldest first,
        ``v1.34.9``.
    :param stand_ins: whether any image is not the published one.
    :param workload_image: reference of an image in every node that serves
        HTTP, empty when there is none.
    """

    kind: str = MEMORY
    images: str = ''
    kubernetes: tuple[str, ...] = ()
    stand_ins: bool = False
    workload_image: str = ''

    @property
    def real(self) -> bool:
        """Whether pods run on them."""
        return self.kind == DOCKER


def image_name(version) -> str:
    """Name of the Glance image for a version of Kubernetes."""
    return f'kubernetes-{minor(version)}'


def glance_images(nodes) -> dict[str, dict]:
    """Properties of the Glance images for real nodes, by name."""
    return {image_name(v): {'os_distro': 'ubuntu', 'kube_version': v}
            for v in nodes.kubernetes}


def wanted(kind, directory, progress) -> Nodes:
    """The nodes that a user wants, checked to be possible here.

    :param kind: one of :data:`KINDS`, or None.
    :param directory: folder of image archives; None: the default one, where
        missing archives are made.
    :raises UsageError: archives for nodes in memory.
    :raises EnvironmentProblem: containers cannot run here, or archives are
        missing in a folder that was named; its hint has the command that
        makes them.
    """
    if kind != DOCKER:
        if directory is not None:
            raise errors.UsageError(
                '--images is not used by nodes in memory', where=directory,
                hint='Add --nodes docker')
        return Nodes()
    # Imported here: nodes in memory do not need them.
    from magnum_capi_tempest import containers
    problem = containers.problem()
    if problem:
        raise errors.EnvironmentProblem(
            f'Real nodes cannot run here: {problem}',
            hint='Omit --nodes docker to have nodes in memory')
    if directory is None:
        from magnum_capi_tempest import images
        images.provide(_minors(images.inventory.read(None)), images.NODES,
                       progress)
    return described(archives(directory))


def archives(directory):
    """The inventory of a folder with archives for at least one minor version.

    :param directory: None: the default folder.
    :raises EnvironmentProblem: there is none, or something is missing.
    """
    from magnum_capi_tempest import images
    found = images.inventory.read(directory)
    return images.require(found.directory, _minors(found), images.NODES)


def minor(version) -> str:
    """``v1.34.9`` -> ``1.34``."""
    return '.'.join(version.lstrip('v').split('.')[:2])


def described(inventory) -> Nodes:
    """The nodes that an inventory allows; pure."""
    machines = inventory.of_kind('node')
    workload = sorted(
        r for a in inventory.of_set('node') for r in a.references
        if WORKLOAD in r)
    return Nodes(
        DOCKER, str(inventory.directory),
        tuple(sorted({a.kubernetes for a in machines}, key=_number)),
        inventory.stand_in, workload[-1] if workload else '')


def needed(inventory, balancers) -> tuple:
    """The archives that the engine must have; pure.

    :param balancers: whether load balancers are containers, too.
    """
    return tuple(
        a for a in inventory.archives.values()
        if a.kind == 'node'
        or balancers and any(LOAD_BALANCER in r for r in a.references))


def _minors(inventory):
    """Minor versions of the machines of an inventory, oldest first."""
    from magnum_capi_tempest import images
    # Archives of an older checkout may have minors without recipes by now.
    minors = sorted({minor(a.kubernetes) for a in inventory.of_kind('node')}
                    & {*images.recipes.minors()})
    return tuple(minors) or MINORS


def _number(version):
    return tuple(map(int, re.findall(r'\d+', version)))
