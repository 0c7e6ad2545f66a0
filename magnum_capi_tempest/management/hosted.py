# SPDX-License-Identifier: Apache-2.0
"""The backend ``minikube``: a management cluster of pods.

``magnum-capi management up --backend minikube`` and its siblings as
functions: choose Docker, choose images, start the machine, install into it,
in this order; each step is explained in its own module. A record is written
first, so that the leftovers of a killed run are known.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import dockers
from magnum_capi_tempest.management import driver_kubeconfig
from magnum_capi_tempest.management import folder
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import minikube
from magnum_capi_tempest.management import node
from magnum_capi_tempest.management import sources
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision

BACKEND = 'minikube'


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of a cluster; the same for every "up" on its folder.

    :param driver: of :data:`..minikube.DRIVERS`.
    :param infrastructure: key of ``providers.INFRASTRUCTURES``.
    :param addon_provider: whether the addon provider is installed.
    :param images: folder of image archives, None for registries.
    :param mirror: host of a mirror of registries, or None.
    """

    driver: str = 'docker'
    infrastructure: str = 'openstack'
    addon_provider: bool = False
    images: pathlib.Path | None = None
    mirror: str | None = None

    @property
    def wanted(self) -> installation.Wanted:
        return installation.Wanted(
            self.infrastructure, self.addon_provider,
            stand_in=self.images is not None)

    @property
    def record(self) -> dict:
        """JSON-compatible."""
        return {'backend': BACKEND, **dataclasses.asdict(self),
                'images': self.images and str(self.images)}


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A running management cluster of pods.

    :param stand_ins: names of Deployments that are not upstream's.
    """

    kubeconfig: pathlib.Path
    stand_ins: tuple[str, ...]


def up(directory, options, progress, tools=None,
       kubeconfig_to=None, docker=None) -> Cluster:
    """Bring a cluster up, or the missing parts of an existing one.

    A failed or interrupted first "up" removes everything. When a later one
    fails, existing parts stay: the next "up" continues from there.

    :param tools: paths of :func:`needed` programs by name; from the
        toolchain when None.
    :param kubeconfig_to: file for a copy of the kubeconfig, readable by its
        owner only, where Magnum's driver reads it.
    :param docker: a running engine of the caller's,
        :class:`magnum_capi_tempest.containers.Access`; the caller ends it,
        and with it the machine.
    :raises UsageError: the folder holds something else, or a cluster with
        other options.
    :raises EnvironmentProblem: there is no Docker, or no image archive.
    """
    check(options)
    directory = folders.check(directory)
    with folder.alone(directory):
        before = folder.read(directory)
        _same(before, options, directory)
        if docker is None:
            refuse_lent(before, directory)
        with contextlib.ExitStack() as undo:
            if before is None:
                undo.callback(sweep, directory)
            else:
                found = _running(directory, before, options)
                if found:
                    driver_kubeconfig.give(
                        directory, found.kubeconfig, kubeconfig_to)
                    return found
            found = _up(directory, options, before, progress, tools, docker)
            driver_kubeconfig.give(directory, found.kubeconfig, kubeconfig_to)
            undo.pop_all()
        return found


def check(options):
    """Refuse impossible options.

    :raises UsageError: the options contradict each other.
    :raises EnvironmentProblem: this machine cannot be the node.
    """
    if options.driver not in minikube.DRIVERS:
        raise errors.UsageError(
            f'Unknown minikube driver {options.driver!r}',
            hint=f'Use one of: {", ".join(minikube.DRIVERS)}')
    options.wanted.deployments    # refuses unknown infrastructures
    if options.addon_provider and options.images:
        raise errors.UsageError(
            'There is no image archive of the addon provider',
            hint='The addon provider is not a Go program, so that no image of '
                 'it can be built; omit --addon-provider or --images')
    if options.mirror and options.images:
        raise errors.UsageError('--mirror and --images exclude each other',
                                hint='Omit one of them')
    problem = minikube.problem(
        options.driver, shutil.which, os.geteuid() == 0,
        pathlib.Path('/run/systemd/system').is_dir())
    if problem:
        raise errors.EnvironmentProblem(
            'This machine cannot be the node of a management cluster',
            last_seen=problem, hint='Use --driver docker')


def record(directory) -> dict | None:
    """The record of a cluster of this backend, None if there is none."""
    found = folder.read(pathlib.Path(directory))
    return found if found and found.get('backend') == BACKEND else None


def refuse(directory):
    """Make sure that a folder has no cluster of this backend.

    :raises UsageError: it has one.
    """
    if record(directory):
        raise errors.UsageError(
            'The folder has a management cluster of the backend minikube',
            where=directory, hint='Use --backend minikube, take it down, or '
                                  'name another folder')


def refuse_lent(mine, directory):
    """Make sure that the engine of a cluster is not a sandbox's.

    :param mine: its :func:`record`, or None.
    :raises UsageError: it is.
    """
    if mine and mine.get('docker') == dockers.LENT:
        raise errors.UsageError(
            'The management cluster belongs to a sandbox', where=directory,
            hint='Use "magnum-capi sandbox" with the folder of the sandbox')


def status(directory) -> list[tuple]:
    """A row for every Deployment, as in :func:`..standalone.status`."""
    try:
        found = deployments.read(kube.Client(
            _kubeconfig(directory), timeout=10))
    except errors.MagnumCapiError:
        return []
    return [(supervision.Status(str(d), 'AVAILABLE' if d.available
                                else 'WAITING', None, 0, 0.0), d.available)
            for d in found]


def sweep(directory):
    """Stop everything of a cluster and remove its files."""
    directory = pathlib.Path(directory)
    runmarks.sweep(directory)
    mine = record(directory)
    if mine:
        _end(directory, mine)
        driver_kubeconfig.take_back(directory, _kubeconfig(directory))
    for name in ('minikube', 'engine'):
        shutil.rmtree(directory / name, ignore_errors=True)
    for file in (_kubeconfig(directory), directory / folder.RECORD):
        file.unlink(missing_ok=True)


def _up(directory, options, before, progress, tools, docker):
    # Before anything is started, so that missing parts are reported at once.
    source = sources.open_source(options)
    tools = tools or _toolchain(source.tools, progress)
    repository = installation.load(options.wanted, tools, progress)
    archives = source.archives(repository.images)
    kind = None
    if docker:
        kind = dockers.LENT
    elif options.driver == 'docker':
        kind = before['docker'] if before else dockers.kind()
    # A killed run's minikube or clusterctl may still be running.
    runmarks.sweep(directory)
    folder.write(directory, {**(before or {}), **options.record,
                             'docker': kind})
    if kind and not docker:
        docker = dockers.use(kind, directory, progress)
    machine = minikube.Minikube(tools['minikube'], directory, docker)
    source.prepare(machine, docker, tools, progress)
    node.start(machine, node.wanted(options, source, docker), progress)
    node.load(machine, archives, progress)
    installation.install(
        machine.kubeconfig, options.wanted, repository, tools, progress,
        env={runmarks.MARK: str(directory)})
    return _cluster(directory)


def _running(directory, before, options):
    """The cluster, if nothing is left to do."""
    try:
        api = kube.Client(_kubeconfig(directory), timeout=5)
        if installation.complete(api, options.wanted):
            return _cluster(directory)
    except errors.MagnumCapiError:
        return None
    return None


def _cluster(directory):
    api = kube.Client(_kubeconfig(directory))
    return Cluster(_kubeconfig(directory), tuple(
        str(d) for d in deployments.read(api) if d.stand_in))


def _same(before, options, directory):
    if before is None:
        return
    if before.get('backend') != BACKEND:
        raise errors.UsageError(
            'The folder has a management cluster of the backend processes',
            where=directory, hint='Take it down, or name another folder')
    mine = options.record
    if any(before.get(key) != value for key, value in mine.items()):
        raise errors.UsageError(
            'The folder has a management cluster with other options',
            where=directory, last_seen=', '.join(
                f'{key} {before.get(key)}' for key, value in mine.items()
                if before.get(key) != value),
            hint='Take it down, or name another folder')


def _end(directory, mine):
    """Remove the machine and everything that it made."""
    kind = mine.get('docker')
    if kind == dockers.LENT:
        return
    if kind == dockers.OWN:
        # Everything in the engine ends with it.
        dockers.engine(directory).down()
        return
    if not (directory / 'minikube').exists():
        return
    docker = dockers.machine() if kind == dockers.MACHINE else None
    if kind == dockers.MACHINE and docker is None:
        raise errors.EnvironmentProblem(
            'Docker, which runs the management cluster, does not respond',
            hint='Start Docker first; otherwise the node would be left behind '
                 'in it')
    if docker and mine['infrastructure'] == 'docker':
        _end_machines(directory, docker)
    program = _toolchain(('minikube',), None)['minikube']
    minikube.Minikube(program, directory, docker).delete()


def _end_machines(directory, docker):
    """Remove the containers of workload clusters.

    Cluster API cannot do it once its own machine is gone.
    """
    with contextlib.suppress(errors.MagnumCapiError):
        api = kube.Client(_kubeconfig(directory), timeout=10)
        listed = api.get('/apis/cluster.x-k8s.io/v1beta2/clusters') or {}
        docker.remove([o['metadata']['name']
                       for o in listed.get('items', ())])


def _kubeconfig(directory):
    return pathlib.Path(directory) / 'kubeconfig'


def _toolchain(names, progress):
    from magnum_capi_tempest import toolchain
    return toolchain.ensure(
        list(dict.fromkeys(('minikube', *installation.TOOLS, *names))
             if progress else names), progress)
