# SPDX-License-Identifier: Apache-2.0

"""The Go module in which a program of a pinned module is built.

It is made for each build: the go.mod and go.sum of the pinned module (the
copies in its zip), which also require that module itself. So a program has
the versions of dependencies that its authors tested, and a pin is one line.

What verifies what: the pin has the hash of the module's zip; the zip has the
authors' go.sum, with the hashes of the dependencies. Modules that are not
there, such as the staging modules of Kubernetes, are verified by the checksum
database, if the user's GOSUMDB, GONOSUMDB and GOPRIVATE let Go ask it; it
keeps the answers in GOMODCACHE. Minimal version selection chooses the same
versions every time, and a build that needs another module fails
(:func:`require_unchanged`).
"""

import base64
import collections.abc
import hashlib
import json
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest import json_types
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins

#: Raise it when the same pins give other dependencies.
RULES = 1

#: Path of the module; ``.invalid`` is reserved (RFC 2606).
_NAME = 'build.invalid'

#: Seconds for ``go mod edit``.
_EDIT = 30


def write(module: pins.Module, build: pins.Build, folder: pathlib.Path,
          go_program: pathlib.Path, env: collections.abc.Mapping[str, str],
          progress: progress.Progress) -> str:
    """Write the module in which a program is built.

    :param module: that of the build.
    :param folder: made here; gets our own sources, too, if there are any.
    :param env: see :func:`go.environment`.
    :returns: its go.mod, for :func:`require_unchanged`.
    :raises EnvironmentProblem: the downloaded module does not match its pin.
    :raises CommandFailed: it cannot be downloaded.
    """
    source = go.module_files(module, progress)
    described = json.loads(processes.run(
        [go_program, 'mod', 'edit', '-json', source / 'go.mod'],
        timeout=_EDIT, cwd='/', env=env))
    folder.mkdir()
    for name in 'go.mod', 'go.sum':
        # Files of Go's module cache are read-only.
        (folder / name).write_bytes((source / name).read_bytes())
    processes.run(
        [go_program, 'mod', 'edit', *edits(described, module, build.replace),
         folder / 'go.mod'], timeout=_EDIT, cwd='/', env=env)
    with open(folder / 'go.sum', 'a', encoding='utf-8') as stream:
        stream.write(sums(module, (source / 'go.mod').read_bytes()))
    if build.path:
        for file in build.path.glob('*.go'):
            shutil.copy(file, folder)
    return (folder / 'go.mod').read_text()


def edits(described: json_types.Object, module: pins.Module,
          replace: collections.abc.Sequence[str] = ()) -> list[str]:
    """Arguments of ``go mod edit`` for a copy of the authors' go.mod; pure.

    A replacement by a folder of the authors' repository, which no zip has,
    gives way to the version that is published with the module itself.

    :param described: the authors' go.mod, as by ``go mod edit -json``.
    :param replace: see :class:`pins.Build`.
    """
    required = {one['Path']: one['Version']
                for one in described.get('Require') or ()}
    found = [f'-module={_NAME}', '-toolchain=none',
             f'-require={module.name}']
    for one in described.get('Replace') or ():
        if 'Version' in one['New']:
            continue
        path = one['Old']['Path']
        found.append(f'-dropreplace={path}')
        # Others name a real version, or are not required at all.
        if required.get(path, '').startswith('v0.0.0'):
            found.append(f'-replace={path}={path}@{published(module)}')
    for name in replace:
        found.append(f'-replace={name.partition("@")[0]}={name}')
    return found


def published(module: pins.Module) -> str:
    """The version of the other modules of a module's repository; pure.

    Those of Kubernetes v1.36.5 are v0.36.5 (staging/README.md there).
    """
    if module.path == 'k8s.io/kubernetes':
        return module.version.replace('v1.', 'v0.', 1)
    return module.version


def sums(module: pins.Module, go_mod: bytes) -> str:
    """Lines of go.sum for a pinned module; pure.

    The hash of a go.mod is golang.org/x/mod/sumdb/dirhash.Hash1 of this file.

    :param go_mod: of the verified zip.
    """
    line = f'{hashlib.sha256(go_mod).hexdigest()}  go.mod\n'
    h1 = base64.b64encode(hashlib.sha256(line.encode()).digest()).decode()
    return (f'{module.path} {module.version} {module.h1}\n'
            f'{module.path} {module.version}/go.mod h1:{h1}\n')


def require_unchanged(
        folder: pathlib.Path, go_mod: str, module: pins.Module) -> None:
    """Fail if a build has chosen dependencies of its own.

    :param go_mod: what :func:`write` returned.
    :raises EnvironmentProblem: go.mod was changed.
    """
    after = (folder / 'go.mod').read_text()
    if after != go_mod:
        new = sorted({*after.splitlines()} - {*go_mod.splitlines()})
        raise errors.EnvironmentProblem(
            f'The build of {module.name} needs modules that its authors did '
            'not pin', last_seen=', '.join(map(str.strip, new)),
            hint='Pin another version, or name the modules in "replace" of '
                 'pins.toml')
