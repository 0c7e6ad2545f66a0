# SPDX-License-Identifier: Apache-2.0

"""The programs of the management cluster: their command lines.

Pure, except for the readiness probes. No argument is a secret: keys and
kubeconfigs are named by path. Comments explain flags that are not obvious.
"""

import collections.abc
import json
import os
import pathlib
import types

from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import layout
from magnum_capi_tempest import supervision

#: Names of the programs, in the order in which they start.
NAMES = ('etcd', 'kube-apiserver', 'capi')

#: Cluster API Provider OpenStack, for machines of a cloud; starts last.
OPENSTACK = 'capo'

#: Of each cluster whose nodes are real servers; started by "capi".
CLOUD_CONTROLLER = 'openstack-cloud-controller-manager'

#: The listeners of :data:`.layout.OFFSETS` that belong to each program.
LISTENERS = types.MappingProxyType({
    'etcd': ('etcd', 'etcd-peer'),
    'kube-apiserver': ('kube-apiserver',),
    'capi': ('capi-webhook', 'capi-health'),
    'capo': ('capo-webhook', 'capo-health'),
})

#: Feature gates of Cluster API. Drivers with a ClusterClass need the first
#: two. Rate limiting and preflight checks add pauses of up to 15 s to every
#: step, which are right for clouds and pointless in memory, except to measure
#: how many clusters Cluster API can handle with its defaults.
GATES = {'ClusterTopology': True, 'MachinePool': True,
         'ReconcilerRateLimiting': False, 'MachineSetPreflightChecks': False}


def etcd(layout: layout.Layout, program: pathlib.Path) -> supervision.Program:
    """etcd: TLS with client certificates, and no fsync."""
    pki = layout.pki
    url, peer = layout.url('etcd'), layout.url('etcd-peer')
    argv = [
        program, '--name=magnum-capi', f'--data-dir={layout.etcd}',
        f'--listen-client-urls={url}', f'--advertise-client-urls={url}',
        f'--listen-peer-urls={peer}', f'--initial-advertise-peer-urls={peer}',
        f'--initial-cluster=magnum-capi={peer}',
        f'--cert-file={pki}/server.crt', f'--key-file={pki}/server.key',
        '--client-cert-auth', f'--trusted-ca-file={pki}/ca.crt',
        f'--peer-cert-file={pki}/server.crt',
        f'--peer-key-file={pki}/server.key',
        '--peer-client-cert-auth', f'--peer-trusted-ca-file={pki}/ca.crt',
        # The state is thrown away with the run, and the page cache survives
        # a SIGKILL.
        '--unsafe-no-fsync',
        # With one member, the default of 1 s would only delay the start.
        '--heartbeat-interval=20', '--election-timeout=200',
        '--quota-backend-bytes=2147483648', '--log-level=warn']
    probe = kube.Endpoint(
        layout.url('etcd'), pki / 'ca.crt',
        (pki / 'etcd-client.crt', pki / 'etcd-client.key'), timeout=3)
    return _program(layout, 'etcd', argv, lambda: probe.answers('/health'))


def kube_apiserver(layout: layout.Layout, program: pathlib.Path,
                   admin: kube.Endpoint) -> supervision.Program:
    """The API server.

    :param admin: :class:`..kubeclient.kube.Client` of the administrator.
    """
    pki = layout.pki
    return _program(layout, 'kube-apiserver', [
        program, f'--bind-address={layout.address}',
        f'--advertise-address={layout.address}',
        f'--secure-port={layout.port("kube-apiserver")}',
        f'--etcd-servers={layout.url("etcd")}',
        f'--etcd-cafile={pki}/ca.crt',
        f'--etcd-certfile={pki}/etcd-client.crt',
        f'--etcd-keyfile={pki}/etcd-client.key',
        f'--tls-cert-file={pki}/server.crt',
        f'--tls-private-key-file={pki}/server.key',
        f'--client-ca-file={pki}/ca.crt', '--anonymous-auth=false',
        '--authorization-mode=RBAC',
        f'--service-account-key-file={pki}/service-account.key',
        f'--service-account-signing-key-file={pki}/service-account.key',
        '--service-account-issuer=https://kubernetes.default.svc',
        '--service-cluster-ip-range=10.0.0.0/24',
        # No pods run, so that none needs a token.
        '--disable-admission-plugins=ServiceAccount',
        # The "kubernetes" Service must not have a loopback address.
        '--endpoint-reconciler-type=none',
        '--enable-priority-and-fairness=false', '--profiling=false'],
        lambda: admin.answers('/readyz'),
        # The largest program of a sandbox. A smaller GOGC would save 90 MiB
        # when idle, but cost 2 CPU seconds at the start; 200 would save 2 and
        # cost 290 MiB, and the suite would be no faster. The limit matters in
        # the long run.
        env={'GOMEMLIMIT': f'{memory_limit(physical_memory())}MiB'})


def memory_limit(physical: int) -> int:
    """MiB that kube-apiserver may take before it collects garbage eagerly.

    Five clusters at once cost a third more CPU with 700 than with 1500
    (tests/benchmarks/clusters.py). A hundred reached 1500, and garbage
    collection took a quarter of the CPU, until requests timed out.

    :param physical: MiB that the machine has.
    """
    return max(1500, physical // 4)


def physical_memory() -> int:
    """MiB of memory that this machine has."""
    return os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') >> 20


def capi(layout: layout.Layout, program: str | pathlib.Path,
         docker_host: str | None = None, rate_limiting: bool = False,
         endpoint_network: str | None = None,
         cloud_controller: pathlib.Path | None = None) -> supervision.Program:
    """The controllers of Cluster API, of its providers and of Kubernetes.

    :param endpoint_network: boot machines from their user data, for the
        OpenStack provider (:func:`capo`), with control plane endpoints in
        this network; needs root.
    :param docker_host: Docker of machines that are containers, a URL
        ``unix:///...``; None or empty: there are no such machines. Their
        label :data:`.dockers.OWNER` is the layout's folder.
    :param cloud_controller: path of :data:`CLOUD_CONTROLLER`; None: no
        cluster has one.
    :param rate_limiting: reconcile an object once a second at most, as
        upstream does by default (1.14.0, feature/feature.go).
    """
    health = layout.url('capi-health', 'http')
    probe = kube.Endpoint(health, timeout=3)
    # Real kubelets must not be newer than their API server, so workers have
    # to wait during an upgrade.
    checks = {'MachineSetPreflightChecks': True} if docker_host else {}
    gates = ','.join(f'{k}={json.dumps(v)}' for k, v in {
        **GATES, 'ReconcilerRateLimiting': rate_limiting, **checks}.items())
    return _program(layout, 'capi', [
        program, f'--kubeconfig={layout.pki}/capi.kubeconfig',
        f'--bind-address={layout.address}',
        f'--workload-network={layout.workload_network}',
        f'--webhook-port={layout.port("capi-webhook")}',
        f'--webhook-cert-dir={layout.pki}/webhook',
        f'--health-addr={health.removeprefix("http://")}',
        f'--behaviours={layout.behaviours}', f'--feature-gates={gates}',
        # Upstream waits 30 s if it tries to reach a workload API too early.
        '--connection-retry=1s',
        *([f'--docker-owner={layout.directory}'] if docker_host else ()),
        *([f'--machine-socket={layout.machines}',
           f'--endpoint-network={endpoint_network}']
          if endpoint_network else ()),
        *([f'--cloud-controller-manager={cloud_controller}']
          if cloud_controller else ())],
        lambda: probe.answers('/readyz'),
        env={'DOCKER_HOST': docker_host} if docker_host else None)


def machine_service(
        layout: layout.Layout, program: str | pathlib.Path, docker_host: str,
        endpoint_network: str, cloud_controller: str | pathlib.Path,
        ports: collections.abc.Sequence[int]) -> supervision.Program:
    """The program "capi" without Cluster API, which runs in pods.

    It boots Nova's servers, forwards for Octavia's load balancers, and stands
    in for the addon provider.

    :param docker_host: as of :func:`capi`; its containers reach what this
        program opens in ``endpoint_network``.
    :param ports: of the cloud's services, which listen on loopback.
    """
    health = layout.url('capi-health', 'http')
    probe = kube.Endpoint(health, timeout=3)
    return _program(layout, 'capi', [
        program, '--cluster-api=false',
        f'--kubeconfig={layout.kubeconfig}',
        f'--bind-address={layout.address}',
        f'--health-addr={health.removeprefix("http://")}',
        f'--docker-owner={layout.directory}',
        f'--machine-socket={layout.machines}',
        f'--endpoint-network={endpoint_network}',
        f'--service-ports={",".join(map(str, ports))}',
        f'--cloud-controller-manager={cloud_controller}'],
        lambda: probe.answers('/readyz'), env={'DOCKER_HOST': docker_host},
        listeners=('capi-health',))


def capo(layout: layout.Layout, program: pathlib.Path) -> supervision.Program:
    """Cluster API Provider OpenStack: its released controllers."""
    health = layout.url('capo-health', 'http')
    probe = kube.Endpoint(health, timeout=3)
    return _program(layout, OPENSTACK, [
        program, f'--kubeconfig={layout.pki}/capi.kubeconfig',
        f'--bind-address={layout.address}',
        f'--webhook-port={layout.port("capo-webhook")}',
        f'--webhook-cert-dir={layout.pki}/webhook',
        f'--health-addr={health.removeprefix("http://")}'],
        lambda: probe.answers('/readyz'))


def _program(layout: layout.Layout, name: str,
             argv: collections.abc.Sequence[object],
             ready: collections.abc.Callable[[], bool],
             env: collections.abc.Mapping[str, str] | None = None,
             listeners: collections.abc.Sequence[str] | None = None
             ) -> supervision.Program:
    """The common settings of all programs.

    They are stopped with SIGKILL: their state is thrown away with the run,
    and kube-apiserver can take 20 s to end its watches after SIGTERM.
    """
    return supervision.Program(
        name=name, argv=tuple(map(str, argv)), ready=ready, env=env or {},
        listens=tuple((layout.address, layout.port(listener))
                      for listener in listeners or LISTENERS[name]),
        stop_signal='KILL')
