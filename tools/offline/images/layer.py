# SPDX-License-Identifier: Apache-2.0

"""Writes a layer of an image: a reproducible tar archive.

Times, owners and the order of entries do not depend on when and where it is
made, so that equal content has the same digest and is stored once.
"""

import dataclasses
import io
import pathlib
import posixpath
import tarfile


@dataclasses.dataclass(frozen=True)
class Entry:
    """One file, folder or link of a layer.

    :param path: in the image; a leading "/" is ignored.
    :param content: path of a file to copy, or bytes; None: a folder.
    :param link: target of a symbolic link.
    """

    path: str
    content: pathlib.Path | bytes | None = None
    mode: int = 0o755
    link: str | None = None


def write(out: pathlib.Path, entries) -> None:
    """Write a layer.

    :param entries: :class:`Entry` objects; parent folders are added with mode
        0755. The last entry of a path wins.
    """
    with tarfile.open(out, 'w', format=tarfile.PAX_FORMAT) as tar:
        for entry in ordered(entries):
            _add(tar, entry)


def ordered(entries) -> list[Entry]:
    """The entries and their parent folders, sorted by path; pure."""
    found = {}
    for entry in entries:
        path = entry.path.strip('/')
        found[path] = dataclasses.replace(entry, path=path)
    for path in list(found):
        above = posixpath.dirname(path)
        while above:
            found.setdefault(above, Entry(above))
            above = posixpath.dirname(above)
    return [found[path] for path in sorted(found)]


def _add(tar, entry):
    info = tarfile.TarInfo(entry.path)
    info.mode = entry.mode
    if entry.link is not None:
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.link, \
            0o777
        tar.addfile(info)
    elif entry.content is None:
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    elif isinstance(entry.content, bytes):
        info.size = len(entry.content)
        tar.addfile(info, io.BytesIO(entry.content))
    else:
        with open(entry.content, 'rb') as stream:
            info.size = entry.content.stat().st_size
            tar.addfile(info, stream)


def read(layer: pathlib.Path, members) -> dict[str, bytes]:
    """Files of a layer.

    :param members: paths in it; symbolic links are followed.
    :returns: contents by path, for existing files.
    """
    found = {}
    with tarfile.open(layer) as tar:
        infos = {_clean(info.name): info for info in tar}
        for member in members:
            info = _resolve(infos, _clean(member))
            if info is not None:
                found[member] = tar.extractfile(info).read()
    return found


def _clean(path):
    return posixpath.normpath(path.lstrip('/')).lstrip('/')


def _resolve(infos, path, depth=0):
    """The regular file that a path resolves to, None if there is none."""
    if depth > 20:
        return None
    parts = path.split('/')
    for i in range(1, len(parts) + 1):
        info = infos.get('/'.join(parts[:i]))
        if info is None:
            # Not every archive has entries for parent folders.
            continue
        if info.issym():
            target = posixpath.join(
                '/', *parts[:i - 1], info.linkname, *parts[i:])
            return _resolve(infos, _clean(target), depth + 1)
        if info.islnk():
            return _resolve(infos, _clean(info.linkname), depth + 1)
    return info if info is not None and info.isreg() else None
