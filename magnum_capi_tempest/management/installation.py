# SPDX-License-Identifier: Apache-2.0
"""Installs Cluster API into a Kubernetes cluster, or what is missing of it.

For a cluster of pods, whoever made it: a kubeconfig is all that is wanted.
Each part is looked for before it is installed, so that a second run, and one
after a run that was killed, finds the same end.
"""

import dataclasses
import os

from magnum_capi import processes
from magnum_capi_tempest.management import certmanager
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import providers
from magnum_capi_tempest.management import repository as repositories

#: Programs of the toolchain that it wants.
TOOLS = ('clusterctl', 'helm', 'kubectl')

#: Seconds for one provider to run: images may have to be pulled.
TIMEOUT = 600

#: Feature gates, as the drivers of this project want them. Those of plain
#: processes (programs.GATES) that only make memory quicker are not here.
_VARIABLES = {'CLUSTER_TOPOLOGY': 'true', 'EXP_MACHINE_POOL': 'true',
              'CLUSTERCTL_DISABLE_VERSIONCHECK': 'true'}

_INVENTORY = '/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers'
_ADDON_NAMESPACE = 'capi-addon-system'
_RESOURCES = ('orc-system', 'orc-controller-manager')


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What is to be installed.

    :param infrastructure: key of :data:`..providers.INFRASTRUCTURES`.
    :param addon_provider: whether the addon provider is.
    :param stand_in: whether cert-manager is its stand-in.
    """

    infrastructure: str
    addon_provider: bool = False
    stand_in: bool = False

    @property
    def deployments(self) -> list[tuple[str, str]]:
        """(namespace, name) of all that must run."""
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


def install(kubeconfig, wanted, repository, tools, progress,
            timeout=TIMEOUT, env=None):
    """Install all that is missing, and wait until it runs.

    :param repository: :class:`..repository.Repository`.
    :param tools: paths of :data:`TOOLS`.
    :param env: variables for the programs, beside the caller's own.
    :raises CommandFailed: a program failed.
    :raises WaitTimeout: something does not get to run; it says why.
    """
    api = client.from_kubeconfig(kubeconfig)
    env = {**os.environ, **_VARIABLES, **(env or {})}

    def apply(file):
        processes.run(
            [tools['kubectl'], 'apply', '--kubeconfig', kubeconfig,
             '--server-side', '--force-conflicts', '--filename', file],
            timeout=180, env=env)

    _cert_manager(api, wanted, repository, apply, progress, timeout)
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
                timeout=timeout, env=env)
    if wanted.addon_provider:
        with progress.step('Addon provider'):
            processes.run(addon(tools['helm'], kubeconfig, timeout),
                          timeout=timeout + 60, env=env)
    with progress.step('Waiting for the providers') as note:
        deployments.wait(api, wanted.deployments, timeout, note)


def init(clusterctl, kubeconfig, repository, missing) -> list:
    """The command line of ``clusterctl init``; pure.

    The wait for the providers is ours: it says what it waits for.
    """
    argv = [clusterctl, 'init', '--kubeconfig', kubeconfig,
            '--config', repository.configuration]
    for provider in missing:
        argv += [provider.flag, f'{provider.name}:{provider.version}']
    return argv


def lacking(installed, wanted) -> list[providers.Provider]:
    """The providers that clusterctl did not install yet; pure.

    :param installed: (type, name) pairs.
    """
    return [p for p in providers.chosen(wanted.infrastructure)
            if (p.type, p.name) not in installed]


def addon(helm, kubeconfig, timeout) -> list:
    """The command line that installs the addon provider; pure."""
    url, chart, version = providers.ADDON_PROVIDER
    return [helm, 'upgrade', chart, chart, '--install', '--repo', url,
            '--version', version, '--namespace', _ADDON_NAMESPACE,
            '--create-namespace', '--kubeconfig', kubeconfig,
            '--wait', '--timeout', f'{timeout}s']


def load(wanted, tools, progress, directory=None) -> repositories.Repository:
    """The repository of what is wanted."""
    from magnum_capi_tempest.toolchain import go
    return repositories.load(
        wanted.infrastructure, wanted.stand_in, tools, go.module_directory,
        progress, directory)


def _cert_manager(api, wanted, repository, apply, progress, timeout):
    """By ourselves: clusterctl takes its definitions for a whole one.

    A run that was killed may have left these, and clusterctl then waits for
    certificates that nobody signs (cmd/clusterctl/client/cluster/
    cert_manager.go, EnsureInstalled).
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
        deployments.wait(api, mine, timeout, note)


def _installed(api) -> set[tuple[str, str]]:
    """(type, name) of what clusterctl has installed."""
    listed = api.get(_INVENTORY) or {}
    return {(o.get('type'), o.get('providerName'))
            for o in listed.get('items', ())}
