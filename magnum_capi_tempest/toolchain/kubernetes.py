# SPDX-License-Identifier: Apache-2.0

"""Go modules for releases of Kubernetes that are not in ``pins.toml``.

The module k8s.io/kubernetes replaces some modules by its folder ``staging``,
which no proxy serves; the same code is also published as separate modules. So
the module for its programs has the requirements of that release with the
published modules, and is pinned as strictly: the hashes of all other modules
are those of Kubernetes' own go.sum.

The hashes of the published modules come from Go's checksum database. Modules
that it does not know are trusted on first use: their hashes are kept, and a
message names them.
"""

import json
import pathlib
import re
import typing

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi import progress as progress_
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import go

MODULE = 'k8s.io/kubernetes'
#: The Go version that "tool" in go.mod needs, as in the pinned modules.
_GO = (1, 26, 0)
_STAGING = re.compile(r'(?m)^\t(\S+) => \./staging/\S+$')
_REQUIRE = re.compile(r'(?ms)^require \((.*?)^\)')
_LINE = re.compile(r'(?m)^\t(\S+) (v\S+)(?: //.*)?$')
_OURS = 'opendev.org/x/magnum-capi-tempest/tools/go'
_SAMPLE = 'k8s.io/sample-apiserver'
_VERSION = re.compile(r'1\.\d{1,3}\.\d{1,3}')
#: Seconds for some fifty modules.
_DOWNLOAD = 1200


class Sum(typing.NamedTuple):
    """A module and its hashes, as go.sum has them."""

    path: str
    version: str
    h1: str
    go_mod_h1: str


def is_release(text: str) -> bool:
    """Whether a text is a full version, ``1.36.5``."""
    return bool(_VERSION.fullmatch(text))


def module(version: str, tools, progress=None) -> pathlib.Path:
    """Folder of the module for a release, made if necessary.

    :param version: without "v", ``1.36.4``.
    :param tools: packages of its programs; those that end with ``/e2e`` are
        tests.
    :raises UsageError: the module proxy does not serve that release.
    :raises CommandFailed: the network fails.
    """
    folder = paths.cache() / 'modules' / f'kubernetes-{version}'
    if not (folder / 'go.sum').exists():
        progress = progress or progress_.Progress()
        with progress.step(f'Go modules of Kubernetes {version}'):
            source, sums, unvouched = _look(version)
        if unvouched:
            progress.info('not in the Go checksum database, trusted on first '
                          'use: ' + ', '.join(unvouched))
        made = files(version, (source / 'go.mod').read_text(),
                     (source / 'go.sum').read_text(), sums, tools)
        # go.sum is written last: it marks the folder as complete.
        for name in 'tools.go', 'go.mod', 'go.sum':
            with outfile.whole(folder / name) as stream:
                stream.write(made[name].encode())
    return folder


def requirement(folder: pathlib.Path, path: str) -> str:
    """Version without "v" of a module that a folder's go.mod requires."""
    match = re.search(rf'(?m)^(?:require )?\s*{re.escape(path)} v(\S+)',
                      (folder / 'go.mod').read_text())
    return match[1]


def staging(go_mod: str) -> tuple[str, ...]:
    """Modules of Kubernetes' go.mod that are published separately.

    Only required ones: it also names samples, which are not served.
    """
    required = {path for path, _ in requires(go_mod)}
    return tuple(path for path in _STAGING.findall(go_mod)
                 if path in required)


def requires(go_mod: str) -> list[tuple[str, str]]:
    """Pairs of module and version of all ``require`` blocks."""
    return [pair for block in _REQUIRE.findall(go_mod)
            for pair in _LINE.findall(block)]


def published(version: str) -> str:
    """Version of the staging modules of ``1.36.5``: ``v0.36.5``."""
    return f'v0.{version.partition(".")[2]}'


def files(version, go_mod, go_sum, sums, tools) -> dict[str, str]:
    """Contents of go.mod, go.sum and tools.go; pure.

    :param go_mod: of k8s.io/kubernetes; ``go_sum`` likewise.
    :param sums: :class:`Sum` of it and of the published modules.
    """
    tests = [tool for tool in tools if tool.endswith('/e2e')]
    minor = version.rpartition('.')[0]
    published_ = {one.path: one.version for one in sums}
    wanted = max(_GO, go.directive(go_mod))
    debug = re.search(r'(?m)^godebug .*$', go_mod)
    lines = [
        f'module {_OURS}/kubernetes-{minor}', '',
        'go {}.{}.{}'.format(*wanted), '',
        *([debug[0], ''] if debug else ()),
        'tool (', *(f'\t{tool}' for tool in sorted(set(tools) - set(tests))),
        ')', '', f'require {MODULE} v{version}', '', 'require (',
        *(f'\t{path} {published_.get(path, number)} // indirect'
          for path, number in requires(go_mod)),
        ')', '']
    hashes = [*go_sum.splitlines(), *(
        line for one in sums for line in (
            f'{one.path} {one.version} {one.h1}',
            f'{one.path} {one.version}/go.mod {one.go_mod_h1}'))]
    return {'go.mod': '\n'.join(lines),
            'go.sum': '\n'.join([*sorted(hashes), '']),
            'tools.go': _TOOLS + ''.join(
                f'import _ "{test}"\n' for test in tests)}


_TOOLS = '''\
// SPDX-License-Identifier: Apache-2.0

// Package kubernetes keeps in go.mod what e2e.test is made of: it is the test
// binary of the imported package, and no program that go.mod could name.
package kubernetes

'''


def _look(version):
    """Folder of a release, its sums, and modules without a known checksum."""
    program = go.find_go()
    env = go.environment(program)
    (main,), unvouched = _download(program, env, [f'{MODULE}@v{version}'])
    if 'Error' in main:
        raise _not_served(program, env, version, main['Error'])
    source = pathlib.Path(main['Dir'])
    found, more = _download(program, env, [
        f'{path}@{published(version)}'
        for path in staging((source / 'go.mod').read_text())])
    found = [one if 'Sum' in one else _older(program, env, one, version)
             for one in found]
    return source, [Sum(one['Path'], one['Version'], one['Sum'],
                        one['GoModSum']) for one in (main, *found)], \
        [*unvouched, *more]


def _older(program, env, missing, version):
    """Use sample code of an older patch release: tests take types from it."""
    minor, _, patch = published(version).rpartition('.')
    if missing['Path'] == _SAMPLE:
        for number in reversed(range(int(patch))):
            (one,), _ = _download(program, env,
                                  [f'{_SAMPLE}@{minor}.{number}'])
            if 'Sum' in one:
                return one
    raise _not_served(program, env, version, missing['Error'])


def _download(program, env, modules):
    """Go's output on modules, and those that the checksum database lacks."""
    found = _ask(program, env, modules)
    unknown = [f'{one["Path"]}@{one["Version"]}' for one in found
               if '/sumdb/' in one.get('Error', '')]
    if unknown:
        outside = ','.join(one.partition('@')[0] for one in unknown)
        again = {one['Path']: one for one in _ask(
            program, go.without_sumdb(env, outside), unknown)}
        found = [again.get(one['Path'], one) for one in found]
    return found, unknown


def _ask(program, env, modules):
    try:
        text = processes.run(
            [program, 'mod', 'download', '-json', *modules],
            timeout=_DOWNLOAD, cwd='/', env=env, hint=go.NETWORK)
    except errors.CommandFailed as e:
        # It fails, but reports what is wrong with each module.
        if not e.output.startswith('{'):
            raise
        text = e.output
    return documents(text)


def documents(text: str) -> list[dict]:
    """The concatenated JSON documents of a text."""
    decoder, found, place = json.JSONDecoder(), [], text.find('{')
    while place >= 0:
        one, place = decoder.raw_decode(text, place)
        found.append(one)
        place = text.find('{', place)
    return found


def _not_served(program, env, version, why):
    minor = version.rpartition('.')[0]
    try:
        listed = go.versions(program, MODULE, env)
    except (errors.CommandFailed, ValueError):
        listed = []
    known = [one for one in listed
             if one.startswith(f'v{minor}.') and '-' not in one]
    return errors.UsageError(
        f'The Go module proxy does not serve Kubernetes {version}',
        last_seen=' '.join(why.split())[:300],
        hint=(f'It lists {", ".join(known)}, and may serve other versions'
              if known else go.NETWORK))
