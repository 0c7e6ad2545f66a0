# SPDX-License-Identifier: Apache-2.0

"""Up and down: the life of an engine.

Images take minutes to load and stay in the store for the next run. Containers,
volumes and networks belong to a run: leftovers of a killed one are removed
when the next one starts.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_tempest import paths
from magnum_capi_tempest import supervision
from magnum_capi_tempest import toolchain
from tools.offline.containers import access
from tools.offline.containers import cgroups
from tools.offline.containers import host
from tools.offline.containers import kernel
from tools.offline.containers import layout as layouts
from tools.offline.containers import networks
from tools.offline.containers import settings
from tools.offline import pins

#: Overrides the folder of the images.
STORE_VARIABLE = 'MAGNUM_CAPI_CONTAINERS_DIR'

#: Seconds for dockerd to answer, on a busy machine with many images.
TIMEOUT = 90


def default_directory() -> pathlib.Path:
    """Folder of an engine when none is named."""
    return paths.state() / 'containers'


def default_store() -> pathlib.Path:
    """Folder of the images; one engine at a time uses it."""
    own = os.environ.get(STORE_VARIABLE)
    return pathlib.Path(own) if own else paths.cache() / 'containers'


class Engine:
    """An engine with its run in one folder.

    :param directory: of the run; :meth:`up` makes it, and :meth:`down` removes
        the engine's files from it.
    :param images: folder of the store, :func:`default_store` by default.
    :raises UsageError: another user owns a folder or can replace it.
    """

    def __init__(self, directory, images=None):
        self.layout = layouts.Layout(
            folders.check(directory), folders.check(images or default_store()))
        self.supervisor = supervision.Supervisor(
            self.layout.directory / 'supervisor')

    def up(self, progress, timeout=TIMEOUT) -> access.Access:
        """Bring the engine up, unless it runs.

        Leftovers of a killed run (control groups, containers) are removed.

        :raises EnvironmentProblem: no container can run here, or another
            engine uses the store.
        :raises WaitTimeout, WaitAborted: dockerd does not start.
        """
        layouts.check(self.layout)
        found = self.access()
        if found:
            return found
        self._require()
        with contextlib.ExitStack() as undo:
            undo.callback(self._end)
            self._end()
            self._claim()
            program = self._prepare(progress)
            self.supervisor.start()
            with progress.step('Container engine'):
                self.supervisor.launch([program], timeout, progress)
            self.layout.socket.chmod(0o600)
            found = self.access()
            self._prepare_networks(found)
            undo.pop_all()
        return found

    def access(self) -> access.Access | None:
        """How to use the engine; None when none runs."""
        record, pid = self._record(), self._pid()
        if record is None or pid is None or not _answers(self.layout.socket):
            return None
        return access.Access(self.layout.socket, pid,
                             networks.parse(record['network']))

    def down(self):
        """Stop all containers and the engine; images stay.

        If no engine runs, only leftovers of a killed one are removed.
        """
        found = self.access()
        if found:
            # A hanging daemon must not prevent its own end.
            with contextlib.suppress(Exception), \
                    contextlib.closing(found.client()) as client:
                _sweep(client)
        self._end()

    def _require(self):
        found = host.problem(self.layout.store)
        if found:
            raise errors.EnvironmentProblem(
                'Containers cannot run on this machine', last_seen=found)

    def _prepare(self, progress):
        """Write all files; returns the program to be supervised."""
        layout = self.layout
        runtime = None
        if host.lacks_resource():
            runtime = toolchain.ensure(
                ['runc-nores'], progress, pins.load())['runc-nores']
        network = networks.choose(_taken())
        for folder in (layout.directory, layout.store):
            folders.make(folder)
        for limit in kernel.lift():
            progress.info(f'Several nodes may not start here: {limit}')
        outfile.write_private(
            layout.record, json.dumps({'network': str(network.whole)}))
        outfile.write_private(
            layout.configuration, settings.daemon(layout, network, runtime))
        cgroups.make(layout.cgroup)
        argv = settings.command(layout, network, host.programs())
        return supervision.Program(
            name=settings.PROGRAM, argv=tuple(argv),
            env=settings.environment(), stop_signal='KILL',
            ready=lambda: _answers(layout.socket))

    def _claim(self):
        """Check that the store is free, and record its next user.

        flock(1), which becomes dockerd, takes the lock for the duration of
        the run. The loser of a race in between does not start.
        """
        lock = self.layout.lock
        folders.make(lock.parent)
        with open(lock, 'a+') as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise errors.EnvironmentProblem(
                    'Another container engine uses these images',
                    where=self.layout.store,
                    last_seen=f'the engine of {_content(lock)}',
                    hint='Take that one down, or keep other images in a '
                         f'folder named by {STORE_VARIABLE}') from None
            file.truncate(0)
            file.write(f'{self.layout.directory}\n')

    def _prepare_networks(self, found):
        """Remove containers of a killed run, and make the nodes' network."""
        import docker
        subnet = found.network.kind
        pool = docker.types.IPAMPool(
            subnet=str(subnet), gateway=str(subnet[1]))
        with contextlib.closing(found.client()) as client:
            _sweep(client)
            client.networks.create(
                settings.NETWORK, driver='bridge', check_duplicate=True,
                ipam=docker.types.IPAMConfig(pool_configs=[pool]))

    def _record(self):
        try:
            record = json.loads(self.layout.record.read_text())
            return record if 'network' in record else None
        except (OSError, ValueError, TypeError):
            return None

    def _pid(self):
        """Id of the process that is in the engine's network."""
        if not self.supervisor.running():
            return None
        for status in self.supervisor.status():
            if status.name == settings.PROGRAM and status.state == 'RUNNING':
                return status.pid
        return None

    def _end(self):
        """Stop the engine and remove everything of it except images."""
        self.supervisor.shutdown()
        shutil.rmtree(self.layout.directory / 'supervisor',
                      ignore_errors=True)
        cgroups.remove(self.layout.cgroup)
        _remove_link(self.layout.link)
        for path in (self.layout.socket, self.layout.configuration,
                     self.layout.record):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.layout.directory.rmdir()   # fails unless it is empty


def _sweep(client):
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


def _answers(socket) -> bool:
    """Whether dockerd answers at its socket."""
    import docker
    if not socket.exists():
        return False
    try:
        with contextlib.closing(docker.DockerClient(
                base_url=f'unix://{socket}', timeout=5)) as client:
            return client.ping()
    except (docker.errors.DockerException, OSError):
        return False


def _taken():
    routes, addresses = (
        json.loads(_ip('-json', '-4', *words) or '[]')
        for words in (['route', 'show', 'table', 'all'], ['address']))
    return networks.taken(routes, addresses)


def _remove_link(name):
    # It disappears by itself, but some time after the last process.
    if pathlib.Path('/sys/class/net', name).exists():
        with contextlib.suppress(errors.CommandFailed):
            _ip('link', 'delete', name)


def _ip(*words):
    return processes.run(
        ['ip', *words], timeout=30, env=settings.environment())


def _content(path):
    try:
        return path.read_text(errors='replace').strip()
    except OSError:
        return ''
