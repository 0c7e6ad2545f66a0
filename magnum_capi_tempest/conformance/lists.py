# SPDX-License-Identifier: Apache-2.0

"""Creates lists of required tests from Kubernetes' published Go modules.

A list is ``test/conformance/testdata/conformance.yaml`` of the module
k8s.io/kubernetes, which CNCF's bot compares with as well. The head of a list
records the hash of each module that was read; a module that is read again must
have the same hash. Go's checksum database does not know all of these modules,
and proxies list only some of the versions that they serve.
"""

import dataclasses
import json
import pathlib

import yaml

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import progress as progress_
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance.results import suite_names
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins

MODULE = 'k8s.io/kubernetes'
SOURCE = 'test/conformance/testdata/conformance.yaml'


@dataclasses.dataclass(frozen=True)
class Found:
    """The tests of one version.

    :param date: of publication, ISO 8601.
    :param h1: hash of the module.
    :param vouched: Go's checksum database, or an earlier reading, confirms
        the hash.
    """

    version: str
    date: str
    h1: str
    names: tuple[str, ...]
    vouched: bool


@dataclasses.dataclass(frozen=True)
class Updated:
    """The result of updating a version.

    :param path: file of its list.
    :param before: version that it is compared with, empty without one.
    :param added: newly required tests; ``dropped`` likewise.
    """

    found: Found
    path: pathlib.Path
    before: str = ''
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def unseen() -> list[str]:
    """Versions that the module proxy lists and whose tests are unknown.

    :raises CommandFailed: the proxy does not answer.
    """
    program = go.find_go()
    listed = go.versions(program, MODULE, go.environment(program))
    return [version for version in listed
            if '-' not in version and (found := required.of(version))
            and found.remark]


def update(version, folder, progress=None) -> Updated:
    """Read a version, and store its list.

    :param version: ``v1.36.5``.
    :param folder: of the lists.
    :raises UsageError: it is not a version.
    :raises EnvironmentProblem: it differs from what was read before.
    :raises CommandFailed: the module cannot be downloaded.
    """
    number = _number(version)
    known = {one.number: one for one in required.looked_at()}
    pinned = known.get(number)
    found = look(version, pinned.h1 if pinned else '', progress)
    if pinned:
        _same(found, pinned)
        return Updated(found, pinned.path, version)
    before = max((n for n in known if n < number), default=None)
    return _kept(found, known.get(before), folder)


def _number(version):
    number = required.number(version)
    if not number or version != f'v1.{number[0]}.{number[1]}':
        raise errors.UsageError(f'{version!r} is not a version of Kubernetes',
                                hint='Use a version such as v1.36.5')
    return number


def _same(found, pinned):
    if found.names != required.read(pinned.path):
        raise errors.EnvironmentProblem(
            f'The list of {found.version} differs from that of its Go module',
            where=pinned.path, hint='Remove the file, then update again')


def _kept(found, before, folder):
    old = required.read(before.path) if before else ()
    added = tuple(sorted(set(found.names) - set(old)))
    dropped = tuple(sorted(set(old) - set(found.names)))
    if before and not added and not dropped and before.path.parent == folder:
        path = before.path
        head = [line for line in path.read_text().splitlines()
                if line.startswith('#')]
    else:
        path = folder / f'required-{found.version}.txt'
        head = [f'# {MODULE} {SOURCE}']
    head.append(f'# {found.version} {found.date} {found.h1}')
    with outfile.whole(path) as stream:
        stream.write('\n'.join([*head, *found.names, '']).encode())
    return Updated(found, path, before.version if before else '', added,
                   dropped)


def look(version, pin='', progress=None) -> Found:
    """The tests of a version, from its module.

    :param pin: hash that the module must have.
    """
    folder, told, vouched = _module(version, pin, progress)
    document = (folder / SOURCE).read_text()
    return Found(version, _date(told), told['Sum'], _names(version, document),
                 vouched)


def _module(version, pin, progress):
    """The module's folder, Go's data on it, and whether it is vouched for."""
    progress = progress or progress_.Progress()
    program = go.find_go(progress)
    env = go.environment(program)
    wanted, vouched = f'{MODULE}@{version}', True
    with progress.step(f'Go module {MODULE} {version}'):
        try:
            told = go.download(
                program, wanted,
                go.without_sumdb(env, MODULE) if pin else env)
        except errors.CommandFailed as e:
            if pin or 'sumdb' not in e.output:
                raise
            vouched = False
            told = go.download(
                program, wanted, go.without_sumdb(env, MODULE))
    module = pins.Module(MODULE, version, pin or told['Sum'])
    return go.check_module(module, told), told, vouched


def _date(told):
    return json.loads(pathlib.Path(told['Info']).read_text())['Time'][:10]


def _names(version, document):
    names = [suite_names.spec(entry['codename'])
             for entry in yaml.safe_load(document)]
    if len(set(names)) != len(names):
        raise errors.EnvironmentProblem('A test is in the list twice',
                                        where=version)
    return tuple(sorted(names))
