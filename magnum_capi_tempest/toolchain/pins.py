# SPDX-License-Identifier: Apache-2.0

"""Reads the pins from ``pins.toml`` into frozen dataclasses.

Pure except for reading that file.
"""

import dataclasses
import functools
import pathlib
import platform
import re
import tomllib

from magnum_capi import errors
from magnum_capi_tempest import resources

#: The file to edit.
FILE = pathlib.Path(__file__).with_name('pins.toml')

#: Folder of the modules that are pinned, beside that file.
MODULES = 'go'

#: ``platform.machine()`` -> Go's name of the architecture.
ARCHITECTURES = {'x86_64': 'amd64', 'amd64': 'amd64',
                 'aarch64': 'arm64', 'arm64': 'arm64'}

#: Algorithms that upstream projects publish -> length in hex digits.
ALGORITHMS = {'sha256': 64, 'sha512': 128}


@dataclasses.dataclass(frozen=True)
class Download:
    """One release file for this architecture.

    :param digest: expected hex digest of the downloaded file.
    :param member: path of the program in a tar archive, None for a file
        that is the program itself.
    """

    url: str
    algorithm: str
    digest: str
    member: str | None = None


@dataclasses.dataclass(frozen=True)
class Family:
    """A Go module from which programs are built.

    :param folder: the module's folder: ``go/NAME``, beside ``pins.toml``, or
        one at the top of the repository.
    :param disk: free bytes that a build with empty Go caches needs.
    """

    name: str
    folder: str
    disk: int

    @property
    def path(self) -> pathlib.Path:
        """Absolute path of the folder.

        :raises EnvironmentProblem: the installation lacks it.
        """
        if self.folder.startswith(f'{MODULES}/'):
            return FILE.parent / self.folder
        return resources.find(self.folder)

    @property
    def installed(self) -> bool:
        """Whether the module is there; one is of magnum-capi-sandbox."""
        try:
            return self.path.is_dir()
        except errors.EnvironmentProblem:
            return False


@dataclasses.dataclass(frozen=True)
class Build:
    """A build from a family's module.

    :param package: Go package of the program; "." and "./x" are the
        module's own.
    :param module: Go module that must have the pinned version in go.mod.
    :param variables: ``import/path.name=value``, set by the linker.
    :param test: whether the program is the package's test binary.
    :param cgo: whether it has parts in C and needs a C compiler.
    """

    family: Family
    package: str
    module: str
    variables: tuple[str, ...] = ()
    test: bool = False
    cgo: bool = False

    @property
    def own(self) -> bool:
        """Whether its sources are this project's."""
        return self.package == '.' or self.package.startswith('./')


@dataclasses.dataclass(frozen=True)
class Program:
    """An external program and the ways to get it, in order.

    :param version: without a leading "v".
    :param version_command: arguments that print the version; None for a
        program that is not searched on PATH.
    :param version_regex: its only group is the version.
    """

    name: str
    version: str
    version_command: tuple[str, ...] | None = None
    version_regex: str | None = None
    download: Download | None = None
    build: Build | None = None

    def read_version(self, output: str) -> str | None:
        """The version that the program's output states, None if none."""
        match = re.search(self.version_regex, output)
        return match.group(1) if match else None


@dataclasses.dataclass(frozen=True)
class Module:
    """A Go module whose files are read. ``h1`` is as in go.sum."""

    path: str
    version: str
    h1: str


@dataclasses.dataclass(frozen=True)
class GoPackage:
    """The PyPI package of the Go toolchain.

    :param program: path of ``go`` in the installation folder.
    :param disk: free bytes that it needs.
    :param sha256: of all its wheels.
    """

    package: str
    version: str
    program: str
    disk: int
    sha256: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Pins:
    """All of ``pins.toml``, for one architecture."""

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
        data = tomllib.loads(text)
        families = {n: (Family(n, f['module'], _gib(f['build_disk_gib'])),
                        f.get('ldflags', {}))
                    for n, f in data.get('families', {}).items()}
        programs = {n: _program(n, p, families, arch)
                    for n, p in data.get('programs', {}).items()}
        kubernetes = data.get('kubernetes', {})
        for minor, release in kubernetes.get('releases', {}).items():
            programs |= _kubernetes(kubernetes, minor, release, arch)
        modules = {n: Module(n, m['version'], m['h1'])
                   for n, m in data.get('modules', {}).items()}
        go = data['go']
        package = GoPackage(
            go['package'], go['version'], go['program'],
            _gib(go['disk_gib']),
            tuple(go['sha256']))
    except (KeyError, ValueError) as e:
        raise errors.EnvironmentProblem(
            f'The pins cannot be used: {type(e).__name__} {e}', where=FILE,
            hint='Restore the file from git') from e
    return Pins(programs, modules, package)


def _kubernetes(data, minor, release, arch):
    """The programs of one minor, by names that end with it."""
    family = Family(f'kubernetes-{minor}', f'{MODULES}/kubernetes-{minor}',
                    _gib(data['build_disk_gib']))
    versions = {'ginkgo': release['ginkgo']}
    return {
        f'{name}-{minor}': _program(
            f'{name}-{minor}',
            {**{key: table[key] for key in (
                'version_command', 'version_regex') if key in table},
             'version': versions.get(name, release['version']),
             'build': {**table, 'family': family.name}},
            {family.name: (family, data['ldflags'])}, arch)
        for name, table in data['programs'].items()
        if table.get('only', minor) == minor}


def _program(name, data, families, arch):
    version = data['version']
    major, minor = version.split('.')[:2]
    names = {'version': version, 'major': major, 'minor': minor,
             'arch': arch}
    command = data.get('version_command')
    return Program(
        name, version, tuple(command) if command is not None else None,
        data.get('version_regex'), _download(data.get('download'), names),
        _build(data.get('build'), names, families))


def _download(data, names):
    for algorithm in ALGORITHMS:
        found = (data or {}).get(algorithm, {}).get(names['arch'])
        if found:
            member = data.get('member')
            return Download(data['url'].format(**names), algorithm, found,
                            member and member.format(**names))
    return None


def _build(data, names, families):
    if data is None:
        return None
    family, groups = families[data['family']]
    variables = tuple(v.format(**names) for g in data.get('ldflags', ())
                      for v in groups[g])
    return Build(family, data['package'], data['module'], variables,
                 data.get('test', False), data.get('cgo', False))


def _gib(value):
    return int(value * 2**30)
