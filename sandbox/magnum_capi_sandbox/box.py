# SPDX-License-Identifier: Apache-2.0
"""A sandbox: a whole cloud in one folder, and what can be done with it.

Programs and environments, which only cost time, are prepared first; then
comes everything that must be undone on failure.
"""

import collections.abc
import concurrent.futures
import contextlib
import dataclasses
import pathlib
import shutil
import typing

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import progress
from magnum_capi_sandbox import access
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox import charts
from magnum_capi_sandbox.cloud import backends
from magnum_capi_sandbox.cloud import credentials
from magnum_capi_sandbox.cloud import deployment
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import flavors
from magnum_capi_sandbox.cloud import overlay
from magnum_capi_sandbox.cloud import services
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import hints
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import locks
from magnum_capi_sandbox import logs
from magnum_capi_sandbox import machines
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import options
from magnum_capi_sandbox import prerequisites
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import spec as specs
from magnum_capi_sandbox import tempest_run
from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest import management
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import local
from magnum_capi_tempest.management import network
from magnum_capi_tempest.management import pods
from magnum_capi_tempest import paths
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.workspace import runs

#: Free space that a running sandbox needs, in bytes.
ROOM = 2 << 30


class Box:
    """A whole cloud in one folder.

    :param directory: its folder, made by :meth:`up`, removed by
        :meth:`down`.
    :raises UsageError: another user owns the folder or can replace it.
    """

    def __init__(self, directory: pathlib.Path | None = None) -> None:
        self.directory = folders.check(directory or hints.default_directory())
        self.supervisor = supervision.Supervisor(self.directory)

    def spec(self) -> specs.Spec:
        """What this sandbox, which is up, is.

        :raises UsageError: there is none, or it cannot be read.
        """
        return specs.require_ready(self.directory)

    def layout(self) -> layouts.Layout:
        """Addresses and files of the running sandbox.

        :raises UsageError: there is none.
        """
        return self.spec().layout(self.directory)

    def passwords(self) -> dict[str, str]:
        """Passwords of the users admin, demo and service."""
        return credentials.passwords(self.directory)

    def environments(self) -> environment.Environments:
        """The Python environments that it was made with.

        :raises UsageError: there is no sandbox.
        """
        return environment.made(self.spec().versions)

    def up(self, wish: specs.Spec, progress: progress.Progress) -> specs.Spec:
        """Bring the sandbox up, or start the missing parts of a running one.

        :returns: what it is.
        :raises UsageError: the folder is not a sandbox's, or one's that
            cannot be read or differs from the wish; or something in the wish
            does not exist.
        :raises MagnumCapiError: it failed; nothing is left behind, unless
            the sandbox was up before.
        """
        wish = specs.checked(wish, progress)
        with locks.alone(self.directory):
            found = self._mine()
            if found and found.ready:
                return self._again(found, wish, progress)
            if found:
                progress.info('Cleaning up after an interrupted start')
                self._remove(progress)
            return self._first(wish, progress)

    def _first(
            self, wish: specs.Spec, progress: progress.Progress) -> specs.Spec:
        """Make everything of a new sandbox, or nothing."""
        disk.require(ROOM, [self.directory], 'a sandbox',
                     '--directory or MAGNUM_CAPI_STATE')
        if profiles.get(wish.profile or profiles.DEFAULT).broker:
            backends.check()
        spec = specs.decided(wish)
        spec = dataclasses.replace(spec, versions=_versions(spec))
        programs, venvs = _prepared(spec, progress)
        with network.allocate(_ports(spec.port_base)) as net:
            spec = dataclasses.replace(spec, network=net.prefix)
            folders.make(self.directory).chmod(0o700)
            specs.save(self.directory, spec)
            with self._all_or_nothing(progress):
                return self._start(spec, programs, venvs, progress)

    def _again(self, spec: specs.Spec, wish: specs.Spec,
               progress: progress.Progress) -> specs.Spec:
        """Start the parts of a sandbox that have gone."""
        specs.refuse_others(wish, spec, self.directory)
        self._require_same_versions(spec)
        if not self.supervisor.running():
            progress.info('supervisord is not running any more: stopping its '
                          'remaining programs and starting them again with '
                          'their data')
            runmarks.sweep(self.directory)
        programs, venvs = _prepared(spec, progress)
        if spec.openstack and any(
                program.name == 'capi' and not program.pid
                for program in self.status()):
            # The machines have gone with it, like those of a host that lost
            # power: nova-compute boots its servers again when it starts.
            self.supervisor.stop('nova')
        with network.claim(spec.layout(self.directory).address):
            return self._start(spec, programs, venvs, progress)

    def _start(self, spec: specs.Spec,
               programs: collections.abc.Mapping[str, pathlib.Path],
               venvs: environment.Environments,
               progress: progress.Progress) -> specs.Spec:
        layout = spec.layout(self.directory)
        for name in ('etc', 'log', 'home', 'tmp', 'lock'):
            (self.directory / name).mkdir(mode=0o700, exist_ok=True)
        self._add(layout, spec, venvs.magnum, progress)
        if spec.openstack:
            overlay.add_infrastructure(layout, venvs.cloud)
        self.supervisor.start(services.supervisord(
            layout, venvs.cloud, spec.infrastructure))
        machines.up(self.directory, spec, self.supervisor, progress)
        cloud = deployment.Cloud(layout, spec, venvs, self.supervisor,
                                 programs['helm'])
        if spec.pods:
            self._in_pods(layout, spec, programs, progress)
            cloud.up(progress)
        else:
            self._in_processes(management.Processes(
                layout.management, programs, flavors.behaviours(),
                docker_host=spec.machines.docker,
                rate_limiting=spec.rate_limiting,
                endpoint_network=layout.external_network
                if spec.openstack else None), cloud, spec, progress)
        access.write(layout, self.passwords())
        spec = dataclasses.replace(spec, ready=True)
        specs.save(self.directory, spec)
        return spec

    def _in_pods(self, layout: layouts.Layout, spec: specs.Spec,
                 programs: collections.abc.Mapping[str, pathlib.Path],
                 progress: progress.Progress) -> None:
        """Start the management cluster, through which clients reach the cloud.

        The cloud's first requests need it: the catalog has its addresses.
        """
        pods.Pods(
            layout.management, programs, spec.machines.docker,
            layout.external_network,
            [layout.port(service.name)
             for service in catalog.services(spec.infrastructure)]
        ).up(self.supervisor, progress)

    def _in_processes(self, plane: management.Processes,
                      cloud: deployment.Cloud, spec: specs.Spec,
                      progress: progress.Progress) -> None:
        """Start management cluster and cloud."""
        # In parallel: neither needs the other until a cluster is created.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(plane.up, self.supervisor, progress)
            try:
                cloud.up(progress)
                future.result()
            except BaseException:
                # Ends the programs for which the other thread waits.
                if not spec.ready:
                    runmarks.sweep(self.directory)
                raise

    def _add(self, layout: layouts.Layout, spec: specs.Spec,
             venv: pathlib.Path, progress: progress.Progress) -> None:
        """Add what Magnum needs beyond the environment of its release."""
        wanted = spec.requirements
        if not spec.ready:
            options.add(prerequisites.magnum_conf(wanted),
                        layout.magnum_conf[1])
            options.copy(spec.configuration, layout.magnum_conf[1])
        if wanted and not layout.drivers.exists():
            drivers.install(
                layout, venv, wanted, progress, spec.release,
                companions=prerequisites.companions(wanted))
        charts.make(self.directory, spec)
        overlay.make(layout, venv)

    def set(self, words: collections.abc.Sequence[str], restart: bool,
            progress: progress.Progress) -> None:
        """Change Magnum's configuration.

        :param words: ``GROUP.OPTION=VALUE``; an empty value undoes an earlier
            change.
        :param restart: restart Magnum, and return when it answers again.
        :raises UsageError: a word has another form, or no sandbox runs;
            nothing is changed.
        :raises WaitFailed: Magnum does not start with the change.
        """
        with locks.alone(self.directory):
            spec = self.spec()
            layout = spec.layout(self.directory)
            if restart:
                self._require_same_versions(spec)
                self._require_running()
            options.change(layout.magnum_conf[1], words)
            if restart:
                helm = toolchain.ensure(['helm'], progress)['helm']
                deployment.Cloud(layout, spec, self.environments(),
                                 self.supervisor, helm
                                 ).restart_magnum(progress)

    def _require_running(self) -> None:
        if not self.supervisor.running():
            raise errors.UsageError(
                'The sandbox is not running', where=self.directory,
                hint='Start it again with: '
                     f'{hints.command("up", self.directory)}')

    def _require_same_versions(self, spec: specs.Spec) -> None:
        """Never run programs of two versions on the same data.

        :raises UsageError: this program has other pins than the one that
            made the sandbox.
        """
        wanted = _versions(spec)
        others = [f'{name} {spec.versions.get(name, "none")}, here '
                  f'{wanted.get(name, "none")}'
                  for name in sorted({*spec.versions, *wanted})
                  if spec.versions.get(name) != wanted.get(name)]
        if others:
            raise errors.UsageError(
                'The sandbox was made with other versions',
                where=self.directory, last_seen='; '.join(others),
                hint='Use the version of this program that made it, or '
                     f'take it down: {hints.command("down", self.directory)}')

    @contextlib.contextmanager
    def _all_or_nothing(self, progress: progress.Progress
                        ) -> collections.abc.Iterator[None]:
        try:
            yield
        except BaseException as e:
            if isinstance(e, Exception):
                self._keep_logs(progress)
            self._remove(progress)
            raise

    def _keep_logs(self, progress: progress.Progress) -> None:
        # Not next to the sandbox: that folder may be the user's.
        kept = paths.state() / 'failed' / (
            f'{self.directory.name}-{environment.digest(str(self.directory))}')
        with contextlib.suppress(OSError):
            if not any((self.directory / 'log').iterdir()):
                return
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(self.directory / 'log', kept)
            progress.info(f'The logs of the failed start are in {kept}')

    def down(self, progress: progress.Progress, force: bool = False) -> None:
        """Stop everything and remove the folder, if there is one.

        :param force: also if its record cannot be read.
        :raises UsageError: the folder is not a sandbox's, or one's that
            cannot be read; nothing is removed.
        """
        with locks.alone(self.directory):
            unreadable = False
            try:
                found = self._mine()
            except errors.UsageError:
                unreadable = (self.directory / specs.NAME).exists()
                if not (force and unreadable):
                    raise
            if not unreadable and found is None:
                progress.info(f'There is no sandbox ({self.directory})')
                # Programs may have survived the folder.
                self._remove(progress)
                return
            with progress.step('Sandbox down'):
                self._remove(progress)

    def _mine(self) -> specs.Spec | None:
        """The sandbox of the folder, None if that is missing or empty.

        :raises UsageError: the folder has something else, or a sandbox that
            cannot be read.
        """
        folder = self.directory
        found = specs.load(folder)
        if found is None and folder.exists() and (
                not folder.is_dir() or any(folder.iterdir())):
            raise errors.UsageError(
                'The folder is not a sandbox; nothing was removed',
                where=folder)
        return found

    def _remove(self, progress: progress.Progress) -> None:
        tempest_run.sweep(self.directory)
        self.supervisor.shutdown()
        if hosted.record(self.directory / 'management'):
            hosted.sweep(self.directory / 'management', progress)
        made_of: nodes.Nodes | None = None
        with contextlib.suppress(errors.UsageError):
            found = specs.load(self.directory)
            made_of = found.machines if found else nodes.Nodes()
        machines.down(self.directory, made_of, progress)
        if self.directory.exists():
            # The record goes last: it marks the folder as a sandbox's.
            record = self.directory / specs.NAME
            for path in self.directory.iterdir():
                if path == record:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            shutil.rmtree(self.directory)

    def status(self) -> list[supervision.Status]:
        """The states of the programs.

        :raises UsageError: there is no sandbox.
        """
        self.spec()
        if not self.supervisor.running():
            return []
        return self.supervisor.status()

    def logs(self, names: collections.abc.Sequence[str], lines: int,
             follow: bool, stream: typing.TextIO) -> None:
        """Print the last lines of logs, see :func:`.logs.show`."""
        self.spec()
        logs.show(self.supervisor, names, lines, follow, stream)

    def env(self) -> dict[str, str]:
        """Environment variables that make other programs use this sandbox.

        :raises UsageError: there is no sandbox.
        """
        spec = self.spec()
        return access.variables(
            spec.layout(self.directory), self.environments().cloud,
            spec.machines)

    def tempest(self, order: tempest_run.Order, progress: progress.Progress
                ) -> tuple[pathlib.Path, dict[str, str], model.Left]:
        """Run Tempest when nobody else does.

        :param order: :class:`.tempest_run.Order`.
        :returns: its stream and facts for a report, see
            :func:`.tempest_run.run`, and what it left.
        """
        with tempest_run.alone(self, progress):
            before = self.snapshot()
            stream, facts = tempest_run.run(self, order)
            return stream, facts, leaks.compare(
                before, self.snapshot(), stream.parent / runs.ARTEFACTS)

    def snapshot(self) -> model.Snapshot:
        """What exists in the sandbox, which nobody else uses."""
        spec = self.spec()
        return leaks.take(
            'sandbox-admin', spec.layout(self.directory).kubeconfig,
            clouds=self.directory / 'clouds.yaml',
            real_nodes=spec.openstack)


def running() -> list[pathlib.Path]:
    """Folders of sandboxes that run, and the default one, sorted."""
    found = {pathlib.Path(folder) for folder in runmarks.runs()}
    found.add(hints.default_directory())
    return sorted(folder for folder in found
                  if (folder / specs.NAME).exists())


def _prepared(spec: specs.Spec, progress: progress.Progress
              ) -> tuple[dict[str, pathlib.Path], environment.Environments]:
    """Programs by name, and environments, made if they are missing."""
    return (toolchain.ensure(_tools(spec), progress),
            environment.both(progress, spec.release, spec.infrastructure))


def _versions(spec: specs.Spec) -> dict[str, str]:
    """What must not change while a sandbox exists, by name."""
    return (environment.versions(spec.release, spec.infrastructure)
            | toolchain.versions(_tools(spec)))


def _tools(spec: specs.Spec) -> tuple[str, ...]:
    if spec.pods:
        return pods.TOOLS
    return (*local.tools(spec.openstack, spec.machines.real), 'helm')


def _ports(base: int) -> list[int]:
    if not 1024 <= base <= 64000:
        raise errors.UsageError(
            f'{base} cannot be the first port',
            hint='Choose a port from 1024 to 64000')
    layout = layouts.Layout(pathlib.Path('/'), '127.0', base)
    return sorted({*(layout.port(s) for s in layouts.PORTS if s != 'epmd'),
                   *layout.management.ports.values()})
