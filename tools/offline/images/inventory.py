# SPDX-License-Identifier: Apache-2.0

"""The image archives of a folder: each says itself what it is.

The name of a file ends in a digest of everything that it was made from.
"""

import os
import pathlib
import re

from magnum_capi_tempest import paths
from tools.offline.images import archive

#: Folder of the archives, if not in the cache.
VARIABLE = 'MAGNUM_CAPI_IMAGES_DIR'

#: Digits in the name of a file.
_DIGITS = 12


def folder(directory: pathlib.Path | None = None) -> pathlib.Path:
    """The absolute path of a folder of archives.

    :param directory: by default ``$MAGNUM_CAPI_IMAGES_DIR``, else ``images``
        in the cache.
    """
    return pathlib.Path(directory or os.environ.get(VARIABLE)
                        or paths.cache() / 'images').absolute()


def path(directory: pathlib.Path, name: str, key: str) -> pathlib.Path:
    """Where an archive is, or would be.

    :param name: of its recipe.
    :param key: hex digest of everything that it is made from.
    """
    return directory / f'{name}-{key[:_DIGITS]}.tar'


def is_name(name: str) -> bool:
    """Whether an archive may have this name, perhaps one that is not whole."""
    return bool(re.fullmatch(rf'.+-[0-9a-f]{{{_DIGITS}}}\.tar', name))


def files(directory: pathlib.Path
          ) -> dict[pathlib.Path, archive.Archive | None]:
    """The files that may be archives, and what they are.

    None: it is something else, or is not whole.
    """
    return {file: archive.read(file)
            for file in sorted(directory.glob('*.tar'))}


def read(directory: pathlib.Path | None = None) -> dict[str, archive.Archive]:
    """The whole archives of a folder, by the names of their recipes."""
    return {one.name: one for one in files(folder(directory)).values() if one}
