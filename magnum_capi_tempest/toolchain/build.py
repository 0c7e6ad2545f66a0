# SPDX-License-Identifier: Apache-2.0

"""Builds a pinned program with Go.

In a module that is made for it (:mod:`.gomod`), or in one of our own, which
is read and never changed.
"""

import collections.abc
import hashlib
import os
import pathlib
import shutil

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import gomod
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import pins

#: Seconds for one program; kube-apiserver with empty caches took 15 minutes
#: on two busy cores.
TIMEOUT = 3600

#: Memory in bytes for compiling one large package (measured: up to 2 GiB).
_MEMORY = 2 * 2**30

#: Free bytes that a build needs when the Go caches are empty (Kubernetes:
#: 0.9 GiB of modules, 3.5 GiB of objects), and when they are filled.
COLD, WARM = 5 * 2**30, 2**30

#: In addition to -ldflags. No stamp of the checkout's git state: the key says
#: more, and git refuses to work in another user's checkout. No debug
#: information, which the linker would leave out: it takes 8 % of the time.
FLAGS = ('-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false')


def ldflags(variables: collections.abc.Sequence[str]) -> str:
    """The linker's flags: no debug information, and the version."""
    return ' '.join(['-s', '-w', *(f'-X {v}' for v in variables)])


def command(go_program: str | pathlib.Path, build: pins.Build,
            out: str | pathlib.Path, jobs: int) -> list[str]:
    """The command line of a build; runs in the module's folder."""
    verb = ['test', '-c', '-vet=off'] if build.test else ['build']
    linking = ldflags(build.variables)
    if build.cgo:
        # Static like the others: it runs in images without a C library.
        linking += ' -linkmode=external -extldflags=-static'
    # "mod" lets go.sum, not go.mod, grow: see gomod.
    updates = '-mod=mod' if build.module else '-mod=readonly'
    return [str(go_program), *verb, updates, *FLAGS, '-p', str(jobs),
            '-ldflags', linking, '-o', str(out), build.package]


def jobs(cores: int, memory: int) -> int:
    """Number of parallel compiles, by cores and total memory in bytes."""
    return max(1, min(cores, memory // _MEMORY))


def collection(jobs: int, memory: int) -> str:
    """GOGC of compilers: how rarely they collect their garbage, in percent.

    With 400 in place of Go's default, controller-runtime's client with all it
    needs took 40 s instead of 50 s on two processors, and 30 % more memory.

    :param jobs: number of parallel compiles.
    :param memory: of this machine, bytes.
    """
    return '400' if memory >= 2 * _MEMORY * jobs else '100'


def key(build: pins.Build) -> str:
    """Hex digest of everything that the program is made from.

    :raises EnvironmentProblem: the installation lacks its sources.
    """
    kinds: list[object] = [
        kind for kind in ('test', 'cgo') if getattr(build, kind)]
    if build.module:
        # Its hash is that of a zip with the hashes of all dependencies.
        kinds += [gomod.RULES, build.module.name, build.module.h1,
                  *build.replace]
    digest = hashlib.sha256(repr((
        build.name, build.version, build.package, FLAGS,
        ldflags(build.variables), pins.architecture(), *kinds)).encode())
    folder = build.path
    if folder:
        for file in sources(folder):
            if not build.own and file.name not in ('go.mod', 'go.sum'):
                continue
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(
                f'{file.relative_to(folder)} {content}\n'.encode())
    return digest.hexdigest()


def sources(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files of a folder that end up in its program, sorted."""
    return [f for f in sorted(folder.rglob('*'))
            if f.is_file() and not f.name.endswith('_test.go')
            and not any(part.startswith(('.', '_')) or part == 'testdata'
                        for part in f.relative_to(folder).parts)]


def make(build: pins.Build, out: pathlib.Path, progress: progress.Progress,
         *, warm: bool = False,
         free: collections.abc.Callable[[pathlib.Path], int] = disk.free
         ) -> None:
    """Build a program.

    :param out: path of the program.
    :param warm: whether the Go caches already hold its dependencies.
    :raises EnvironmentProblem: there is no Go, no C compiler for a program
        with parts in C, or no disk space; or a module is not as pinned.
    :raises CommandFailed: the build failed.
    """
    if build.cgo and not shutil.which('gcc'):
        raise errors.EnvironmentProblem(
            f'{build.name} {build.version} cannot be built without a C '
            'compiler',
            where='gcc', hint='Install the packages gcc and libc6-dev')
    go_program = go.find_go(progress)
    env = go.environment(go_program)
    caches = go.ask(go_program, ['GOCACHE', 'GOMODCACHE'], env)
    disk.require(
        WARM if warm else COLD,
        [out.parent, *map(pathlib.Path, caches.values())],
        f'a build of {build.name} {build.version}',
        'MAGNUM_CAPI_CACHE, GOCACHE and GOMODCACHE', free=free)
    # Next to the result, so that leftovers of a killed build go with it.
    temporary = out.parent / 'go-tmp'
    temporary.mkdir()
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    parallel = jobs(len(os.sched_getaffinity(0)), memory)
    env = {'GOGC': collection(parallel, memory)} | leftovers.marked(
        out.parent, env) | {'GOTMPDIR': str(temporary)}
    if build.cgo:
        env['CGO_ENABLED'] = '1'
    folder = build.path
    if build.module:
        folder = temporary / 'module'
        go_mod = gomod.write(
            build.module, build, folder, go_program, env, progress)
    argv = command(go_program, build, out, parallel)
    with progress.step(f'building {build.name} {build.version}'):
        try:
            processes.run(argv, timeout=TIMEOUT, env=env,
                          cwd=folder, hint=go.NETWORK)
        except errors.CommandFailed as e:
            if 'no space left on device' in e.output:
                raise errors.EnvironmentProblem(
                    f'No disk space for a build of {build.name}',
                    where=', '.join(caches.values()),
                    last_seen=e.output.strip()[-300:],
                    hint='Free some space, or move GOCACHE, GOMODCACHE and '
                         'MAGNUM_CAPI_CACHE') from e
            raise
    if build.module and folder:
        gomod.require_unchanged(folder, go_mod, build.module)
    shutil.rmtree(temporary, ignore_errors=True)
