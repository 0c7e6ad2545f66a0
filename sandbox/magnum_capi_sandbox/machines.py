# SPDX-License-Identifier: Apache-2.0

"""The container engine of a sandbox's real nodes, and their images."""

import pathlib

from magnum_capi_sandbox import nodes
from magnum_capi_tempest.toolchain import disk

#: Bytes that a cluster of two nodes writes in a few hours, with room for a
#: third node during an upgrade.
CLUSTER = 6 * 2**30

#: Bytes of archives loaded per second, on 2 cores.
SPEED = 40 * 2**20

#: Size of an archive in the engine's store, relative to its own.
UNPACKED = 2.5


def folder(directory):
    """Folder of the engine of a sandbox."""
    return directory / 'containers'


def docker_host(directory) -> str:
    """URL of the engine's API, for the variable DOCKER_HOST."""
    return f'unix://{folder(directory)}/docker.sock'


def needs(archives) -> str:
    """What real nodes will cost, as a message for users; pure.

    :param archives: the archives to load.
    """
    size = sum(a.size for a in archives)
    load = (f'{disk.text(size)} of images to load, which takes about '
            f'{max(1, round(size / SPEED))} s and '
            f'{disk.text(int(size * UNPACKED))} of disk; ' if size else '')
    return (f'Real nodes need: {load}{disk.text(CLUSTER)} of disk and 1 GiB '
            'of memory for a cluster of two, which takes about 2 minutes on '
            '2 cores')


def up(directory, spec, supervisor, progress) -> str | None:
    """Start or repair the engine and load its images.

    :param directory: folder of the sandbox.
    :param spec: its :class:`~.spec.Spec`.
    :param supervisor: the sandbox's, which runs.
    :returns: its URL; None for nodes in memory.
    :raises EnvironmentProblem: archives or disk space are missing.
    """
    if not spec.machines.real:
        return None
    from magnum_capi_tempest import containers
    from magnum_capi_tempest import images
    wanted = nodes.needed(
        images.inventory.read(pathlib.Path(spec.images)),
        balancers=not spec.openstack)
    engine = containers.Engine(folder(directory), supervisor)
    if engine.access() is None:
        # After the engine was killed, "capi" reconciles every cluster only
        # when it starts itself. Otherwise no cluster could be deleted until
        # the next resync after 10 minutes: its load balancer is missing.
        supervisor.stop('capi')
        if spec.openstack:
            # When Nova starts, it boots the servers that have gone with it.
            supervisor.stop('nova')
    access = engine.up(progress)
    new = access.missing(wanted)
    progress.info(needs(new))
    disk.require(int(sum(a.size for a in new) * UNPACKED) + CLUSTER,
                 [engine.layout.store], 'real nodes',
                 'MAGNUM_CAPI_CONTAINERS_DIR')
    access.load(wanted, progress)
    return docker_host(directory)


def access(directory, supervisor):
    """How to use the running engine, None if there is none."""
    from magnum_capi_tempest import containers
    return containers.Engine(folder(directory), supervisor).access()


def down(directory, supervisor):
    """Stop the engine and every container, if there are any."""
    if folder(directory).exists():
        from magnum_capi_tempest import containers
        containers.Engine(folder(directory), supervisor).down()
