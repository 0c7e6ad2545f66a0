# SPDX-License-Identifier: Apache-2.0

"""A management cluster without a sandbox around it.

``magnum-capi management up`` and its siblings, as functions. The file
``management.json`` in the folder records what was brought up
(:mod:`.folder`). For a cluster of pods the other commands call :mod:`.hosted`.
"""

import collections.abc
import contextlib
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import progress as progress_
from magnum_capi_tempest import json_types
from magnum_capi_tempest.management import folder
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import local
from magnum_capi_tempest.management import network
from magnum_capi_tempest import paths
from magnum_capi_tempest import supervision

#: Where Cluster API can run: values of ``--backend``.
BACKENDS = ('processes', 'minikube')

_SUPERVISOR = 'supervisor'


def default_directory() -> pathlib.Path:
    return paths.state() / 'management'


def up(directory: pathlib.Path, progress: progress_.Progress,
       tools: collections.abc.Mapping[str, pathlib.Path] | None = None,
       port_base: int = layout.Layout.port_base,
       endpoint_network: str | None = None) -> local.Processes:
    """Bring a management cluster up, on its own loopback network.

    If it fails or is interrupted, everything that it started is stopped,
    unless the cluster existed before.

    :param directory: folder of the cluster, made when missing.
    :param tools: paths of the programs by name; from the toolchain when
        None.
    :param port_base: see :class:`..layout.Layout`.
    :param endpoint_network: see :class:`..local.Processes`.
    :raises UsageError: the folder holds something else, or a running cluster
        with another endpoint network.
    :raises EnvironmentProblem: a port is taken, a program is missing.
    """
    directory = folders.check(directory)
    with folder.alone(directory):
        hosted.refuse(directory)
        tools = tools or _toolchain(progress, bool(endpoint_network))
        record, supervisor = folder.read(directory), _supervisor(directory)
        if record and supervisor.running():
            if endpoint_network != record['endpoint_network']:
                raise errors.UsageError(
                    'A management cluster with another kind of machines is '
                    'already up',
                    where=directory,
                    last_seen='endpoint network '
                              f'{record["endpoint_network"]}',
                    hint='Take it down, or name another folder')
            plane = _plane(directory, record, tools)
            plane.up(supervisor, progress)
            return plane
        _sweep(directory)
        with contextlib.ExitStack() as undo:
            undo.callback(_sweep, directory)
            with network.allocate(
                    layout.Layout(
                        directory, port_base=port_base).ports.values()
            ) as mine:
                record = {'address': mine.address, 'network': mine.cidr,
                          'port_base': port_base,
                          'endpoint_network': endpoint_network}
                folder.write(directory, record)
                plane = _plane(directory, record, tools)
                plane.up(supervisor, progress)
            undo.pop_all()
        return plane


def down(directory: pathlib.Path, progress: progress_.Progress | None = None
         ) -> None:
    """Stop the cluster of a folder and remove what it wrote.

    :raises UsageError: the folder holds something else.
    """
    directory = folders.check(directory)
    if directory.is_dir():
        with folder.alone(directory):
            if hosted.record(directory):
                hosted.sweep(directory, progress or progress_.Progress())
            else:
                _sweep(directory)


def status(directory: pathlib.Path) -> list[tuple[supervision.Status, bool]]:
    """The programs of a cluster.

    :returns: the state of each, and whether it is ready; empty when nothing
        runs.
    """
    directory = folders.check(directory)
    if hosted.record(directory):
        return hosted.status(directory)
    record, supervisor = folder.read(directory), _supervisor(directory)
    if not record or not supervisor.running():
        return []
    # Only the probes are needed; the binaries do not matter.
    plane = _plane(directory, record, dict.fromkeys(
        local.tools(openstack=True), pathlib.Path()))
    probes = {p.name: p for p in plane.programs()}
    return [(s, s.name not in probes or supervisor.ready(probes[s.name]))
            for s in supervisor.status()]


def kubeconfig(directory: pathlib.Path) -> pathlib.Path:
    """The administrator's kubeconfig; it exists as long as the cluster."""
    return layout.Layout(folders.check(directory)).kubeconfig


def _plane(
        directory: pathlib.Path, record: json_types.Object,
        tools: collections.abc.Mapping[str, pathlib.Path]) -> local.Processes:
    return local.Processes(
        layout.Layout(directory, record['address'], record['port_base'],
                      record['network']),
        tools, endpoint_network=record['endpoint_network'])


def _supervisor(directory: pathlib.Path) -> supervision.Supervisor:
    return supervision.Supervisor(directory / _SUPERVISOR)


def _sweep(directory: pathlib.Path) -> None:
    """Stop everything of a cluster and remove its files."""
    _supervisor(directory).shutdown()
    shutil.rmtree(directory / _SUPERVISOR, ignore_errors=True)
    local.remove(layout.Layout(directory))
    (directory / folder.RECORD).unlink(missing_ok=True)


def _toolchain(progress: progress_.Progress, openstack: bool
               ) -> dict[str, pathlib.Path]:
    from magnum_capi_tempest import toolchain
    return toolchain.ensure(local.tools(openstack), progress)
