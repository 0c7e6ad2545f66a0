# SPDX-License-Identifier: Apache-2.0

"""The Docker of this machine's user, asked through the program ``docker``.

Which one that is, DOCKER_HOST or a context decides, as for every other use of
that program.
"""

import dataclasses
import json
import pathlib

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress

#: Label of the containers and networks of a run; its value is the run's
#: folder.
OWNER = 'io.magnum-capi.owner'

#: Label of images that were not built by the project whose name they have.
STAND_IN = 'io.magnum-capi.stand-in'

#: Seconds to answer a question, and to pull an image of a gigabyte.
ASK, PULL = 60, 1800


@dataclasses.dataclass(frozen=True)
class Docker:
    """A Docker daemon.

    :param host: as in DOCKER_HOST.
    """

    host: str

    def run(self, *args: str, timeout: float = ASK) -> str:
        """The output of a docker command.

        :raises CommandFailed: it failed.
        """
        return processes.run(['docker', '--host', self.host, *args],
                             timeout=timeout)

    def answers(self) -> bool:
        """Whether the daemon runs."""
        try:
            self.run('version')
        except (errors.CommandFailed, errors.EnvironmentProblem):
            return False
        return True

    def stand_ins(self, repository: str) -> list[str]:
        """Tags of a repository's images with the label :data:`STAND_IN`."""
        return self.run(
            'image', 'ls', '--filter', f'label={STAND_IN}', '--filter',
            f'reference={repository}', '--format', '{{.Tag}}').split()

    def pull(self, reference: str, progress: progress.Progress) -> None:
        """Pull an image unless it is there.

        :param reference: with its digest.
        """
        try:
            self.run('image', 'inspect', reference)
        except errors.CommandFailed:
            with progress.step(f'pulling {reference}'):
                self.run('pull', '--quiet', reference, timeout=PULL)

    def add_network(self, name: str, owner: pathlib.Path) -> None:
        """Make a network unless one has the name."""
        if name not in self.run(
                'network', 'ls', '--format', '{{.Name}}').split():
            self.run('network', 'create', '--label', f'{OWNER}={owner}', name)

    def containers(self, owner: pathlib.Path) -> list[str]:
        """Ids of a run's containers, whether they run or not."""
        return self.run('ps', '--all', '--quiet', '--filter',
                        f'label={OWNER}={owner}').split()

    def remove(self, owner: pathlib.Path) -> None:
        """Remove the containers of a run, and its networks if unused."""
        found = self.containers(owner)
        if found:
            self.run('rm', '--force', '--volumes', *found, timeout=180)
        for network in self.run('network', 'ls', '--quiet', '--filter',
                                f'label={OWNER}={owner}').split():
            inside, = json.loads(self.run('network', 'inspect', network))
            # Others may use a network that this run has made.
            if not inside['Containers']:
                self.run('network', 'rm', network)


def find() -> Docker:
    """The Docker that the program ``docker`` uses.

    :raises EnvironmentProblem: there is none, or not on this machine, whose
        programs have to reach the addresses of containers.
    """
    try:
        host = processes.run(
            ['docker', 'context', 'inspect', '--format',
             '{{.Endpoints.docker.Host}}'], timeout=ASK).strip()
        docker = Docker(host)
        docker.run('version')
    except (errors.CommandFailed, errors.EnvironmentProblem) as e:
        raise errors.EnvironmentProblem(
            'Docker does not answer', last_seen=e,
            hint='Install and start it, or name its socket in DOCKER_HOST'
        ) from e
    if not host.startswith('unix://'):
        raise errors.EnvironmentProblem(
            'Docker is not on this machine', where=host,
            hint='Name a socket of this machine in DOCKER_HOST')
    return docker
