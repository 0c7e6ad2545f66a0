# SPDX-License-Identifier: Apache-2.0
"""Drivers that a user installs in addition to those of the cloud.

uv has to know what the cloud's environment contains, and must not touch it.
So it works on an environment that has only the metadata of the cloud's
distributions: uv takes them for installed, adds what is missing, and reports
conflicts.
"""

import collections.abc
import configparser
import importlib.metadata
import os
import pathlib
import re
import shutil
import tempfile
import tomllib

import packaging.requirements
import packaging.utils

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import overlay
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import releases
from magnum_capi_tempest import runmarks

#: Group of entry points by which Magnum finds drivers.
GROUP = 'magnum.drivers'

#: Seconds for an index, a build and its dependencies.
PATIENCE = 600

#: Characters of uv's message that are shown.
_LONGEST = 800

# Not needed for a build, and often large.
_LEAVE_OUT = shutil.ignore_patterns(
    '.tox', '.venv', '.stestr', '__pycache__', '*.egg-info')


def requirement(text: str) -> str:
    """Normalize what a user wants to install: absolute path or requirement.

    :raises UsageError: it is neither.
    """
    path = pathlib.Path(text).absolute()
    if path.is_dir():
        if not any((path / name).is_file()
                   for name in ('pyproject.toml', 'setup.py')):
            raise errors.UsageError(
                'The folder is not a Python distribution (it has neither '
                'pyproject.toml nor setup.py)', where=path)
        return str(path)
    if path.is_file():
        return str(path)
    if not text.strip() or text.startswith('-') or not text.isprintable():
        raise errors.UsageError(
            f'{text!r} is neither a path nor a requirement')
    if os.sep in text and '://' not in text:
        raise errors.UsageError('There is no such file or folder',
                                where=path)
    return text


def distribution(what: str) -> str:
    """Name of the distribution of a folder, a wheel or a requirement.

    :raises UsageError: the name cannot be determined.
    """
    path = pathlib.Path(what)
    try:
        if path.suffix == '.whl':
            return packaging.utils.parse_wheel_filename(path.name)[0]
        if not path.is_dir():
            return packaging.requirements.Requirement(what).name
    except (packaging.utils.InvalidWheelFilename,
            packaging.requirements.InvalidRequirement) as e:
        raise _nameless(what) from e
    try:
        project = tomllib.loads(
            (path / 'pyproject.toml').read_text(encoding='utf-8'))['project']
        return str(project['name'])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        pass
    parser = configparser.ConfigParser()
    parser.read(path / 'setup.cfg')
    name = parser.get('metadata', 'name', fallback='')
    if not name:
        raise _nameless(path)
    return name


def _nameless(what: str | pathlib.Path) -> errors.UsageError:
    return errors.UsageError(
        'The name of the distribution cannot be determined', where=what,
        hint='Name the driver with --driver')


def same(one: str, other: str) -> bool:
    """Whether two spellings name the same distribution."""
    return (packaging.utils.canonicalize_name(one)
            == packaging.utils.canonicalize_name(other))


def install(layout: layouts.Layout, cloud: pathlib.Path,
            requirements: collections.abc.Sequence[str],
            progress: progress.Progress, release: releases.Release,
            companions: collections.abc.Sequence[str] = ()) -> None:
    """Install into the sandbox's folder ``drivers``, all or nothing.

    :param cloud: environment of Magnum.
    :param requirements: results of :func:`requirement`. A driver that Magnum's
        environment has in another version is replaced, for this sandbox.
    :param release: of Magnum.
    :param companions: requirements to install along with them. One that
        Magnum's environment has in another version is replaced, for this
        sandbox.
    :raises MagnumCapiError: something cannot be installed, would replace a
        package of Magnum's environment, or contains no driver.
    """
    with progress.step('Drivers'), tempfile.TemporaryDirectory(
            dir=layout.directory / 'tmp', prefix='drivers-') as made:
        scratch = pathlib.Path(made)
        library = overlay.empty(scratch / 'env', cloud)
        cloud_library = overlay.library(cloud)
        installed = _installed(cloud_library)
        others = [text for text in requirements
                  if _is_other_driver(text, installed)]
        more, instead = _sorted(companions, installed)
        wanted = [text for text in requirements if text not in others] + more
        pretended = _pretend(library, cloud_library)
        pretended.append(_pretend_library(library, scratch))
        if wanted:
            _uv(layout, scratch, wanted, environment.pins(release, scratch))
        if instead or others:
            _uv(layout, scratch, [*instead, *others], (),
                '--no-deps', '--target', library / overlay.COMPANIONS)
        for name in pretended:
            _refuse_another(library / name, requirements)
            shutil.rmtree(library / name)
        _require_drivers(library, cloud_library, requirements)
        library.rename(layout.drivers)


def _pretend(library: pathlib.Path, cloud: pathlib.Path) -> list[str]:
    """Add the metadata of the cloud's distributions; returns the folders."""
    names = [path.name for path in cloud.glob('*.dist-info')]
    for name in names:
        (library / name).mkdir()
        for file in ('METADATA', 'WHEEL'):
            (library / name / file).symlink_to(cloud / name / file)
        # No files: uv cannot remove what it believes to be absent.
        (library / name / 'RECORD').touch()
    return names


def _pretend_library(library: pathlib.Path, scratch: pathlib.Path) -> str:
    """Add the metadata of this library, which every sandbox has.

    Returns the name of the folder.
    """
    metadata = scratch / 'METADATA'
    metadata.write_text(overlay.metadata())
    folder = library / overlay.folder()
    folder.mkdir()
    (folder / 'METADATA').symlink_to(metadata)
    (folder / 'WHEEL').write_text(
        'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    (folder / 'RECORD').touch()
    return folder.name


def _installed(
        cloud: pathlib.Path) -> dict[str, importlib.metadata.Distribution]:
    """Distributions of Magnum's environment by their canonical names."""
    return {packaging.utils.canonicalize_name(one.name): one
            for one in importlib.metadata.distributions(path=[str(cloud)])}


def _is_other_version(
        wanted: packaging.requirements.Requirement,
        installed: collections.abc.Mapping[
            str, importlib.metadata.Distribution]) -> bool:
    """Whether another version of a requirement is installed."""
    have = installed.get(packaging.utils.canonicalize_name(wanted.name))
    return have is not None and not wanted.specifier.contains(
        have.version, prereleases=True)


def _is_other_driver(
        text: str,
        installed: collections.abc.Mapping[
            str, importlib.metadata.Distribution]) -> bool:
    """Whether a text asks for another version of an installed driver."""
    try:
        wanted = packaging.requirements.Requirement(text)
    except packaging.requirements.InvalidRequirement:
        # A path, or a URL without a name.
        return False
    return _is_other_version(wanted, installed) and bool(_drivers_of(
        installed[packaging.utils.canonicalize_name(wanted.name)]))


def _sorted(
        companions: collections.abc.Sequence[str],
        installed: collections.abc.Mapping[
            str, importlib.metadata.Distribution]
) -> tuple[list[str], list[str]]:
    """The new companions, and those that replace another version."""
    more, instead = [], []
    for text in companions:
        wanted = packaging.requirements.Requirement(text)
        if packaging.utils.canonicalize_name(wanted.name) not in installed:
            more.append(text)
        elif _is_other_version(wanted, installed):
            instead.append(text)
    return more, instead


def _uv(layout: layouts.Layout, scratch: pathlib.Path,
        requirements: collections.abc.Sequence[str],
        pins: collections.abc.Sequence[pathlib.Path],
        *options: str | pathlib.Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != 'VIRTUAL_ENV'} | {
        # So that it can be found and ended if this process is killed.
        runmarks.MARK: str(layout.directory),
        # uv leaves lock files there.
        'TMPDIR': str(scratch)}
    sources = {_copied(r, scratch): r for r in requirements}
    try:
        processes.run(
            [environment.uv(), 'pip', 'install', '--quiet', '--python',
             scratch / 'env' / 'bin' / 'python',
             *(f'--constraint={file}' for file in pins),
             *options, '--', *sources],
            env=env, timeout=PATIENCE)
    except errors.CommandFailed as e:
        said = e.output
        for copy, source in sources.items():
            said = said.replace(copy, source)
        raise errors.MagnumCapiError(
            f'Cannot install {", ".join(requirements)}',
            elapsed=None if e.returncode else e.elapsed,
            last_seen=' '.join(said.split())[:_LONGEST].rstrip('.') or None,
            hint=_hint(pins)) from e


def _hint(pins: collections.abc.Sequence[pathlib.Path]) -> str:
    names = ', '.join(file.name for file in pins)
    fit = ('It must be compatible with the versions in '
           f'sandbox/constraints/{names}, and a' if names else 'A')
    return f'{fit} package index must be reachable'


def _copied(text: str, scratch: pathlib.Path) -> str:
    """Copy a folder, to build from the copy.

    Builds write into the folder, and uv would reuse a cached older wheel of
    the same path.
    """
    path = pathlib.Path(text)
    if not path.is_absolute() or not path.is_dir():
        return text
    parent = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    try:
        return str(shutil.copytree(path, parent / path.name, symlinks=True,
                                   ignore=_LEAVE_OUT))
    except (OSError, shutil.Error) as e:
        raise errors.UsageError(
            'The folder cannot be read', where=path,
            last_seen=re.sub(r'\s+', ' ', str(e))[:_LONGEST]) from e


def _refuse_another(folder: pathlib.Path,
                    requirements: collections.abc.Sequence[str]) -> None:
    """Fail if uv has installed a distribution of the cloud again."""
    if not (folder / 'METADATA').is_symlink():
        raise errors.UsageError(
            f'{folder.name.removesuffix(".dist-info")} is already installed '
            "in Magnum's environment, and cannot be replaced for this sandbox",
            where=', '.join(requirements))


def _require_drivers(library: pathlib.Path, cloud: pathlib.Path,
                     requirements: collections.abc.Sequence[str]) -> None:
    found = importlib.metadata.distributions(path=[str(library)])
    if any(_drivers_of(one) for one in found):
        return
    # uv installs nothing for a driver that Magnum's environment has already.
    asked = [distribution(text) for text in requirements
             if not os.path.isabs(text)]
    for one in importlib.metadata.distributions(path=[str(cloud)]):
        if _drivers_of(one) and any(
                same(one.name, name) for name in asked):
            return
    raise errors.UsageError(
        f'It contains no driver: it has no entry point of the group {GROUP}',
        where=', '.join(requirements))


def _drivers_of(one: importlib.metadata.Distribution
                ) -> importlib.metadata.EntryPoints:
    return one.entry_points.select(group=GROUP)
