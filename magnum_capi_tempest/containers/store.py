# SPDX-License-Identifier: Apache-2.0

"""The content of the engine's store: images to keep, and leftovers of runs.

Images take minutes to load and stay for the next run. Containers, volumes and
networks belong to a run: leftovers of a killed one are removed when the next
one starts.
"""

import contextlib

from magnum_capi import errors

#: Free bytes needed to load an archive, for each byte of it: its layers are
#: unpacked while parts of the archive are still kept.
_ROOM = 2.2


def missing(archives, client) -> list:
    """The archives whose images the store lacks or has in another version.

    :param archives: objects with ``references`` and ``image_id`` (hex
        digest of the image's configuration: dockerd's id of it).
    :param client: ``docker.DockerClient``.
    """
    there = {tag: image.id for image in client.images.list()
             for tag in image.tags}
    return [a for a in archives
            if {there.get(short(r)) for r in a.references}
            != {_id(a)}]


def short(reference) -> str:
    """A reference as dockerd lists it, without the default registry.

    "docker.io/sonobuoy/sonobuoy:v1" is "sonobuoy/sonobuoy:v1", and
    "docker.io/library/busybox:1" is "busybox:1".
    """
    for prefix in ('docker.io/library/', 'docker.io/'):
        if reference.startswith(prefix):
            return reference.removeprefix(prefix)
    return reference


def _id(archive):
    return f'sha256:{archive.image_id}'


def load(archive, client, free):
    """Load the image of an archive into the store, with all its names.

    :param archive: as for :func:`missing`, with ``path``.
    :param free: free bytes on the store's disk.
    :raises EnvironmentProblem: no disk space, or dockerd rejects the archive.
    """
    import docker
    size = archive.path.stat().st_size
    if free < size * _ROOM:
        raise errors.EnvironmentProblem(
            f'Not enough disk space to load an image of {size >> 20} MiB',
            where=archive.path, last_seen=f'{free >> 20} MiB are free',
            hint=f'{int(size * _ROOM) >> 20} MiB are needed; free some space, '
                 'or move the store with MAGNUM_CAPI_CONTAINERS_DIR')
    try:
        with open(archive.path, 'rb') as stream:
            client.images.load(stream)
        image = client.images.get(_id(archive))
        for reference in archive.references:
            if short(reference) not in image.tags:
                image.tag(reference)
        client.images.prune()
    except docker.errors.DockerException as e:
        raise errors.EnvironmentProblem(
            f'The engine rejects the image: {text(e)}',
            where=archive.path) from e


def sweep(client):
    """Remove all containers and volumes, and all networks but dockerd's own.

    :param client: ``docker.DockerClient``.
    """
    import docker
    for container in client.containers.list(all=True, ignore_removed=True):
        with contextlib.suppress(docker.errors.NotFound):
            container.remove(force=True, v=True)
    for volume in client.volumes.list():
        with contextlib.suppress(docker.errors.NotFound):
            volume.remove(force=True)
    for network in client.networks.list():
        if network.name not in ('bridge', 'host', 'none'):
            with contextlib.suppress(docker.errors.NotFound):
                network.remove()


def text(error) -> str:
    """The message of an error of the docker library, in one line."""
    return ' '.join(str(getattr(error, 'explanation', None)
                        or error).split())[:300]
