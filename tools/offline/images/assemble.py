# SPDX-License-Identifier: Apache-2.0


"""Assembles an archive from the files of many sources in its recipe."""

import functools
import pathlib

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins as architectures
from tools.offline.images import archive
from tools.offline.images import layer
from tools.offline import pins


def write(recipe, files, layer_of, work: pathlib.Path,
          out: pathlib.Path) -> None:
    """Write the archive of a recipe without a builder.

    :param recipe: :class:`.recipes.Recipe`.
    :param files: path in the image -> file of the program for that path.
    :param layer_of: function from a layer's name to its
        :class:`.archive.Layer`.
    :param work: folder for temporary files.
    :raises EnvironmentProblem: a layer or a Go module lacks a file.
    """
    own = work / 'layer.tar'
    layer.write(own, entries(recipe, files, layer_of, work))
    below = [layer_of(recipe.base)] if recipe.base else []
    stack = [*below, archive.layer(own)]
    archive.write(out, archive.config(
        recipe, stack, architectures.architecture()), stack, recipe.references)


def entries(recipe, files, layer_of, work):
    """Yields the :class:`.layer.Entry` objects of the recipe's own layer."""
    modes = {path: int(mode, 8) for path, mode in recipe.modes.items()}
    for path, mode in recipe.directories.items():
        yield layer.Entry(path, None, int(mode, 8))
    if recipe.applets:
        yield from _applets(layer_of('debian'), work)
    for path, file in files.items():
        yield layer.Entry(path, file, modes.get(path, 0o755))
    for path, source in recipe.extract.items():
        name, _, member = source.partition(':')
        yield layer.Entry(path, _member(layer_of(name), member),
                          modes.get(path, 0o644))
    for path, source in recipe.sources_of.items():
        yield layer.Entry(path, _source(source).read_bytes(),
                          modes.get(path, 0o644))
    for path, text in recipe.texts.items():
        yield layer.Entry(path, text.encode(), modes.get(path, 0o644))
    for path, target in recipe.links.items():
        yield layer.Entry(path, link=target)


def _applets(debian, work):
    """busybox under all its names, and bash as ``sh``.

    Debian's busybox has an ash that drops variables with names such as
    "data-1", which Kubernetes' e2e tests set.
    """
    busybox = work / 'busybox'
    busybox.write_bytes(_member(debian, '/bin/busybox'))
    busybox.chmod(0o755)
    names = processes.run([busybox, '--list'], timeout=30).split()
    yield layer.Entry('/bin/busybox', busybox)
    for name in names:
        if name != 'busybox':
            yield layer.Entry(f'/bin/{name}', link='busybox')
    yield layer.Entry('/bin/bash', _member(debian, '/bin/bash-static'))
    yield layer.Entry('/bin/sh', link='bash')


def _member(of, member):
    found = _members(of, member).get(member)
    if found is None:
        raise errors.EnvironmentProblem(
            f'A layer has no {member}', where=of.file,
            hint='Check its list of packages in layers.toml')
    return found


@functools.cache
def _members(of, member):
    """Cached, because many images need the same few files of a large layer."""
    return layer.read(of.file, [member])


def _source(text):
    """A file of the Go module that a program is built from."""
    name, _, path = text.partition(':')
    module = pins.load().programs[name].build.module
    file = go.module_files(module) / path
    if not file.is_file():
        raise errors.EnvironmentProblem(
            f'The Go module {module.name} has no {path}', where=file,
            hint='Compare the recipe with the pinned version')
    return file
