# SPDX-License-Identifier: Apache-2.0
"""A repository of providers on this machine, for ``clusterctl init``.

Made from the kustomize trees of the pinned Go modules, like the providers'
releases (target release-manifests of their Makefiles): no release host need be
reachable, and exactly the pinned versions are installed. The layout is that of
clusterctl's local repositories
(cmd/clusterctl/client/repository/repository_local.go)::

    cluster-api/v1.14.0/core-components.yaml, metadata.yaml
    bootstrap-kubeadm/v1.14.0/...
    cert-manager/v1.21.1/cert-manager.yaml    see certmanager
    clusterctl.yaml                           locations of all these
    resource-controller.yaml
"""

import dataclasses
import pathlib
import re
import tempfile

import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.management import manifests
from magnum_capi_tempest.toolchain import go
from tools.offline.management import certmanager
from tools.offline import pins

CERT_MANAGER = 'github.com/cert-manager/cert-manager@v1.21.1'

_PULL = re.compile(r'(?m)^(\s+imagePullPolicy:) Always$')


@dataclasses.dataclass(frozen=True)
class Provider:
    """A provider of Cluster API, as clusterctl knows it.

    :param name: "kubeadm".
    :param type: "BootstrapProvider".
    :param label: of its folder in a repository: "bootstrap-kubeadm".
    :param components: name of the file with its manifests.
    :param module: path and version of the Go module with its manifests.
    :param tree: folder of the kustomize tree in that module.
    :param image: without its tag, which is the version.
    """

    name: str
    type: str
    label: str
    components: str
    module: tuple[str, str]
    tree: str
    image: str

    @property
    def version(self) -> str:
        return self.module[1]

    @property
    def reference(self) -> str:
        """Reference of its image."""
        return f'{self.image}:{self.version}'


#: Names of the images: Makefile of kubernetes-sigs/cluster-api, PROD_REGISTRY.
PROVIDERS = (
    Provider('cluster-api', 'CoreProvider', 'cluster-api',
             'core-components.yaml', manifests.CLUSTER_API,
             'core/config/default',
             'registry.k8s.io/cluster-api/cluster-api-controller'),
    Provider('kubeadm', 'BootstrapProvider', 'bootstrap-kubeadm',
             'bootstrap-components.yaml', manifests.CLUSTER_API,
             'bootstrap/kubeadm/config/default',
             'registry.k8s.io/cluster-api/kubeadm-bootstrap-controller'),
    Provider('kubeadm', 'ControlPlaneProvider', 'control-plane-kubeadm',
             'control-plane-components.yaml', manifests.CLUSTER_API,
             'controlplane/kubeadm/config/default',
             'registry.k8s.io/cluster-api/kubeadm-control-plane-controller'),
    Provider('openstack', 'InfrastructureProvider',
             'infrastructure-openstack', 'infrastructure-components.yaml',
             manifests.OPENSTACK, 'config/default',
             'registry.k8s.io/capi-openstack/capi-openstack-controller'))


def make(directory, tools) -> set[str]:
    """Make a repository.

    :param directory: its folder.
    :param tools: paths of ``kubectl`` and ``helm``.
    :returns: references of the images that the pods run.
    :raises CommandFailed: rendering failed.
    """
    directory = pathlib.Path(directory)
    images = set()
    for provider in PROVIDERS:
        folder = directory / provider.label / provider.version
        folder.mkdir(parents=True, exist_ok=True)
        sources = go.module_directory(*provider.module)
        (folder / provider.components).write_text(released(
            provider, processes.run([tools['kubectl'], 'kustomize',
                                     sources / provider.tree], timeout=120)))
        (folder / 'metadata.yaml').write_bytes(
            (sources / 'metadata.yaml').read_bytes())
        images.add(provider.reference)
    module = pins.load().modules[CERT_MANAGER]
    with tempfile.TemporaryDirectory(dir=directory) as work:
        objects = certmanager.stand_in(certmanager.render(
            tools['helm'], go.module_files(module), module.version,
            pathlib.Path(work)))
    folder = directory / 'cert-manager' / module.version
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'cert-manager.yaml').write_text(yaml.dump_all(
        objects, Dumper=getattr(yaml, 'CSafeDumper', yaml.SafeDumper)))
    text = (go.module_directory(*manifests.RESOURCE_CONTROLLER)
            / 'dist' / 'install.yaml').read_text()
    (directory / 'resource-controller.yaml').write_text(text)
    (directory / 'clusterctl.yaml').write_text(
        yaml.safe_dump(configuration(directory, module.version)))
    return images | certmanager.images(objects) | set(
        re.findall(r'(?m)^\s+(?:- )?image: (\S+)$', text))


def released(provider, text) -> str:
    """Manifests with the released image instead of a development build; pure.

    :raises MagnumCapiError: they do not name such an image exactly once.
    """
    # CAPO's tree names a staging registry of its own.
    name = provider.image.rsplit('/', 1)[1]
    text, found = re.subn(
        rf'(?m)^(\s+(?:- )?image:) \S*/{re.escape(name)}\S*$',
        rf'\1 {provider.reference}', text)
    if found != 1:
        raise errors.MagnumCapiError(
            f'The manifests of {provider.label} do not name its image once',
            where=provider.tree, last_seen=f'{found} times {name}')
    return _PULL.sub(r'\1 IfNotPresent', text)


def configuration(directory, cert_manager) -> dict:
    """clusterctl's configuration: where all this is.

    :param directory: of the repository.
    :param cert_manager: its version.
    """
    return {
        'providers': [
            {'name': p.name, 'type': p.type,
             'url': f'{directory}/{p.label}/{p.version}/{p.components}'}
            for p in PROVIDERS],
        'cert-manager': {
            'url': f'{directory}/cert-manager/{cert_manager}/'
                   'cert-manager.yaml',
            'version': cert_manager}}
