# SPDX-License-Identifier: Apache-2.0
"""The Python environment of Magnum's programs, and of nothing else.

The cloud's environment in the cache is shared by all sandboxes and never
changed. Magnum runs from one of the sandbox's own, which adds to it what was
installed for this sandbox, and the library: for the discovery filter, and for
``magnum-capi`` as on a Magnum host.

sys.path is: the library, companions of drivers that replace what the cloud has
in another version, the cloud's packages, the sandbox's ``drivers``. Magnum
enumerates entry points in this order, and of two drivers that provide
the same it takes the last one: so the drivers of the sandbox win over
magnum-capi-helm, while no module of the cloud is replaced by them, but those
that a description names (:mod:`..descriptions`).
"""

import importlib.metadata
import pathlib
import shlex
import tomllib

import magnum_capi
from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest import resources
from magnum_capi_tempest.sandbox import infrastructure

_DISTRIBUTION = 'magnum-capi'

#: Folder in that of the drivers: what comes before the cloud's packages. Its
#: name is none that can be imported.
COMPANIONS = '.companions'

# For sh and for Python, as pip does where "#!" cannot name the interpreter:
# it takes no blanks. Isolated (-I): neither PYTHONPATH nor the user's own
# packages lend it what Magnum does not have.
_COMMAND = """\
#!/bin/sh
'''exec' {python} -I "$0" "$@"
' '''
from magnum_capi.cli import main
import sys
sys.exit(main.main())
"""


def library(environment: pathlib.Path) -> pathlib.Path:
    """The folder ``site-packages`` of an environment.

    :raises EnvironmentProblem: it is no environment.
    """
    found = list(environment.glob('lib/python3*/site-packages'))
    if len(found) != 1:
        raise errors.EnvironmentProblem(
            'The folder is not a Python environment', where=environment,
            hint='Remove the folder; it will be created again')
    return found[0]


def empty(folder: pathlib.Path, cloud: pathlib.Path) -> pathlib.Path:
    """Make an environment of the cloud's Python without any package.

    :param folder: where; what is there of one is kept.
    :param cloud: environment of the cloud.
    :returns: its ``site-packages``.
    """
    mine = folder / library(cloud).relative_to(cloud)
    for path in (folder / 'bin', mine):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    outfile.write_private(
        folder / 'pyvenv.cfg', (cloud / 'pyvenv.cfg').read_text())
    _link(folder / 'bin' / 'python', cloud / 'bin' / 'python')
    return mine


def make(layout, cloud: pathlib.Path):
    """Make the environment of a sandbox, or bring it up to date.

    :param cloud: environment of the cloud.
    """
    mine = empty(layout.magnum_env, cloud)
    folders = [library(cloud), layout.drivers]
    if (layout.drivers / COMPANIONS).is_dir():
        folders.insert(0, layout.drivers / COMPANIONS)
    # Such a line is run, and the .pth files of these folders are heeded.
    outfile.write_private(
        mine / 'sandbox.pth', 'import site; ' + '; '.join(
            f'site.addsitedir({str(path)!r})' for path in folders) + '\n')
    add_library(mine)
    command = layout.magnum_env / 'bin' / 'magnum-capi'
    outfile.write_private(command, _COMMAND.format(
        python=shlex.quote(str(layout.magnum_env / 'bin' / 'python'))))
    command.chmod(0o700)


def add_infrastructure(layout, cloud: pathlib.Path):
    """Make the environment with our drivers for Nova, Neutron and Octavia.

    :param cloud: environment of the cloud.
    """
    source = resources.find(infrastructure.DRIVERS)
    mine = empty(layout.cloud_env, cloud)
    outfile.write_private(
        mine / 'sandbox.pth', 'import site; '
        f'site.addsitedir({str(library(cloud))!r})\n')
    _link(layout.cloud_env / 'etc', cloud / 'etc')
    project = tomllib.loads(
        (source / 'pyproject.toml').read_text())['project']
    package = project['name'].replace('-', '_')
    _link(mine / package, source / package)
    info = f'{package}-{project["version"]}.dist-info'
    outfile.write_private(mine / info / 'METADATA', (
        f'Metadata-Version: 2.1\nName: {project["name"]}\n'
        f'Version: {project["version"]}\n'))
    outfile.write_private(mine / info / 'entry_points.txt', ''.join(
        f'[{group}]\n' + ''.join(
            f'{name} = {target}\n' for name, target in entries.items())
        for group, entries in project['entry-points'].items()))


def add_library(where: pathlib.Path):
    """Add the package and its metadata, and nothing that lies beside it.

    :param where: a folder of ``sys.path``.
    """
    package = pathlib.Path(magnum_capi.__file__).parent
    _link(where / package.name, package)
    found = importlib.metadata.distribution(_DISTRIBUTION)
    for name, text in (
            ('METADATA', metadata()),
            ('entry_points.txt', found.read_text('entry_points.txt'))):
        outfile.write_private(where / folder() / name, text or '')


def folder() -> str:
    """Name of the folder with the library's metadata."""
    version = importlib.metadata.version(_DISTRIBUTION)
    return f'{magnum_capi.__name__}-{version}.dist-info'


def metadata() -> str:
    """The library's metadata."""
    found = importlib.metadata.distribution(_DISTRIBUTION)
    # A checkout has PKG-INFO instead.
    return found.read_text('METADATA') or found.read_text('PKG-INFO') or ''


def _link(path, target):
    path.unlink(missing_ok=True)
    path.symlink_to(target)
