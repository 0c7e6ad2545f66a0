# SPDX-License-Identifier: Apache-2.0

"""The backend ``processes``: plain processes on a loopback address.

No containers, images or privileges. Combines the parts of this room, each of
which is explained in its own module.
"""

import base64
import collections.abc
import contextlib
import json
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import progress
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import manifests
from magnum_capi_tempest.management import network
from magnum_capi_tempest.management import pki
from magnum_capi_tempest.management import programs
from magnum_capi_tempest import supervision


def tools(
        openstack: bool = False, containers: bool = False) -> tuple[str, ...]:
    """Programs that the toolchain has to provide.

    :param openstack: whether the machines are an OpenStack cloud's.
    :param containers: whether they are containers.
    """
    return (*programs.NAMES, *((programs.OPENSTACK,) if openstack else ()),
            *((programs.CLOUD_CONTROLLER,) if openstack and containers
              else ()))


class Processes:
    """A management cluster made of plain processes.

    :param layout: :class:`..layout.Layout`.
    :param programs: path of every program of :func:`tools`, by name.
    :param behaviours: delays and faults of the infrastructure provider by
        flavor, ``{'flavors': {'m1.slow': {'createDelay': '20s'}}}``; see
        ``sandbox/capi/behaviour.go`` for all keys.
    :param docker_host: Docker (``unix:///...``) for machines that are
        containers: those of Cluster API's provider "docker", which is served
        then, or the servers in ``endpoint_network``.
    :param rate_limiting: see :func:`..programs.capi`.
    :param endpoint_network: for machines of an OpenStack cloud, made by the
        OpenStack provider, see :func:`..programs.capi`; None: no cloud is
        used. Needs the program "capo".
    """

    def __init__(self, layout: layout.Layout,
                 programs: collections.abc.Mapping[str, pathlib.Path],
                 behaviours: collections.abc.Mapping[str, object]
                 | None = None,
                 docker_host: str | None = None, rate_limiting: bool = False,
                 endpoint_network: str | None = None) -> None:
        self.layout = layout
        self._paths = programs
        self._behaviours = behaviours or {}
        self._docker_host = docker_host
        self._rate_limiting = rate_limiting
        self._endpoint_network = endpoint_network
        missing = {*tools(bool(endpoint_network), bool(docker_host))} - {
            *programs}
        if missing:
            raise errors.UsageError('The management cluster needs '
                                    + ', '.join(sorted(missing)))

    @property
    def kubeconfig(self) -> pathlib.Path:
        """The administrator's kubeconfig."""
        return self.layout.kubeconfig

    def client(self, timeout: float = 30) -> kube.Endpoint:
        """A client with the administrator's certificate."""
        folder = self.layout.pki
        return kube.Endpoint(
            self.layout.url('kube-apiserver'), folder / 'ca.crt',
            (folder / 'admin.crt', folder / 'admin.key'), timeout=timeout)

    def programs(self) -> list[supervision.Program]:
        """All :class:`..supervision.Program` objects, in starting order."""
        layout, paths = self.layout, self._paths
        return [
            programs.etcd(layout, paths['etcd']),
            programs.kube_apiserver(
                layout, paths['kube-apiserver'], self.client(timeout=3)),
            programs.capi(layout, paths['capi'], self._docker_host,
                          self._rate_limiting, self._endpoint_network,
                          paths.get(programs.CLOUD_CONTROLLER)),
            *([programs.capo(layout, paths[programs.OPENSTACK])]
              if self._endpoint_network else ())]

    def up(self, supervisor: supervision.Supervisor,
           progress: progress.Progress, timeout: float = 120) -> None:
        """Bring the cluster up, or its missing parts.

        Ready for ``helm install`` when it returns. It does not change a
        complete cluster; it restarts dead programs, and after a dead API
        server the controllers, too.

        :param timeout: seconds for every single wait.
        :raises EnvironmentProblem: a port is taken.
        :raises WaitTimeout, WaitAborted: a program does not become ready.
        """
        objects = manifests.load(
            self._paths['capi'], progress,
            docker=bool(self._docker_host and not self._endpoint_network),
            openstack=bool(self._endpoint_network))
        self._prepare(supervisor)
        wanted = self.programs()
        if self._complete(supervisor, wanted, objects):
            return
        supervisor.start()
        self._stop_controllers_of_dead_api(supervisor)
        self._check_ports(supervisor, wanted)
        admin = self.client()
        crds = self._aimed(objects['crds'])
        with progress.step('Kubernetes API'):
            # The API server does not wait for etcd.
            supervisor.launch(wanted[:1], timeout, progress)
            supervisor.launch(wanted[1:2], timeout, progress)
        with progress.step('Custom resource definitions'):
            client.put_all(admin, crds)
            client.wait_established(admin, manifests.names(crds), timeout)
        # Only now: the garbage collector discovers kinds every 30 s, and
        # Cluster API's controllers do not start without their kinds.
        with progress.step('Cluster API'):
            supervisor.launch(wanted[2:], timeout, progress)
            client.put_all(admin, self._admission(objects))

    def remove(self) -> None:
        """Remove all its files. Its programs must have ended."""
        remove(self.layout)

    def _prepare(self, supervisor: supervision.Supervisor) -> None:
        layout = self.layout
        layout.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not pki.usable(layout.pki, layout.address):
            # Programs and data belong to another address or authority.
            if supervisor.running():
                supervisor.stop(*reversed(self._names()))
            shutil.rmtree(layout.etcd, ignore_errors=True)
            pki.make(layout.pki, layout.address,
                     layout.url('kube-apiserver'))
        _write(layout.kubeconfig,
               (layout.pki / 'admin.kubeconfig').read_bytes())
        if _write(layout.behaviours, json.dumps(
                self._behaviours, indent=2, sort_keys=True).encode()):
            # The programs read it once, when they start.
            if supervisor.running():
                supervisor.stop('capi')

    def _complete(self, supervisor: supervision.Supervisor,
                  wanted: collections.abc.Sequence[supervision.Program],
                  objects: manifests.Objects) -> bool:
        """Whether nothing is left to do."""
        if not supervisor.running() or not all(map(supervisor.ready, wanted)):
            return False
        # up() makes them last.
        admin = self.client(timeout=3)
        admission = self._admission(objects)
        paths = {client.collection(o) for o in admission}
        there = {name for path in paths
                 for name in manifests.names(admin.ask('GET', path)['items'])}
        return there.issuperset(manifests.names(admission))

    def _stop_controllers_of_dead_api(
            self, supervisor: supervision.Supervisor) -> None:
        """Make controllers restart along with a new API server.

        After an outage their watches recover one by one, up to 30 s apart. A
        MachineSet controller that sees new infrastructure machines but not
        yet the Machines they belong to deletes them as orphans, and the
        Machines never become ready: in Cluster API 1.14.0,
        cleanupOrphanedBootstrapConfigsInfraMachines of
        core/reconcilers/machineset/machineset_controller.go. Seen in two of
        three resizes. New processes start with complete caches.
        """
        if not _running(supervisor).issuperset(programs.NAMES[:2]):
            supervisor.stop(*self._names()[2:])

    def _check_ports(
            self, supervisor: supervision.Supervisor,
            wanted: collections.abc.Sequence[supervision.Program]) -> None:
        running = _running(supervisor)
        network.require_free(self.layout.address, [
            port for p in wanted if p.name not in running
            for _, port in p.listens])

    def _names(self) -> list[str]:
        return [*programs.NAMES, *([programs.OPENSTACK]
                                   if self._endpoint_network else ())]

    def _admission(
            self, objects: manifests.Objects) -> list[json_types.Object]:
        """What refuses objects: webhooks, and policies in their place."""
        return self._aimed(objects['webhooks']) + (
            self._aimed(objects['openstack_webhooks'], 'capo-webhook')
            if self._endpoint_network else manifests.immutability())

    def _aimed(self, objects: collections.abc.Sequence[json_types.Object],
               listener: str = 'capi-webhook') -> list[json_types.Object]:
        url = self.layout.url(listener)
        ca = base64.b64encode(
            (self.layout.pki / 'ca.crt').read_bytes()).decode()
        return [manifests.aim(o, url, ca) for o in objects]


def remove(layout: layout.Layout) -> None:
    """Remove the files of a management cluster; stops no program."""
    for folder in (layout.pki, layout.etcd):
        shutil.rmtree(folder, ignore_errors=True)
    for file in (layout.kubeconfig, layout.behaviours, layout.machines):
        file.unlink(missing_ok=True)


def _running(supervisor: supervision.Supervisor) -> set[str]:
    if not supervisor.running():
        return set()
    return {s.name for s in supervisor.status() if s.state == 'RUNNING'}


def _write(path: pathlib.Path, content: bytes) -> bool:
    """Write a private file; returns False if its content was the same."""
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return False
    outfile.write_private(path, content)
    return True
