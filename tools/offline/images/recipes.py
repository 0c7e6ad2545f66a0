# SPDX-License-Identifier: Apache-2.0

"""What an image contains, read from ``definitions/recipes/*.toml``.

A recipe is data: which programs of the toolchain go where, on which base,
and what the container runs. A recipe with ``minors`` stands for one recipe per
minor of Kubernetes, and its texts are filled in from ``kubernetes.toml``.
"""

import dataclasses
import functools
import pathlib
import re
import tomllib

from magnum_capi import errors
from tools.offline.images import archive
from tools.offline import pins

#: Folder of the recipes and of what they are made from.
FOLDER = pathlib.Path(__file__).with_name('definitions')

#: Kinds of archives: for pods, nodes, minikube's machine.
KINDS = 'image', 'node', 'base'

#: Where images are used: in every node, by a management cluster in nodes, as
#: the machine itself.
SETS = 'node', 'management', 'machine'

_NAME = re.compile(r'[a-z0-9]+([._-][a-z0-9]+)*')


@dataclasses.dataclass(frozen=True)
class Recipe:
    """One image. The dicts have absolute paths in the image as keys.

    :param name: name of its archive, "kube-proxy-1.34".
    :param references: its names, with tags.
    :param version: of its content, without "v".
    :param kubernetes: "v1.34.9" when it is of one release, else None.
    :param base: layer below its own, "debian"; None: nothing.
    :param programs: programs of the toolchain.
    :param extract: "layer:path in it" for files of layers.
    :param sources_of: "program:path" for files of the Go module from which
        the program is built.
    :param texts: contents of files.
    :param directories: modes, octal.
    :param links: targets of symbolic links.
    :param modes: octal, of programs and texts that differ from the default.
    :param applets: whether it has busybox with all its names, and bash as
        ``sh``.
    :param builder: name of what makes it, see :data:`.build.BUILDERS`; None:
        the fields above suffice.
    :param bakes: sets whose images a builder puts into it, and names of
        other recipes, without their minors.
    :param outlives: whether it also runs on nodes of the next minor during an
        upgrade: kubeadm changes addons when all control planes are new.
    :param sources: files and folders of this room that count for the
        builder's cache.
    """

    name: str
    references: tuple[str, ...]
    version: str
    kind: str = 'image'
    set: str = 'node'
    kubernetes: str | None = None
    base: str | None = None
    programs: dict = dataclasses.field(default_factory=dict)
    extract: dict = dataclasses.field(default_factory=dict)
    sources_of: dict = dataclasses.field(default_factory=dict)
    texts: dict = dataclasses.field(default_factory=dict)
    directories: dict = dataclasses.field(default_factory=dict)
    links: dict = dataclasses.field(default_factory=dict)
    modes: dict = dataclasses.field(default_factory=dict)
    applets: bool = False
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: dict = dataclasses.field(default_factory=dict)
    user: str | None = None
    ports: tuple[str, ...] = ()
    builder: str | None = None
    bakes: tuple[str, ...] = ()
    outlives: bool = False
    sources: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name without the minor of Kubernetes."""
        return self.name.removesuffix(f'-{self.minor}')

    @property
    def minor(self) -> str | None:
        """"1.34" for a recipe of one release of Kubernetes."""
        if self.kubernetes is None:
            return None
        return '.'.join(self.kubernetes[1:].split('.')[:2])

    def layers(self) -> tuple[str, ...]:
        """Names of the layers that are needed to make it."""
        names = {source.partition(':')[0] for source in
                 self.extract.values()}
        if self.base:
            names.add(self.base)
        if self.applets:
            names.add('debian')
        return tuple(sorted(names))

    def labels(self) -> dict[str, str]:
        """Labels of the image."""
        labels = {archive.STAND_IN: 'true',
                  archive.TITLE: self.name, archive.VERSION: self.version}
        if self.kubernetes:
            labels[archive.KUBERNETES] = self.kubernetes
        return labels


def minors() -> tuple[str, ...]:
    """The minors of Kubernetes that nodes can have, oldest first."""
    return tuple(sorted(
        (r.minor for r in load().values() if r.kind == 'node'),
        key=lambda m: int(m.split('.')[1])))


@functools.cache
def load() -> dict[str, Recipe]:
    """All recipes of this installation, by name.

    :raises EnvironmentProblem: a file is not valid.
    """
    found = {}
    for file in sorted((FOLDER / 'recipes').glob('*.toml')):
        for recipe in parse(_read(file), _releases(), file):
            if recipe.name in found:
                raise _invalid(file, f'{recipe.name} is there twice')
            found[recipe.name] = recipe
    return found


def _read(file: pathlib.Path) -> dict:
    try:
        return tomllib.loads(file.read_text(encoding='utf-8'))
    except ValueError as e:
        raise _invalid(file, e) from e


@functools.cache
def _releases() -> dict[str, dict[str, str]]:
    """Values for the texts of recipes, by minor."""
    file = FOLDER / 'kubernetes.toml'
    programs = pins.load().programs
    found = {}
    for minor, names in _read(file).items():
        found[minor] = {'minor': minor, **names}
        for name, program in (('kubernetes', 'kubelet'), ('etcd', 'etcd'),
                              ('coredns', 'coredns')):
            found[minor][name] = programs[f'{program}-{minor}'].version
    return found


def parse(data: dict, releases: dict, where='recipes') -> list[Recipe]:
    """The recipes of a TOML document.

    :param data: table name -> fields of :class:`Recipe`, and ``minors``.
    :param releases: minor -> values for "{name}"; "kubernetes" is the full
        version.
    :raises EnvironmentProblem: a recipe is not valid.
    """
    found = []
    for name, fields in data.items():
        of = fields.get('minors')
        for minor in of or (None,):
            try:
                found.append(_recipe(name, fields, minor, releases))
            except (KeyError, TypeError, ValueError) as e:
                raise _invalid(
                    where, f'{name}: {type(e).__name__} {e}') from e
    return found


def _recipe(name, fields, minor, releases):
    names = releases[minor] if minor else {}
    fields = _filled({k: v for k, v in fields.items() if k != 'minors'},
                     names)
    if minor:
        name = f'{name}-{minor}'
        fields['kubernetes'] = f'v{names["kubernetes"]}'
    recipe = Recipe(name=name, **{
        key: tuple(value) if isinstance(value, list) else value
        for key, value in fields.items()})
    if not _NAME.fullmatch(name):
        raise ValueError('no name for a file')
    if recipe.kind not in KINDS or recipe.set not in SETS:
        raise ValueError(f'kind {recipe.kind}, set {recipe.set}')
    if not recipe.references or any(
            ':' not in r.rpartition('/')[2] for r in recipe.references):
        raise ValueError('references need a tag')
    for paths in (recipe.programs, recipe.extract, recipe.sources_of,
                  recipe.texts, recipe.directories, recipe.links):
        for path in paths:
            if not path.startswith('/'):
                raise ValueError(f'{path} is not absolute')
    return recipe


def _filled(value, names):
    """The value with "{name}" replaced in all its texts; other braces stay."""
    if isinstance(value, str):
        return re.sub(r'\{(\w+)\}',
                      lambda m: names.get(m.group(1), m.group(0)), value)
    if isinstance(value, list):
        return [_filled(v, names) for v in value]
    if isinstance(value, dict):
        return {_filled(k, names): _filled(v, names)
                for k, v in value.items()}
    return value


def _invalid(where, why):
    return errors.EnvironmentProblem(
        'The recipes of images are not usable', where=where,
        last_seen=str(why), hint='Restore the file from git')
