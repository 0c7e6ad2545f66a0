# SPDX-License-Identifier: Apache-2.0

"""The program minikube: the machine of a management cluster of pods.

It is used as its user has it, with its variables (MINIKUBE_*) and caches. The
profile is one of a cluster's own, and so is the kubeconfig.
"""

import hashlib
import os
import pathlib

from magnum_capi import processes
from magnum_capi_tempest.management import providers
from magnum_capi_tempest import runmarks

#: Seconds: a start without downloads takes 25 on two cores; downloading a
#: gigabyte may take much longer.
START, DELETE = 1200, 180

#: MiB of the machine; the API server takes 0.5 GiB, the providers together
#: as much.
MEMORY = 3072

_START = (
    'start', '--driver=docker', '--container-runtime=containerd',
    f'--kubernetes-version={providers.KUBERNETES}',
    # Root may run it, and minikube does not know this newer patch release.
    '--force', '--interactive=false',
    # Magnum's driver reads a single file.
    '--embed-certs', '--wait=all',
    # The storage provisioner of 1.37.0 uses Endpoints for its lock and keeps
    # failing ("endpoints lock is removed").
    '--install-addons=false',
    # One machine needs no network between machines.
    '--cni=bridge', f'--memory={MEMORY}', '--cpus=no-limit')


class Minikube:
    """One cluster of minikube.

    :param program: path.
    :param directory: folder of the cluster, which gets its kubeconfig.
    :param docker: its Docker, as in DOCKER_HOST.
    """

    def __init__(self, program: pathlib.Path, directory: pathlib.Path,
                 docker: str) -> None:
        self._program = program
        self._directory = pathlib.Path(directory)
        self._docker = docker

    @property
    def profile(self) -> str:
        """Name of the cluster, of its container and of its context."""
        digest = hashlib.sha256(os.fsencode(self._directory)).hexdigest()[:8]
        return f'magnum-capi-{digest}'

    @property
    def kubeconfig(self) -> pathlib.Path:
        return self._directory / 'kubeconfig'

    def start(self) -> None:
        """Start the machine and Kubernetes, unless they run.

        :raises CommandFailed: the start failed.
        """
        self._run(*_START, timeout=START)
        self.kubeconfig.chmod(0o600)

    def delete(self) -> None:
        """Remove the machine, its volume and its network."""
        self._run('delete', timeout=DELETE)

    def _run(self, *args: str, timeout: float) -> None:
        # It leaves locks and logs in the folder of temporary files.
        scratch = self._directory / 'tmp'
        scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        processes.run(
            [self._program, *args, f'--profile={self.profile}'],
            timeout=timeout, env={
                **os.environ, runmarks.MARK: str(self._directory),
                'DOCKER_HOST': self._docker,
                'KUBECONFIG': str(self.kubeconfig),
                'MINIKUBE_IN_STYLE': 'false',
                'MINIKUBE_WANTUPDATENOTIFICATION': 'false',
                'TMPDIR': str(scratch)},
            hint='"minikube logs '
                 f'--profile={self.profile}" may say more')
