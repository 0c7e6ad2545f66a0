# SPDX-License-Identifier: Apache-2.0

"""Which image archives a folder has, and whether they are intact.

``inventory.json`` lies next to the archives; all other code finds images
through it, never through file names.
"""

import dataclasses
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import download

#: Folder of the archives, if not in the cache.
VARIABLE = 'MAGNUM_CAPI_IMAGES_DIR'

FILE = 'inventory.json'


@dataclasses.dataclass(frozen=True)
class Archive:
    """An image archive, for ``docker load`` and ``ctr images import``.

    :param path: the file.
    :param references: names of its image, with tags.
    :param kind: "image" for pods, "node", or "base" for minikube's machine.
    :param set: "node", "management" or "machine", see :mod:`.recipes`.
    :param kubernetes: "v1.34.9" when it is of one release, else None.
    :param image_id: hex digest of the image's configuration, which is
        Docker's image id.
    :param size: bytes.
    :param stand_in: whether it was made here, and not by the project whose
        name it has.
    :param key: hex digest of everything that it was made from.
    :param seconds: how long that took.
    :param contents: versions of its contents, by name.
    """

    name: str
    path: pathlib.Path
    references: tuple[str, ...]
    kind: str
    set: str
    kubernetes: str | None
    version: str
    image_id: str
    sha256: str
    size: int
    stand_in: bool
    key: str
    seconds: float
    contents: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Inventory:
    """The archives of a folder, by name."""

    directory: pathlib.Path
    archives: dict

    def of_kind(self, kind, kubernetes=None) -> tuple[Archive, ...]:
        """Archives of a kind, optionally of one release."""
        return tuple(
            a for a in self.archives.values() if a.kind == kind
            and kubernetes in (None, a.kubernetes))

    def verify(self) -> dict[str, str]:
        """Read all archives; returns name -> what is wrong with it."""
        faults = {}
        for archive in self.archives.values():
            fault = quick_fault(archive)
            if fault is None and download.digest(
                    archive.path) != archive.sha256:
                fault = 'its SHA-256 differs from the inventory'
            if fault:
                faults[archive.name] = fault
        return faults


def default_directory() -> pathlib.Path:
    """``$MAGNUM_CAPI_IMAGES_DIR``, else ``images`` in the cache."""
    if os.environ.get(VARIABLE):
        return pathlib.Path(os.environ[VARIABLE]).absolute()
    return paths.cache() / 'images'


def read(directory: pathlib.Path | None = None) -> Inventory:
    """The inventory of a folder; empty when it has none.

    :raises EnvironmentProblem: the inventory cannot be read.
    """
    directory = pathlib.Path(directory or default_directory()).absolute()
    file = directory / FILE
    try:
        text = file.read_text(encoding='utf-8')
    except FileNotFoundError:
        return Inventory(directory, {})
    except OSError as e:
        raise _unreadable(file, e.strerror) from e
    try:
        return parse(text, directory)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise _unreadable(file, f'{type(e).__name__} {e}') from e


def parse(text: str, directory: pathlib.Path) -> Inventory:
    """Read an inventory's JSON; pure.

    :raises ValueError, KeyError, TypeError, AttributeError: it is not an
        inventory.
    """
    archives = {}
    for data in json.loads(text):
        file = pathlib.PurePath(data.pop('file'))
        if file.name != str(file):
            raise ValueError(f'{file} is not in this folder')
        data['references'] = tuple(data['references'])
        archives[data['name']] = Archive(path=directory / file, **data)
    return Inventory(directory, archives)


def write(inventory: Inventory) -> None:
    """Write ``inventory.json`` atomically."""
    rows = []
    for name in sorted(inventory.archives):
        row = dataclasses.asdict(inventory.archives[name])
        row['file'] = row.pop('path').name
        rows.append(row)
    with outfile.whole(inventory.directory / FILE) as stream:
        stream.write(json.dumps(rows, indent=1).encode() + b'\n')


def quick_fault(archive: Archive) -> str | None:
    """What is wrong with an archive, without reading it."""
    try:
        size = archive.path.stat().st_size
    except OSError as e:
        return f'the file is not there: {e.strerror}'
    if size != archive.size:
        return f'it has {size} bytes instead of {archive.size}'
    return None


def _unreadable(file, why):
    return errors.EnvironmentProblem(
        'The inventory of image archives cannot be read', where=file,
        last_seen=why,
        hint='Remove it and build the archives again')
