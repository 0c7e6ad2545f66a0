# SPDX-License-Identifier: Apache-2.0
"""Installs Cluster API into a Kubernetes cluster, as its users do.

The manifests are those of the projects' releases. Where these cannot be had,
a folder has them, see :data:`OFFLINE`.
"""

import collections.abc
import os
import pathlib

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import providers

#: Variable with a folder in the place of releases::
#:
#:     clusterctl.yaml           clusterctl's configuration, with the local
#:                               repositories of providers and cert-manager
#:     resource-controller.yaml  in place of that release
OFFLINE = 'MAGNUM_CAPI_OFFLINE'

#: Programs of the toolchain that it needs.
TOOLS = ('clusterctl', 'helm', 'kubectl')

#: Seconds for one provider to start: images may have to be pulled.
TIMEOUT = 600

#: Feature gates that the drivers of this project need. Those of plain
#: processes (programs.GATES) that only speed up in-memory machines are left
#: out.
_VARIABLES = {'CLUSTER_TOPOLOGY': 'true', 'EXP_MACHINE_POOL': 'true',
              'CLUSTERCTL_DISABLE_VERSIONCHECK': 'true'}


def install(kubeconfig: str | pathlib.Path, addon_provider: bool,
            tools: collections.abc.Mapping[str, pathlib.Path],
            progress: progress.Progress, env: collections.abc.Mapping[str, str]
            ) -> None:
    """Install everything into a new cluster, and wait until it runs.

    :param addon_provider: whether to install the addon provider.
    :param tools: paths of :data:`TOOLS`.
    :param env: variables for the programs, in addition to the caller's own.
    :raises CommandFailed: a program failed.
    :raises WaitTimeout: something does not start; it says why.
    """
    env = {**os.environ, **_VARIABLES, **env}
    folder, config = os.environ.get(OFFLINE), []
    controller = providers.RESOURCE_CONTROLLER
    if folder:
        config = ['--config', f'{folder}/clusterctl.yaml']
        controller = f'{folder}/resource-controller.yaml'
    # Before the OpenStack provider, which does not start without its kinds.
    with progress.step('OpenStack resource controller'):
        processes.run([tools['kubectl'], 'apply', '--server-side',
                       '--kubeconfig', kubeconfig, '--filename', controller],
                      timeout=180, env=env)
    with progress.step('clusterctl init'):
        processes.run([tools['clusterctl'], 'init', '--kubeconfig',
                       kubeconfig, *config, *providers.INIT],
                      timeout=TIMEOUT, env=env)
    if addon_provider:
        url, chart, version = providers.ADDON_PROVIDER
        with progress.step('Addon provider'):
            processes.run(
                [tools['helm'], 'upgrade', chart, chart, '--install',
                 '--repo', url, '--version', version, '--namespace',
                 providers.ADDON_NAMESPACE, '--create-namespace',
                 '--kubeconfig', kubeconfig], timeout=TIMEOUT, env=env)
    wait(kubeconfig, addon_provider, progress)


def wait(kubeconfig: str | pathlib.Path, addon_provider: bool,
         progress: progress.Progress) -> None:
    """Wait until all providers run.

    :raises WaitTimeout: names those that do not, and why.
    """
    with progress.step('Waiting for the providers') as note:
        deployments.wait(kube.Client(kubeconfig), wanted(addon_provider),
                         TIMEOUT, note)


def wanted(addon_provider: bool) -> list[tuple[str, str]]:
    """(namespace, name) of the Deployments that must run; pure."""
    more = [providers.ADDON_DEPLOYMENT] if addon_provider else []
    return [*providers.DEPLOYMENTS, *more]
