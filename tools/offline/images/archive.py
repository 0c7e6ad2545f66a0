# SPDX-License-Identifier: Apache-2.0

"""Writes an image archive that both Docker and containerd accept.

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

from magnum_capi_tempest.toolchain import download

_OCI = 'application/vnd.oci.image'

#: Creation time of every image: a real one would change the digest of equal
#: content.
_CREATED = '1970-01-01T00:00:00Z'

_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'


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
            ('WorkingDir', recipe.workdir),
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
                 # containerd takes the full name from this one.
                 'io.containerd.image.name': reference,
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
    """Write the archive.

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


def image_id(archive: pathlib.Path) -> str | None:
    """The image id (hex) that an archive's ``manifest.json`` names.

    None if it is not an archive that ``docker load`` accepts.
    """
    try:
        with tarfile.open(archive) as tar:
            for info in tar:
                if info.name == 'manifest.json':
                    found, = json.load(tar.extractfile(info))
                    return pathlib.PurePath(found['Config']).stem
    except (OSError, ValueError, KeyError, tarfile.TarError):
        return None
    return None


def _blob(digest):
    return f'blobs/sha256/{digest}'


def _familiar(reference):
    """A reference as Docker shows it: without the host of its hub."""
    for prefix in ('docker.io/library/', 'docker.io/'):
        if reference.startswith(prefix):
            return reference.removeprefix(prefix)
    return reference


def _json(value):
    return json.dumps(value, sort_keys=True).encode()
