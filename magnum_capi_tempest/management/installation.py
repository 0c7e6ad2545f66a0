# SPDX-License-Identifier: Apache-2.0
"""Installs Cluster API, or the missing parts of it, into a Kubernetes cluster.

Works on any cluster of pods and needs only a kubeconfig. Each part is checked
before it is installed, so a second run, or one after a killed run, gives the
same result.
"""

import dataclasses
import os

from magnum_capi import processes
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import certmanager
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import providers
from magnum_capi_tempest.management import releases
from magnum_capi_tempest.management import repository as repositories

#: Programs of the toolchain that it needs.
TOOLS = ('clusterctl', 'helm', 'kubectl')

#: Seconds for one provider to start: images may have to be pulled.
TIMEOUT = 600

#: Feature gates that the drivers of this project need. Those of plain
#: processes (programs.GATES) that only speed up in-memory machines are left
#: out.
_VARIABLES = {'CLUSTER_TOPOLOGY': 'true', 'EXP_MACHINE_POOL': 'true',
              'CLUSTERCTL_DISABLE_VERSIONCHECK': 'true'}

_INVENTORY = '/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers'
_ADDON_NAMESPACE = 'capi-addon-system'
_RESOURCES = ('orc-system', 'orc-controller-manager')


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The parts to install.

    :param infrastructure: key of :data:`..providers.INFRASTRUCTURES`.
    :param addon_provider: whether to install the addon provider.
    :param stand_in: whether to use the stand-in for cert-manager.
    """

    infrastructure: str
    addon_provider: bool = False
    stand_in: bool = False

    @property
    def deployments(self) -> list[tuple[str, str]]:
        """(namespace, name) of all Deployments that must run."""
        found = [(certmanager.NAMESPACE, name)
                 for name in certmanager.DEPLOYMENTS]
        if not self.stand_in:
            found.append((certmanager.NAMESPACE, certmanager.WEBHOOK))
        found += [(p.namespace, f'{p.namespace[:-len("-system")]}'
                                '-controller-manager')
                  for p in providers.chosen(self.infrastructure)]
        if self.infrastructure == 'openstack':
            found.append(_RESOURCES)
        if self.addon_provider:
            found.append((_ADDON_NAMESPACE, 'cluster-api-addon-provider'))
        return found


def complete(api, wanted) -> bool:
    """Whether nothing is left to do.

    :param api: :class:`..kubeclient.kube.Client`.
    """
    there = {(d.namespace, d.name): d for d in deployments.read(api)}
    return not deployments.unavailable(wanted.deployments, there) \
        and not lacking(_installed(api), wanted)


def install(kubeconfig, wanted, repository, tools, progress, env=None):
    """Install everything that is missing, and wait until it runs.

    :param repository: of :func:`load`.
    :param tools: paths of :data:`TOOLS`.
    :param env: variables for the programs, in addition to the caller's own.
    :raises CommandFailed: a program failed.
    :raises WaitTimeout: something does not start; it says why.
    """
    api = kube.Client(kubeconfig)
    env = {**os.environ, **_VARIABLES, **(env or {})}

    def apply(file):
        processes.run(
            [tools['kubectl'], 'apply', '--kubeconfig', kubeconfig,
             '--server-side', '--force-conflicts', '--filename', file],
            timeout=180, env=env)

    _cert_manager(api, wanted, repository, apply, progress)
    if wanted.infrastructure == 'openstack':
        # Before the provider, which does not start without its kinds.
        with progress.step('OpenStack resource controller'):
            apply(repository.resource_controller)
    missing = lacking(_installed(api), wanted)
    if missing:
        with progress.step('clusterctl init '
                           + ' '.join(p.label for p in missing)):
            processes.run(
                init(tools['clusterctl'], kubeconfig, repository, missing),
                timeout=TIMEOUT, env=env)
    if wanted.addon_provider:
        with progress.step('Addon provider'):
            processes.run(addon(tools['helm'], kubeconfig),
                          timeout=TIMEOUT + 60, env=env)
    with progress.step('Waiting for the providers') as note:
        deployments.wait(api, wanted.deployments, TIMEOUT, note)


def init(clusterctl, kubeconfig, repository, missing) -> list:
    """The command line of ``clusterctl init``; pure.

    We wait for the providers ourselves, to report what is missing.
    """
    argv = [clusterctl, 'init', '--kubeconfig', kubeconfig]
    if repository.configuration:
        argv += ['--config', repository.configuration]
    for provider in missing:
        argv += [provider.flag, f'{provider.name}:{provider.version}']
    return argv


def lacking(installed, wanted) -> list[providers.Provider]:
    """The providers that clusterctl has not installed yet; pure.

    :param installed: (type, name) pairs.
    """
    return [p for p in providers.chosen(wanted.infrastructure)
            if (p.type, p.name) not in installed]


def addon(helm, kubeconfig) -> list:
    """The command line that installs the addon provider; pure."""
    url, chart, version = providers.ADDON_PROVIDER
    return [helm, 'upgrade', chart, chart, '--install', '--repo', url,
            '--version', version, '--namespace', _ADDON_NAMESPACE,
            '--create-namespace', '--kubeconfig', kubeconfig,
            '--wait', '--timeout', f'{TIMEOUT}s']


def load(wanted, tools, progress):
    """Where the manifests come from.

    :returns: :class:`.releases.Releases`. Where they cannot be had, or
        images come from archives, a :class:`.repository.Repository`, which
        needs Go and its module proxy.
    """
    if not wanted.stand_in:
        published = releases.Releases()
        problem = releases.problem(published)
        if problem is None:
            return published
        progress.info('The manifests are rendered from Go modules, as the '
                      f'releases cannot be had: {problem}')
    return repositories.load(
        wanted.infrastructure, wanted.stand_in, tools, progress)


def _cert_manager(api, wanted, repository, apply, progress):
    """Install cert-manager ourselves instead of leaving it to clusterctl.

    clusterctl takes existing CRDs for a complete cert-manager. A killed run
    may have left just these, and clusterctl then waits for certificates that
    nothing signs (cmd/clusterctl/client/cluster/cert_manager.go,
    EnsureInstalled).
    """
    mine = [d for d in wanted.deployments if d[0] == certmanager.NAMESPACE]
    there = {(d.namespace, d.name): d for d in deployments.read(api)}
    if not deployments.unavailable(mine, there):
        return
    what = 'cert-manager'
    if wanted.stand_in:
        what += ' (its stand-in, with self-signed certificates only)'
    with progress.step(what) as note:
        apply(repository.cert_manager)
        deployments.wait(api, mine, TIMEOUT, note)


def _installed(api) -> set[tuple[str, str]]:
    """(type, name) of what clusterctl has installed."""
    listed = api.get(_INVENTORY) or {}
    return {(o.get('type'), o.get('providerName'))
            for o in listed.get('items', ())}
