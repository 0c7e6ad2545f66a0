# SPDX-License-Identifier: Apache-2.0
"""Up, down, status: the life of a sandbox.

Programs and environments, which only cost time, are prepared first; then
comes everything that must be undone on failure.
"""

import concurrent.futures
import contextlib
import dataclasses
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import folders
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
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import machines
from magnum_capi_sandbox import magnum_wheel
from magnum_capi_sandbox import options
from magnum_capi_sandbox import prerequisites
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import record as records
from magnum_capi_sandbox import spec
from magnum_capi_sandbox import tempest_run
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

#: Free space that a running sandbox needs, in bytes.
ROOM = 2 << 30


class Sandbox:
    """A whole cloud in one folder.

    :param directory: its folder, made by :meth:`up`, removed by
        :meth:`down`.
    :raises UsageError: another user owns the folder or can replace it.
    """

    def __init__(self, directory=None):
        self.directory = folders.check(directory or hints.default_directory())
        self.supervisor = supervision.Supervisor(self.directory)

    def layout(self) -> layouts.Layout:
        """Addresses and files of the running sandbox.

        :raises UsageError: there is none.
        """
        record = records.require_ready(self.directory)
        return layouts.Layout(self.directory, record.prefix,
                              record.port_base)

    def passwords(self) -> dict[str, str]:
        """Passwords of the users admin, demo and service."""
        return credentials.passwords(self.directory)

    def up(self, wanted, progress):
        """Bring the sandbox up, or start the missing parts of a running one.

        :param wanted: :class:`~.spec.Spec`.
        :returns: the :class:`~..record.Record`.
        :raises UsageError: the folder is not a sandbox's, or something in
            ``wanted`` does not exist.
        :raises MagnumCapiError: it failed; nothing is left behind, unless
            the sandbox was up before.
        """
        profile = profiles.get(wanted.profile or profiles.DEFAULT)
        release = magnum_wheel.find(wanted.magnum, progress)
        chart = spec.chart(wanted.chart)
        additions = spec.additions(wanted)
        with records.locked(self.directory):
            self._require_ours()
            record = records.load_readable(self.directory)
            if record and record.ready:
                return self._again(record, wanted, release, progress)
            if record:
                progress.info('Cleaning up after an interrupted start')
                self._remove()
            kind = spec.infrastructure_of(wanted)
            where = spec.management_of(wanted, kind)
            disk.require(ROOM, [self.directory], 'a sandbox',
                         '--directory or MAGNUM_CAPI_STATE')
            if profile.broker:
                backends.check()
            nodes = spec.nodes(wanted, kind, progress)
            programs = toolchain.ensure(_tools(kind, nodes, where), progress)
            venvs = environment.both(progress, release, kind)
            base = wanted.port_base or layouts.DEFAULT_PORT_BASE
            with network.allocate(_ports(base),
                                  paths.cache() / 'networks') as net:
                record = records.Record(profile.name, net.prefix, base,
                                        str(chart), additions=additions,
                                        nodes=nodes, magnum=release.name,
                                        magnum_wheel=release.wheel,
                                        infrastructure=kind,
                                        management=where)
                folders.make(self.directory).chmod(0o700)
                records.save(self.directory, record)
                with self._all_or_nothing(progress):
                    self._start(record, programs, venvs, net.lock, progress)
            return records.load(self.directory)

    def _again(self, record, wanted, release, progress):
        spec.refuse_others(wanted, release, record, self.directory)
        if not self.supervisor.running():
            progress.info('supervisord is not running any more: stopping its '
                          'remaining programs and starting them again with '
                          'their data')
            runmarks.sweep(self.directory)
        programs = toolchain.ensure(
            _tools(record.infrastructure, record.nodes, record.management),
            progress)
        venvs = environment.both(progress, record.release,
                                 record.infrastructure)
        lock = paths.cache() / 'networks' / f'{record.prefix}.lock'
        if record.infrastructure == infrastructure.OPENSTACK and any(
                program.name == 'capi' and not program.pid
                for program in self.status()):
            # The machines have gone with it, like those of a host that lost
            # power: nova-compute boots its servers again when it starts.
            self.supervisor.stop('nova')
        self._start(record, programs, venvs, lock, progress)
        return record

    def _start(self, record, programs, venvs, lock, progress):
        layout = layouts.Layout(self.directory, record.prefix,
                                record.port_base)
        for name in ('etc', 'log', 'home', 'tmp', 'lock'):
            (self.directory / name).mkdir(mode=0o700, exist_ok=True)
        self._add(layout, record, venvs.magnum, progress)
        if record.infrastructure == infrastructure.OPENSTACK:
            overlay.add_infrastructure(layout, venvs.cloud)
        self.supervisor.start(services.supervisord(
            layout, venvs.cloud, record.infrastructure))
        engine = machines.up(
            self.directory, record, self.supervisor, progress)
        above = deployment.Cloud(layout, record, venvs, self.supervisor,
                                 programs['helm'])
        if record.pods:
            self._in_pods(layout, record, programs, lock, progress)
            above.up(progress)
        else:
            self._in_processes(management.Processes(
                layout.management, programs, flavors.behaviours(), lock,
                docker_host=engine,
                rate_limiting=record.additions.rate_limiting,
                endpoint_network=layout.external_network
                if record.infrastructure == infrastructure.OPENSTACK
                else None), above, record, progress)
        access.write(layout, self.passwords())
        records.save(self.directory, dataclasses.replace(record, ready=True))

    def _in_pods(self, layout, record, programs, lock, progress):
        """Start the management cluster, through which clients reach the cloud.

        The cloud's first requests need it: the catalog has its addresses.
        """
        kind = record.infrastructure
        pods.Pods(
            layout.management, programs, record.nodes.images,
            machines.access(self.directory, self.supervisor),
            layout.external_network,
            [layout.port(service.name) for service in catalog.services(kind)],
            lock).up(self.supervisor, progress)

    def _in_processes(self, plane, above, record, progress):
        """Start management cluster and cloud."""
        # In parallel: neither needs the other until a cluster is created.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(plane.up, self.supervisor, progress)
            try:
                above.up(progress)
                future.result()
            except BaseException:
                # Ends the programs for which the other thread waits.
                if not record.ready:
                    runmarks.sweep(self.directory)
                raise

    def _add(self, layout, record, venv, progress):
        """Add what Magnum needs beyond the environment of its release."""
        wanted = record.additions
        if not record.ready:
            options.add(prerequisites.magnum_conf(wanted.install),
                        layout.magnum_conf[1])
            options.copy(wanted.magnum_conf, layout.magnum_conf[1])
        if wanted.install and not layout.drivers.exists():
            drivers.install(
                layout, venv, wanted.install, progress, record.release,
                companions=prerequisites.companions(wanted.install))
        charts.make(self.directory, record)
        overlay.make(layout, venv)

    def set(self, words, restart, progress):
        """Change Magnum's configuration.

        :param words: ``GROUP.OPTION=VALUE``; an empty value undoes an earlier
            change.
        :param restart: restart Magnum, and return when it answers again.
        :raises UsageError: a word has another form, or no sandbox runs;
            nothing is changed.
        :raises WaitFailed: Magnum does not start with the change.
        """
        with records.locked(self.directory):
            record = records.require_ready(self.directory)
            layout = self.layout()
            if restart:
                self._require_running()
            options.change(layout.magnum_conf[1], words)
            if restart:
                venvs = environment.both(progress, record.release,
                                         record.infrastructure)
                self._cloud(record, venvs, progress).restart_magnum(progress)

    def _cloud(self, record, venvs, progress):
        helm = toolchain.ensure(['helm'], progress)['helm']
        return deployment.Cloud(
            self.layout(), record, venvs, self.supervisor, helm)

    def _require_running(self):
        if not self.supervisor.running():
            raise errors.UsageError(
                'The sandbox is not running', where=self.directory,
                hint='Start it again with: '
                     f'{hints.command("up", self.directory)}')

    @contextlib.contextmanager
    def _all_or_nothing(self, progress):
        try:
            yield
        except BaseException as e:
            if isinstance(e, Exception):
                self._keep_logs(progress)
            self._remove()
            raise

    def _keep_logs(self, progress):
        # Not next to the sandbox: that folder may be the user's.
        logs = paths.state() / 'failed' / (
            f'{self.directory.name}-{environment.digest(str(self.directory))}')
        with contextlib.suppress(OSError):
            if not any((self.directory / 'log').iterdir()):
                return
            shutil.rmtree(logs, ignore_errors=True)
            shutil.copytree(self.directory / 'log', logs)
            progress.info(f'The logs of the failed start are in {logs}')

    def down(self, progress):
        """Stop everything and remove the folder, if there is one.

        :raises UsageError: the folder is not a sandbox's.
        """
        with records.locked(self.directory):
            self._require_ours()
            if records.load(self.directory) is None:
                progress.info(f'There is no sandbox ({self.directory})')
                # Programs may have survived the folder.
                self._remove()
                return
            with progress.step('Sandbox down'):
                self._remove()

    def _require_ours(self):
        """Refuse a folder that has something, but no record.

        :raises UsageError: it is not a sandbox's.
        """
        folder = self.directory
        if records.load(folder) is None and folder.exists() and (
                not folder.is_dir() or any(folder.iterdir())):
            raise errors.UsageError(
                'The folder is not a sandbox; nothing was removed',
                where=folder)

    def _remove(self):
        tempest_run.sweep(self.directory)
        self.supervisor.shutdown()
        if hosted.record(self.directory / 'management'):
            # A killed run's minikube may still be running.
            hosted.sweep(self.directory / 'management')
        machines.down(self.directory, self.supervisor)
        if self.directory.exists():
            # The record goes last: it marks the folder as a sandbox's.
            record = self.directory / records.NAME
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
        records.require_ready(self.directory)
        if not self.supervisor.running():
            return []
        return self.supervisor.status()


def _tools(kind, nodes, where):
    if where == hosted.BACKEND:
        return pods.TOOLS
    return (*local.tools(kind == infrastructure.OPENSTACK, nodes.real),
            'helm')


def _ports(base):
    if not 1024 <= base <= 64000:
        raise errors.UsageError(
            f'{base} cannot be the first port',
            hint='Choose a port from 1024 to 64000')
    layout = layouts.Layout(pathlib.Path('/'), '127.0', base)
    return sorted({*(layout.port(s) for s in layouts.PORTS if s != 'epmd'),
                   *layout.management.ports.values()})
