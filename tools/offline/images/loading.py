# SPDX-License-Identifier: Apache-2.0

"""Gives archives to a Docker."""

from magnum_capi import errors

#: Seconds for one archive.
_TIMEOUT = 1800


def load(archives, docker, progress):
    """Load the images that a Docker lacks or has in another version.

    :param archives: :class:`.archive.Archive`.
    :param docker: :class:`magnum_capi_tempest.dockers.Docker`.
    :raises CommandFailed: Docker rejects an archive.
    """
    for archive in archives:
        if not all(_identity(docker, r) == f'sha256:{archive.image_id}'
                   for r in archive.references):
            with progress.step(f'loading the image {archive.name}'):
                docker.run('load', '--quiet', '--input', archive.path,
                           timeout=_TIMEOUT)


def _identity(docker, reference):
    try:
        return docker.run('image', 'inspect', '--format', '{{.Id}}',
                          reference).strip()
    except errors.CommandFailed:
        return None
