# SPDX-License-Identifier: Apache-2.0

"""Writes and reads image archives that both Docker and containerd accept.

One tar file that is both a docker-archive (``manifest.json``, for ``docker
load``, also of Docker 20.10) and an OCI layout (``index.json`` and
``oci-layout``, for ``ctr images import``) with the same blobs, like those of
``docker save`` of Docker 25. Layers are not compressed: nothing travels over
a network, and compression would only slow both ends down.

Formats: github.com/opencontainers/image-spec v1.1.0, image-layout.md and
config.md; github.com/moby/moby v20.10, image/tarexport.
"""

import dataclasses
import hashlib
import io
import json
import pathlib
import tarfile

from magnum_capi_tempest import dockers
from magnum_capi_tempest.toolchain import download

_OCI = 'application/vnd.oci.image'

#: Creation time of every image: a real one would change the digest of equal
#: content.
_CREATED = '1970-01-01T00:00:00Z'

_BLOBS = 'blobs/sha256'

#: Labels of every image that is not the upstream project's own, and of one of
#: a release of Kubernetes.
STAND_IN, KUBERNETES = dockers.STAND_IN, 'io.magnum-capi.kubernetes'

#: Labels of OCI's image-spec, annotations.md.
TITLE, VERSION = (f'org.opencontainers.image.{name}'
                  for name in ('title', 'version'))

#: containerd takes the full name of an image from this annotation.
_NAME = 'io.containerd.image.name'

_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'


@dataclasses.dataclass(frozen=True)
class Archive:
    """An image archive.

    :param name: of its recipe.
    :param references: names of its image, with tags.
    :param version: of its content.
    :param kubernetes: "v1.34.9" when it is of one release, else None.
    :param image_id: hex digest of the image's configuration, which is
        Docker's image id.
    """

    name: str
    path: pathlib.Path
    references: tuple[str, ...]
    version: str
    kubernetes: str | None
    image_id: str

    def fault(self) -> str | None:
        """What is wrong with its content, None if nothing is; reads all."""
        with tarfile.open(self.path) as tar:
            for info in tar:
                folder, _, name = info.name.rpartition('/')
                if folder == _BLOBS and name != hashlib.file_digest(
                        tar.extractfile(info), 'sha256').hexdigest():
                    return f'the SHA-256 of {info.name} differs from its name'
        return None


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer's tar file.

    :param sha256: hex digest; ``size``: bytes.
    """

    file: pathlib.Path
    sha256: str
    size: int


def layer(file: pathlib.Path) -> Layer:
    """Describe a tar file."""
    return Layer(file, download.digest(file), file.stat().st_size)


def config(recipe, layers, architecture) -> dict:
    """An image's configuration for a :class:`..recipes.Recipe`; pure."""
    environment = {'PATH': _PATH, **recipe.environment}
    run = {'Env': [f'{k}={v}' for k, v in sorted(environment.items())],
           'Labels': recipe.labels()}
    for key, value in (
            ('Entrypoint', list(recipe.entrypoint)),
            ('Cmd', list(recipe.command)), ('User', recipe.user),
            ('ExposedPorts', {port: {} for port in recipe.ports})):
        if value:
            run[key] = value
    return {
        'created': _CREATED, 'architecture': architecture, 'os': 'linux',
        'config': run,
        'rootfs': {'type': 'layers',
                   'diff_ids': [f'sha256:{x.sha256}' for x in layers]},
        'history': [{'created': _CREATED, 'created_by': 'magnum-capi'}
                    for _ in layers]}


def documents(configuration, layers, references):
    """The small files of an archive; pure.

    :returns: (name -> bytes in the order of the archive, hex digest of the
        configuration: Docker's image id).
    """
    conf = _json(configuration)
    conf_id = hashlib.sha256(conf).hexdigest()
    manifest = _json({
        'schemaVersion': 2, 'mediaType': f'{_OCI}.manifest.v1+json',
        'config': {'mediaType': f'{_OCI}.config.v1+json',
                   'digest': f'sha256:{conf_id}', 'size': len(conf)},
        'layers': [{'mediaType': f'{_OCI}.layer.v1.tar',
                    'digest': f'sha256:{x.sha256}', 'size': x.size}
                   for x in layers]})
    manifest_id = hashlib.sha256(manifest).hexdigest()
    index = _json({
        'schemaVersion': 2, 'mediaType': f'{_OCI}.index.v1+json',
        'manifests': [
            {'mediaType': f'{_OCI}.manifest.v1+json',
             'digest': f'sha256:{manifest_id}', 'size': len(manifest),
             'platform': {'os': 'linux',
                          'architecture': configuration['architecture']},
             'annotations': {
                 _NAME: reference,
                 'org.opencontainers.image.ref.name':
                     reference.rpartition(':')[2]}}
            for reference in references]})
    docker = _json([{
        'Config': _blob(conf_id), 'RepoTags': [_familiar(r)
                                               for r in references],
        'Layers': [_blob(x.sha256) for x in layers]}])
    return {'oci-layout': _json({'imageLayoutVersion': '1.0.0'}),
            'index.json': index, 'manifest.json': docker,
            _blob(manifest_id): manifest, _blob(conf_id): conf}, conf_id


def write(out: pathlib.Path, configuration, layers, references) -> str:
    """Write an archive.

    :returns: the image's id, hex.
    """
    small, identity = documents(configuration, layers, references)
    done = set()
    with tarfile.open(out, 'w', format=tarfile.PAX_FORMAT) as tar:
        for name, content in small.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for one in layers:
            if one.sha256 not in done:
                done.add(one.sha256)
                info = tarfile.TarInfo(_blob(one.sha256))
                info.size = one.size
                with open(one.file, 'rb') as stream:
                    tar.addfile(info, stream)
    return identity


def read(file: pathlib.Path) -> Archive | None:
    """What an archive of :func:`write` is.

    None if it is something else, or is not whole. Its layers are not read.
    """
    try:
        with tarfile.open(file) as tar:
            # The header of the last member shows whether the file is cut off.
            members = {info.name: info for info in tar}

            def document(name):
                return json.load(tar.extractfile(members[name]))

            found, = document('manifest.json')
            labels = document(found['Config'])['config']['Labels']
            if STAND_IN not in labels:
                return None
            return Archive(
                labels[TITLE], file, tuple(
                    one['annotations'][_NAME]
                    for one in document('index.json')['manifests']),
                labels[VERSION], labels.get(KUBERNETES),
                pathlib.PurePath(found['Config']).name)
    except (AttributeError, KeyError, OSError, TypeError, ValueError,
            tarfile.TarError):
        return None


def _blob(digest):
    return f'{_BLOBS}/{digest}'


def _familiar(reference):
    """A reference as Docker shows it: without the host of its hub."""
    for prefix in ('docker.io/library/', 'docker.io/'):
        if reference.startswith(prefix):
            return reference.removeprefix(prefix)
    return reference


def _json(value):
    return json.dumps(value, sort_keys=True).encode()
