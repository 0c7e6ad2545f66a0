# SPDX-License-Identifier: Apache-2.0
"""Where the images of a management cluster of pods come from.

Registries, a mirror of them, or, for machines without a registry, archives in
a folder that ``tools/offline/images.sh build`` filled.
"""

import re

from magnum_capi import errors
from magnum_capi_tempest.management import providers

#: Kubernetes' programs for the machine, by their names in the toolchain.
_MINOR = re.match(r'v(\d+\.\d+)', providers.KUBERNETES).group(1)
PROGRAMS = {name: f'{name}-{_MINOR}'
            for name in ('kubeadm', 'kubectl', 'kubelet')}

#: Registries that a mirror stands for.
REGISTRIES = ('docker.io', 'gcr.io', 'ghcr.io', 'quay.io', 'registry.k8s.io')

_HAPROXY = 'kindest/haproxy:'


class Registries:
    """Images are pulled, from a mirror if there is one.

    :param mirror: host, and port if it has one, of a pull-through cache that
        gets the registry's name in the query ``ns``, which containerd sends
        to mirrors (docs/hosts.md of containerd/containerd).
    """

    base = None
    offline = False
    tools = ()

    def __init__(self, mirror=None):
        self._mirror = mirror

    def archives(self, references):
        """No archives: all images are pulled."""
        return []

    def prepare(self, machine, docker, tools, progress):
        """Make the machine's containerd ask the mirror first.

        minikube copies the content of this folder into the machine.
        """
        root = machine.home / '.minikube' / 'files' / 'etc' / 'containerd'
        for path, text in hosts(self._mirror).items():
            file = root / 'certs.d' / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


class Archives:
    """Images come from archives; nothing is pulled.

    :param inventory: of the folder, see room ``images``.
    :param machines: whether machines are containers, too.
    """

    offline = True
    tools = tuple(PROGRAMS.values())

    def __init__(self, inventory, machines):
        self._inventory = inventory
        self._machines = machines
        found = inventory.of_kind('base', providers.KUBERNETES)
        if not found:
            raise _missing(['minikube\'s base image'], inventory)
        self._base = found[0]

    @property
    def base(self) -> str:
        return self._base.references[0]

    def archives(self, references):
        """Archives of the images that pods run.

        :raises EnvironmentProblem: some have no archive.
        """
        return chosen(self._inventory, references)

    def prepare(self, machine, docker, tools, progress):
        """Load the images that Docker needs; give minikube its programs."""
        machine.seed({name: tools[tool] for name, tool in PROGRAMS.items()})
        if docker is None:
            return
        wanted = [self._base]
        if self._machines:
            wanted += self._inventory.of_kind('node')
            wanted += [a for a in self._inventory.of_kind('image')
                       if any(_HAPROXY in r for r in a.references)]
        size = sum(a.size for a in wanted) / 2**30
        # Measured on two busy cores: 0.5 to 1.1 min a GiB.
        progress.info(
            f'Loading up to {size:.1f} GiB of archives into Docker, which '
            f'takes {2 * size:.0f} GiB of disk and about {size:.0f} min')
        docker.load(wanted, progress)


def open_source(options):
    """The source that :class:`..hosted.Options` name.

    :raises EnvironmentProblem: an archive is missing; its hint has the
        command that builds it.
    """
    if options.images is None:
        return Registries(options.mirror)
    # Imported here: with a registry it is not needed.
    from magnum_capi_tempest import images
    inventory = images.require(options.images, (_MINOR,), images.MINIKUBE)
    return Archives(inventory, options.infrastructure == 'docker')


def provide(progress):
    """Make the archives that the default folder lacks.

    :param progress: :class:`magnum_capi.progress.Progress`.
    """
    from magnum_capi_tempest import images
    images.provide((_MINOR,), images.MINIKUBE, progress)


def chosen(inventory, references) -> list:
    """The archives that hold these images.

    :raises EnvironmentProblem: names the images without an archive.
    """
    by_reference = {r: a for a in inventory.of_kind('image')
                    for r in a.references}
    missing = [r for r in references if r not in by_reference]
    if missing:
        raise _missing(missing, inventory)
    return list({by_reference[r].name: by_reference[r]
                 for r in references}.values())


def hosts(mirror) -> dict[str, str]:
    """Files of containerd's certs.d by path; pure."""
    if not mirror:
        return {}
    return {f'{registry}/hosts.toml':
            f'server = "https://{_server(registry)}"\n\n'
            f'[host."https://{mirror}"]\n'
            '  capabilities = ["pull", "resolve"]\n'
            for registry in REGISTRIES}


def _server(registry):
    return 'registry-1.docker.io' if registry == 'docker.io' else registry


def _missing(names, inventory):
    return errors.EnvironmentProblem(
        'Archives of these images are missing',
        where=getattr(inventory, 'directory', None),
        last_seen=', '.join(names),
        hint='Build them with tools/offline/images.sh of the source tree')
