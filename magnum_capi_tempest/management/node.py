# SPDX-License-Identifier: Apache-2.0

"""Starts the one node of a cluster of pods and loads its images."""

from magnum_capi import errors
from magnum_capi_tempest.management import minikube

#: Container network of the docker infrastructure's machines, which expects
#: this name (DefaultNetwork of test/infrastructure/container in
#: kubernetes-sigs/cluster-api).
_MACHINES = 'kind'


def wanted(options, source, docker) -> minikube.Wanted:
    """The parameters for minikube; pure.

    :param options: :class:`..hosted.Options`.
    :param source: see :mod:`..sources`.
    :param docker: see :mod:`..dockers`; None with the driver "none".
    """
    machines = docker is not None and options.infrastructure == 'docker'
    subnet = docker.minikube_subnet if docker and not machines else None
    return minikube.Wanted(
        driver=options.driver, base=source.base, offline=source.offline,
        network=_MACHINES if machines else None,
        subnet=str(subnet) if subnet else None,
        socket=docker.socket if machines else None)


def start(machine, what, progress):
    """Start the machine; one that fails to start is deleted and made anew.

    :param machine: :class:`..minikube.Minikube`.
    :param what: :class:`..minikube.Wanted`.
    :raises CommandFailed: two starts failed.
    """
    with progress.step('minikube') as note:
        try:
            machine.start(what, note)
        except errors.CommandFailed as e:
            progress.info(f'minikube did not start, trying again: {e}')
            machine.delete()
            machine.start(what, note)


def load(machine, archives, progress):
    """Load the images that the machine lacks.

    :param archives: objects with ``name``, ``path`` and ``references``.
    :raises EnvironmentProblem: images are still missing afterwards. minikube
        itself does not report that as a failure (DoLoadImages of its
        pkg/minikube/machine/cache_images.go).
    """
    missing = _missing(machine, archives)
    if not missing:
        return
    with progress.step(f'loading {len(missing)} images into the node'):
        machine.load([a.path for a in missing])
        left = _missing(machine, missing)
    if left:
        raise errors.EnvironmentProblem(
            'Some images could not be loaded into the node',
            where=', '.join(str(a.path) for a in left),
            hint='Its disk may be full; check the archives with '
                 '"tools/offline/images.sh check" of the source tree')


def _missing(machine, archives):
    if not archives:
        return []
    there = machine.images()
    return [a for a in archives if not there.issuperset(a.references)]
