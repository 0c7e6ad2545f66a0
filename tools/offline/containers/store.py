# SPDX-License-Identifier: Apache-2.0

"""The content of the engine's store: images to keep, and leftovers of runs.

Images take minutes to load and stay for the next run. Containers, volumes and
networks belong to a run: leftovers of a killed one are removed when the next
one starts.
"""

import contextlib


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
