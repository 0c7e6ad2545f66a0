# SPDX-License-Identifier: Apache-2.0

"""Makes image archives: programs, layers, archives, one after the other.

An archive gets its name when it is complete, so archives made before Ctrl-C or
a full disk are kept. One process at a time works in a folder.
"""

import contextlib
import dataclasses
import functools
import pathlib
import tempfile

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import lock
from tools.offline.images import archive
from tools.offline.images import assemble
from tools.offline.images import inventory
from tools.offline.images import kicbase
from tools.offline.images import layers
from tools.offline.images import node
from tools.offline.images import plan as plan_
from tools.offline.images import recipes as recipes_
from tools.offline import pins

#: What makes images other than plain stacks of layers.
BUILDERS = {'node': node, 'kicbase': kicbase}

#: Raise it when the same inputs give other archives.
_FORMAT = 1


@dataclasses.dataclass(frozen=True)
class Order:
    """The argument of a builder's ``make(order, out, progress)``.

    :param programs: absolute path in the image -> the program's file.
    :param archives: images to bake in, :class:`.archive.Archive`.
    :param layers: function from a layer's name to its tar file.
    :param work: an empty folder, removed afterwards.
    """

    recipe: recipes_.Recipe
    programs: dict
    archives: tuple
    layers: object
    work: pathlib.Path


def build(directory=None, names=None, minors=None, progress=None):
    """Make the archives that are missing or out of date.

    :param directory: the folder; by default as in :mod:`.inventory`.
    :param names: see :func:`.plan.choose`.
    :param minors: of Kubernetes; all by default.
    :returns: all archives of the folder, see :func:`.inventory.read`.
    :raises UsageError: a name or minor is unknown, or the folder has
        something else in it; nothing was done.
    :raises EnvironmentProblem: something is missing, or the disk is full.
    :raises CommandFailed: a build failed.
    """
    progress = progress or progress_.Progress()
    directory = inventory.folder(directory)
    recipes = recipes_.load()
    chosen = plan_.choose(recipes, names, minors)
    with _writing(directory), lock.hold(
            directory / 'lock', 'makes images', progress):
        return _Maker(directory, recipes, progress).make(chosen)


class _Maker:

    def __init__(self, directory, recipes, progress):
        self._directory = directory
        self._have = inventory.read(directory)
        self._recipes = recipes
        self._progress = progress

    def make(self, chosen):
        for left in self._directory.glob('tmp-*'):
            leftovers.end(left)
            leftovers.remove(left)
        self._announce(chosen)
        for recipe in chosen:
            self._one(recipe)
        self._forget()
        return self._have

    def _announce(self, chosen):
        programs = toolchain.missing(
            {p for r in chosen for p in r.programs.values()}, pins.load())
        missing = [r for r in chosen if r.name not in self._have]
        if missing or programs:
            self._progress.info(
                f'{len(chosen)} image archives, {len(missing)} of them '
                f'missing; {len(programs)} programs to build first. All take '
                'most of an hour on two cores, and 25 GiB of disk with the '
                'caches of Go')
        else:
            self._progress.info(
                f'{len(chosen)} image archives: all exist, checking whether '
                'they are up to date')

    def _one(self, recipe):
        programs = toolchain.ensure(
            dict.fromkeys(recipe.programs.values()), self._progress,
            pins.load())
        files = {path: programs[name]
                 for path, name in recipe.programs.items()}
        bakes = tuple(self._have[r.name]
                      for r in plan_.baked(recipe, self._recipes))
        parts = {'format': str(_FORMAT), **{
            f'program {path}': _digest(file, file.stat().st_mtime_ns)
            for path, file in files.items()}}
        for name in recipe.layers():
            parts[f'layer {name}'] = self._layer(name).sha256
        for one in bakes:
            parts[f'archive {one.name}'] = one.path.name
        parts.update(_sources(recipe))
        path = inventory.path(
            self._directory, recipe.name, plan_.key(recipe, parts))
        if recipe.name in self._have and self._have[recipe.name].path == path:
            return
        with tempfile.TemporaryDirectory(
                prefix='tmp-', dir=self._directory) as work, \
                self._progress.step(f'image {recipe.name}'):
            self._write(recipe, files, bakes, path, pathlib.Path(work))

    def _write(self, recipe, files, bakes, path, work):
        out = work / 'archive.tar'
        if recipe.builder:
            (work / 'scratch').mkdir()
            order = Order(recipe, files, bakes,
                          lambda name: self._layer(name).file,
                          work / 'scratch')
            BUILDERS[recipe.builder].make(order, out, self._progress)
        else:
            assemble.write(recipe, files, self._layer, work, out)
        made = archive.read(out)
        if made is None:
            raise errors.EnvironmentProblem(
                f'The result for {recipe.name} is not an image archive',
                where=out, hint='This is a bug in its recipe or builder')
        out.replace(path)
        self._have[recipe.name] = dataclasses.replace(made, path=path)

    def _layer(self, name):
        return layers.ensure(
            name, self._directory / 'layers', self._progress)

    def _forget(self):
        """Remove archives that are out of date or that no recipe makes."""
        self._have = {name: one for name, one in self._have.items()
                      if name in self._recipes}
        for file, one in inventory.files(self._directory).items():
            if one and (one.name not in self._have
                        or self._have[one.name].path != file):
                file.unlink()


def _sources(recipe):
    """Digests of the builder and of the project's files that it uses."""
    if not recipe.builder:
        return {}
    found = {}
    for name in (*recipe.sources, f'{recipe.builder}.py'):
        top = pathlib.Path(__file__).parent / name
        files = [top] if top.is_file() else sorted(top.rglob('*'))
        for file in files:
            if file.is_file() and '__pycache__' not in file.parts:
                found[f'file {name} {file.relative_to(top)}'] = \
                    download.digest(file)
    return found


@functools.cache
def _digest(file, mtime_ns):
    return download.digest(file)


def _refuse_others(directory):
    """Refuse a folder with foreign files."""
    if inventory.read(directory):
        return
    others = [path for path in directory.iterdir()
              if path.name not in ('lock', 'layers')
              and not path.name.startswith('tmp-')
              and not inventory.is_name(path.name)]
    if others:
        raise errors.UsageError(
            'The folder contains something other than image archives',
            where=directory, last_seen=others[0].name,
            hint='Name a new or empty folder, or one with archives that this '
            'project has made')


@contextlib.contextmanager
def _writing(directory):
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _refuse_others(directory)
        yield
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot make image archives: {e}', where=directory,
            hint='Free some space or choose another folder with '
                 f'{inventory.VARIABLE}') from e
