# SPDX-License-Identifier: Apache-2.0
"""The backend ``minikube``: a management cluster of pods.

``magnum-capi management up --backend minikube`` and its siblings as
functions. A record is written first, so that the leftovers of a killed run are
known; it says "ready" when everything is installed.
"""

import collections.abc
import contextlib
import dataclasses
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import progress
from magnum_capi_tempest import dockers
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import folder
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import minikube
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from magnum_capi_tempest import toolchain

BACKEND = 'minikube'

#: Programs of the toolchain that it needs.
TOOLS = ('minikube', *installation.TOOLS)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A running management cluster of pods.

    :param stand_ins: names of Deployments that are not upstream's.
    """

    kubeconfig: pathlib.Path
    stand_ins: tuple[str, ...]


def up(directory: pathlib.Path, progress: progress.Progress,
       addon_provider: bool = False,
       tools: collections.abc.Mapping[str, pathlib.Path] | None = None,
       docker: str | None = None) -> Cluster:
    """Bring a cluster up, or one that exists back.

    A failed or interrupted first "up" removes everything.

    :param addon_provider: whether the addon provider is installed.
    :param tools: paths of :data:`TOOLS` by name; from the toolchain when
        None.
    :param docker: of a new cluster, as in DOCKER_HOST; the user's when None.
    :raises UsageError: the folder holds something else, or a cluster with
        other options.
    :raises EnvironmentProblem: there is no Docker, or the machine of the
        cluster is gone.
    """
    directory = folders.check(directory)
    with folder.alone(directory):
        before = folder.read(directory)
        _same(before, addon_provider, directory)
        with contextlib.ExitStack() as undo:
            if not (before and before['ready']):
                undo.callback(sweep, directory, progress)
                if before:
                    # A killed run's.
                    sweep(directory, progress)
                _first(directory, addon_provider, progress, tools,
                       docker or dockers.find().host)
            elif not _healthy(directory, addon_provider):
                machine = _machine(directory, before['docker'], tools,
                                   progress)
                _there(machine, before['docker'], directory)
                machine.start()
                installation.wait(_kubeconfig(directory), addon_provider,
                                  progress)
            undo.pop_all()
        found = deployments.read(kube.Client(_kubeconfig(directory)))
        return Cluster(_kubeconfig(directory), tuple(
            str(d) for d in found if d.stand_in))


def record(directory: pathlib.Path) -> json_types.Object | None:
    """The record of a cluster of this backend, None if there is none."""
    found = folder.read(pathlib.Path(directory))
    return found if found and found.get('backend') == BACKEND else None


def refuse(directory: pathlib.Path) -> None:
    """Make sure that a folder has no cluster of this backend.

    :raises UsageError: it has one.
    """
    if record(directory):
        raise errors.UsageError(
            'The folder has a management cluster of the backend minikube',
            where=directory, hint='Use --backend minikube, take it down, or '
                                  'name another folder')


def status(directory: pathlib.Path) -> list[tuple[supervision.Status, bool]]:
    """A row for every Deployment, as in :func:`..standalone.status`."""
    try:
        found = deployments.read(kube.Client(
            _kubeconfig(directory), timeout=10))
    except errors.MagnumCapiError:
        return []
    return [(supervision.Status(str(d), 'AVAILABLE' if d.available
                                else 'WAITING', None, 0, 0.0), d.available)
            for d in found]


def sweep(directory: pathlib.Path, progress: progress.Progress) -> None:
    """Stop everything of a cluster and remove its files."""
    directory = pathlib.Path(directory)
    # A killed run's minikube or clusterctl may still be running.
    runmarks.sweep(directory)
    mine = record(directory)
    if mine:
        if dockers.Docker(mine['docker']).answers():
            _machine(directory, mine['docker'], None, progress).delete()
        else:
            progress.info(
                f'The Docker of minikube ({mine["docker"]}) does not answer: '
                'if it has the container of this cluster, that stays')
    shutil.rmtree(directory / 'tmp', ignore_errors=True)
    for file in (_kubeconfig(directory), directory / folder.RECORD):
        file.unlink(missing_ok=True)


def _first(directory: pathlib.Path, addon_provider: bool,
           progress: progress.Progress,
           tools: collections.abc.Mapping[str, pathlib.Path] | None,
           docker: str) -> None:
    tools = tools or toolchain.ensure(TOOLS, progress)
    mine = {'backend': BACKEND, 'addon_provider': addon_provider,
            'docker': docker, 'ready': False}
    folder.write(directory, mine)
    machine = _machine(directory, docker, tools, progress)
    with progress.step('minikube start'):
        machine.start()
    installation.install(machine.kubeconfig, addon_provider, tools, progress,
                         {runmarks.MARK: str(directory)})
    folder.write(directory, {**mine, 'ready': True})


def _machine(directory: pathlib.Path, docker: str,
             tools: collections.abc.Mapping[str, pathlib.Path] | None,
             progress: progress.Progress) -> minikube.Minikube:
    tools = tools or toolchain.ensure(['minikube'], progress)
    return minikube.Minikube(tools['minikube'], directory, docker)


def _there(machine: minikube.Minikube, docker: str,
           directory: pathlib.Path) -> None:
    """Make sure that a machine is there, running or stopped.

    minikube would start an empty one in its place. Its "status" says nothing
    and exits with 0 (cluster.GetStatus in pkg/minikube/cluster/status.go).

    :raises EnvironmentProblem: it was removed.
    """
    if not dockers.Docker(docker).run(
            'ps', '--all', '--quiet', '--filter', f'name=^{machine.profile}$'):
        raise errors.EnvironmentProblem(
            'The machine of the management cluster is gone, with everything '
            'in it', where=directory,
            last_seen=f'no container {machine.profile} in {docker}',
            hint='Take it down, and bring up a new one')


def _healthy(directory: pathlib.Path, addon_provider: bool) -> bool:
    """Whether nothing is left to do."""
    with contextlib.suppress(errors.MagnumCapiError):
        api = kube.Client(_kubeconfig(directory), timeout=5)
        return not deployments.unavailable(
            installation.wanted(addon_provider),
            {(d.namespace, d.name): d for d in deployments.read(api)})
    return False


def _same(before: json_types.Object | None, addon_provider: bool,
          directory: pathlib.Path) -> None:
    if before is None:
        return
    if before.get('backend') != BACKEND:
        raise errors.UsageError(
            'The folder has a management cluster of the backend processes',
            where=directory, hint='Take it down, or name another folder')
    if before['addon_provider'] != addon_provider:
        raise errors.UsageError(
            'The folder has a management cluster with other options',
            where=directory,
            last_seen=f'addon provider: {before["addon_provider"]}',
            hint='Take it down, or name another folder')


def _kubeconfig(directory: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(directory) / 'kubeconfig'
