# SPDX-License-Identifier: Apache-2.0


"""Layers that several images share, kept in the folder of the archives.

A layer is made anew when its list of packages changes, not when Debian has
newer packages; the installed versions are recorded next to it.
"""

import functools
import json
import pathlib
import tempfile
import tomllib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.toolchain import leftovers
from tools.offline.images import archive
from tools.offline.images import debian
from tools.offline.images import layer
from tools.offline.images import recipes

#: Packages of the layer "machine".
MACHINE = 'node/debian.toml'

_STATUS = '/var/lib/dpkg/status'


def ensure(name, folder: pathlib.Path, progress) -> archive.Layer:
    """The cached layer, made if necessary.

    The caller holds the lock of the folder.

    :param name: of ``layers.toml``, or "machine": the root file system of
        nodes.
    :param folder: where ``<name>-<key>.tar`` is kept; an older one is
        removed.
    :raises EnvironmentProblem: there is no such layer, or a program to make
        it is missing.
    :raises CommandFailed: it cannot be made.
    """
    wanted = _wanted(name)
    file = folder / f'{name}-{wanted.key()[:12]}.tar'
    found = _kept(file)
    if found is None:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob('tmp-*'):
            leftovers.end(left)
            leftovers.remove(left)
        for old in folder.glob(f'{name}-*'):
            old.unlink()
        with progress.step(f'layer {name}'):
            _make(wanted, file)
        found = _kept(file)
    return found


def _make(wanted, file):
    work = pathlib.Path(tempfile.mkdtemp(prefix='tmp-', dir=file.parent))
    try:
        draft = work / 'layer.tar'
        debian.make(wanted, draft)
        made = archive.layer(draft)
        note = {'sha256': made.sha256, 'size': made.size,
                'packages': _packages(draft)}
        with outfile.whole(_note(file)) as stream:
            stream.write(json.dumps(note, indent=1).encode() + b'\n')
        draft.rename(file)
    finally:
        leftovers.remove(work)


def _wanted(name):
    try:
        return known()[name]
    except KeyError:
        raise errors.EnvironmentProblem(
            f'There is no layer {name!r}', where=recipes.FOLDER,
            hint=f'Known are: {", ".join(known())}') from None


@functools.cache
def known() -> dict[str, debian.Debian]:
    """What each layer is made of, by name."""
    data = _read('layers.toml')
    return {name: debian.Debian(x['suite'], tuple(x['packages']))
            for name, x in {**data, 'machine': _read(MACHINE)}.items()}


def _read(name):
    return tomllib.loads((recipes.FOLDER / name).read_text(encoding='utf-8'))


def _note(file):
    return file.with_suffix('.json')


def _kept(file):
    try:
        note = json.loads(_note(file).read_text())
        if file.stat().st_size == note['size']:
            return archive.Layer(file, note['sha256'], note['size'])
    except (OSError, ValueError, KeyError):
        pass
    return None


def _packages(file):
    status = layer.read(file, [_STATUS]).get(_STATUS, b'')
    return debian.versions(status.decode())
