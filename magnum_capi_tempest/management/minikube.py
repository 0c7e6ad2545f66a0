# SPDX-License-Identifier: Apache-2.0
"""The program minikube: its command lines, and how it is run.

Its MINIKUBE_HOME is in the cluster's folder, apart from any minikube of the
user's. Flags are explained where they are used.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import threading

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.management import providers
from magnum_capi_tempest import runmarks

#: Seconds: a start without downloads takes 25 on two cores; downloading a
#: gigabyte may take much longer.
START, DELETE, LOAD = 1200, 180, 600

#: MiB of the machine; the API server takes 0.5 GiB, the providers together
#: as much.
MEMORY = 3072

#: Values of minikube's --driver.
DRIVERS = ('docker', 'none')

_NEEDED = ('conntrack', 'containerd', 'crictl', 'docker', 'iptables')
_PROGRAMS = ('kubeadm', 'kubectl', 'kubelet')


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The parameters of a start.

    :param driver: of :data:`DRIVERS`.
    :param base: reference of the machine's image, None for minikube's own.
    :param network: name of the container network, None for minikube's own.
    :param subnet: of that network, None to let minikube choose.
    :param socket: of the Docker that the machine may use, or None.
    :param offline: whether all images and programs are already present.
    """

    driver: str = 'docker'
    base: str | None = None
    network: str | None = None
    subnet: str | None = None
    socket: pathlib.Path | None = None
    offline: bool = False


def profile(directory) -> str:
    """Name of the cluster, of its container and of its context."""
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:8]
    return f'magnum-capi-{digest}'


def start(name, wanted) -> list[str]:
    """Arguments of ``minikube start``; pure."""
    argv = ['start', f'--profile={name}', f'--driver={wanted.driver}',
            '--container-runtime=containerd',
            f'--kubernetes-version={providers.KUBERNETES}',
            # Root runs it, and minikube does not know this newer patch
            # release.
            '--force', '--interactive=false',
            # Magnum's driver reads a single file.
            '--embed-certs', '--wait=all',
            # The storage provisioner of 1.37.0 uses Endpoints for its lock
            # and keeps failing ("endpoints lock is removed").
            '--install-addons=false',
            # One machine needs no network between machines.
            '--cni=bridge']
    if wanted.driver == 'docker':
        argv += [f'--memory={MEMORY}', '--cpus=no-limit']
    if wanted.offline:
        argv += ['--preload=false', '--cache-images=false']
    for flag, value in (('base-image', wanted.base),
                        ('network', wanted.network),
                        ('subnet', wanted.subnet)):
        if value:
            argv.append(f'--{flag}={value}')
    if wanted.socket:
        argv.append(f'--mount-string={wanted.socket}:/var/run/docker.sock')
    return argv


def problem(driver, which, root, systemd) -> str | None:
    """Why this machine cannot be the node itself; pure.

    :param which: function from a program's name to its path or None.
    :param root: whether we are root.
    :param systemd: whether the machine was booted with systemd.
    """
    if driver != 'none':
        return None
    if not root:
        return 'only root can make this machine a node'
    if not systemd:
        return 'systemd is not the init system of this machine'
    missing = [name for name in _NEEDED if not which(name)]
    return f'missing programs: {", ".join(missing)}' if missing else None


class Minikube:
    """One cluster of minikube.

    :param program: path.
    :param directory: folder of the cluster; MINIKUBE_HOME and the
        kubeconfig are in it.
    :param docker: see :mod:`dockers`; None with the driver "none".
    """

    def __init__(self, program, directory, docker=None):
        self._program = program
        self._directory = directory
        self._docker = docker
        self.name = profile(directory)

    @property
    def home(self) -> pathlib.Path:
        """MINIKUBE_HOME."""
        return self._directory / 'minikube'

    @property
    def kubeconfig(self) -> pathlib.Path:
        return self._directory / 'kubeconfig'

    def start(self, wanted, note):
        """Start the machine and Kubernetes, unless they run.

        :param note: called with the name of each step.
        :raises CommandFailed: the start failed.
        """
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _following(self.home / 'out', note):
            self._run([*start(self.name, wanted), '--output=json'], START,
                      spool=self.home)
        self.kubeconfig.chmod(0o600)

    def delete(self):
        """Remove the machine, its volume and its network."""
        self._run(['delete', f'--profile={self.name}'], DELETE)

    def images(self) -> set[str]:
        """References of the images that the machine has."""
        listed = json.loads(self._run(
            ['image', 'ls', f'--profile={self.name}', '--format=json'],
            60) or '[]')
        return {tag for image in listed for tag in image['repoTags'] or ()}

    def load(self, files):
        """Load image archives into the machine."""
        self._run(['image', 'load', f'--profile={self.name}', *files], LOAD)

    def seed(self, programs):
        """Give minikube Kubernetes' programs, so that it downloads none.

        :param programs: path of each of kubeadm, kubectl and kubelet.
        """
        from magnum_capi_tempest.toolchain import pins
        folder = (self.home / '.minikube' / 'cache' / 'linux'
                  / pins.architecture() / providers.KUBERNETES)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in _PROGRAMS:
            link = folder / name
            link.unlink(missing_ok=True)
            try:
                os.link(programs[name], link)
            except OSError:
                link.write_bytes(programs[name].read_bytes())
                link.chmod(0o755)

    def _run(self, args, timeout, spool=None):
        argv = [self._program, *args]
        # It leaves locks and logs in the folder of temporary files.
        scratch = self.home / 'tmp'
        scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        env = {**os.environ, runmarks.MARK: str(self._directory),
               'MINIKUBE_HOME': str(self.home),
               'KUBECONFIG': str(self.kubeconfig),
               'MINIKUBE_IN_STYLE': 'false',
               'MINIKUBE_WANTUPDATENOTIFICATION': 'false',
               # Ignore the user's ~/.docker, ~/.kube and ~/.ssh.
               'HOME': str(self.home), 'TMPDIR': str(scratch)}
        if self._docker:
            env.update(self._docker.environment)
            argv = self._docker.run_in(argv)
        try:
            return processes.run(
                argv, timeout=timeout, env=env, spool=spool)
        except errors.CommandFailed as e:
            raise errors.CommandFailed(
                ['minikube', *args], e.returncode, explained(e.output),
                elapsed=e.elapsed,
                hint=f'Its logs are in {self.home / ".minikube" / "logs"}'
            ) from e


def explained(output) -> str:
    """The essential part of minikube's output, JSON events or text."""
    found = []
    for line in output.splitlines():
        event = _event(line)
        if event is None:
            found.append(line)
        elif event.get('type', '').endswith('.error'):
            data = event.get('data', {})
            found.append(' '.join(filter(None, (
                data.get('name'), data.get('message'), data.get('advice')))))
    return '\n'.join(found)


def step(output) -> str | None:
    """The name of the last step in the events."""
    for line in reversed(output.splitlines()):
        event = _event(line)
        if event and event.get('type', '').endswith('.step'):
            return event['data'].get('name')
    return None


def _event(line):
    if not line.startswith('{'):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


@contextlib.contextmanager
def _following(path, note):
    """Report the current step from a file of events, once a second."""
    over = threading.Event()

    def follow():
        while not over.wait(1):
            with contextlib.suppress(OSError):
                now = step(path.read_text(errors='replace'))
                if now:
                    note(now)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for name in ('out', 'err'):
            path.with_name(name).unlink(missing_ok=True)
