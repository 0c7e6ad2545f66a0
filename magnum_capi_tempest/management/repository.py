# SPDX-License-Identifier: Apache-2.0
"""A repository of providers on this machine, for ``clusterctl init``.

Made from the kustomize trees of the pinned Go modules, like the providers'
releases (target release-manifests of their Makefiles): no release host need be
reachable, and exactly the pinned versions are installed. The layout is that of
clusterctl's local repositories
(cmd/clusterctl/client/repository/repository_local.go)::

    cluster-api/v1.14.0/core-components.yaml, metadata.yaml
    bootstrap-kubeadm/v1.14.0/...
    clusterctl.yaml                locations of the providers
    cert-manager.yaml              see certmanager
    resource-controller.yaml       with the OpenStack provider
    images.json                    images of the pods
"""

import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import tempfile

import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.management import certmanager
from magnum_capi_tempest.management import providers
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import go

#: Part of the name of the folder: raise it when its content changes.
FORMAT = 1

_PULL = re.compile(r'(?m)^(\s+imagePullPolicy:) Always$')


@dataclasses.dataclass(frozen=True)
class Repository:
    """A finished repository.

    :param images: references of the images that the pods run.
    """

    directory: pathlib.Path
    images: tuple[str, ...]

    @property
    def configuration(self) -> pathlib.Path:
        """For clusterctl."""
        return self.directory / 'clusterctl.yaml'

    @property
    def cert_manager(self) -> pathlib.Path:
        return self.directory / 'cert-manager.yaml'

    @property
    def resource_controller(self) -> pathlib.Path:
        return self.directory / 'resource-controller.yaml'


def load(infrastructure, stand_in, tools, progress,
         directory=None) -> Repository:
    """The repository for an infrastructure, from the cache if possible.

    :param infrastructure: key of :data:`..providers.INFRASTRUCTURES`.
    :param stand_in: whether to use the stand-in for cert-manager.
    :param tools: paths of ``kubectl`` and ``helm``.
    :param directory: folder of the cache.
    :raises CommandFailed: rendering failed.
    """
    wanted = providers.chosen(infrastructure)
    root = pathlib.Path(directory or paths.cache() / 'providers')
    final = root / _key(wanted, stand_in)
    if not (final / 'images.json').exists():
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = pathlib.Path(tempfile.mkdtemp(prefix='.new-', dir=root))
        try:
            with progress.step('Rendering the providers\' manifests'):
                _make(scratch, final, wanted, stand_in, tools)
            _publish(scratch, final)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return Repository(final, tuple(
        json.loads((final / 'images.json').read_text())))


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


def configuration(directory, wanted) -> dict:
    """clusterctl's configuration: the locations of the providers.

    :param directory: of the repository.
    """
    return {'providers': [
        {'name': p.name, 'type': p.type,
         'url': f'{directory}/{p.label}/{p.version}/{p.components}'}
        for p in wanted]}


def _make(scratch, final, wanted, stand_in, tools):
    images = set()
    for provider in wanted:
        folder = scratch / provider.label / provider.version
        folder.mkdir(parents=True)
        sources = go.module_directory(*provider.module)
        text = released(provider, processes.run(
            [tools['kubectl'], 'kustomize', sources / provider.tree],
            timeout=120))
        (folder / provider.components).write_text(text)
        metadata = go.module_directory(*provider.metadata) / 'metadata.yaml'
        (folder / 'metadata.yaml').write_bytes(metadata.read_bytes())
        images.add(provider.reference)
    path, version = providers.CERT_MANAGER
    with tempfile.TemporaryDirectory(dir=scratch) as work:
        objects = certmanager.render(
            tools['helm'], go.module_directory(path, version), version,
            pathlib.Path(work))
    if stand_in:
        objects = certmanager.stand_in(objects)
    images |= certmanager.images(objects)
    (scratch / 'cert-manager.yaml').write_text(yaml.dump_all(
        objects, Dumper=getattr(yaml, 'CSafeDumper', yaml.SafeDumper)))
    if any(p.name == 'openstack' for p in wanted):
        path, version = providers.RESOURCE_CONTROLLER
        text = (go.module_directory(path, version)
                / 'dist' / 'install.yaml').read_text()
        (scratch / 'resource-controller.yaml').write_text(text)
        images |= set(re.findall(r'(?m)^\s+(?:- )?image: (\S+)$', text))
    (scratch / 'clusterctl.yaml').write_text(
        yaml.safe_dump(configuration(final, wanted)))
    (scratch / 'images.json').write_text(json.dumps(sorted(images)))


def _publish(scratch, final):
    try:
        scratch.rename(final)
    except OSError:
        # Another run was quicker, or one was killed halfway.
        if not (final / 'images.json').exists():
            shutil.rmtree(final, ignore_errors=True)
            scratch.rename(final)


def _key(wanted, stand_in):
    made_of = [FORMAT, [repr(p) for p in wanted], providers.CERT_MANAGER,
               providers.RESOURCE_CONTROLLER, stand_in]
    digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:8]
    return f'{wanted[-1].label}-{wanted[-1].version}-{digest}'
