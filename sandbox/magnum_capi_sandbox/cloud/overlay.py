# SPDX-License-Identifier: Apache-2.0
"""The Python environment of Magnum's programs, and of nothing else.

The cloud's environment in the cache is shared by all sandboxes and never
changed. Magnum runs from the sandbox's own environment, which adds the
packages installed for this sandbox, and the library: for the discovery filter,
and for ``magnum-capi`` as on a Magnum host.

The order of sys.path: the library, companions of drivers that replace another
version in the cloud, the cloud's packages, the sandbox's ``drivers``. Magnum
enumerates entry points in this order, and up to 22 takes the last one of two
drivers that provide the same: that of the sandbox. It replaces no module of
the cloud, except those that a description names (:mod:`..prerequisites`).
"""

import importlib.metadata
import pathlib
import shlex
import shutil
import tomllib

import magnum_capi
from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_tempest import resources

_DISTRIBUTION = 'magnum-capi'

#: Subfolder of the drivers' folder: what comes before the cloud's packages.
#: Its name cannot be imported.
COMPANIONS = '.companions'

# Valid for both sh and Python, as pip does it where "#!" cannot name the
# interpreter because of blanks. Isolated (-I): neither PYTHONPATH nor the
# user's own packages add anything that Magnum does not have.
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

    :raises EnvironmentProblem: the folder is not an environment.
    """
    found = list(environment.glob('lib/python3*/site-packages'))
    if len(found) != 1:
        raise errors.EnvironmentProblem(
            'The folder is not a Python environment', where=environment,
            hint='Remove the folder; it will be created again')
    return found[0]


def empty(folder: pathlib.Path, cloud: pathlib.Path) -> pathlib.Path:
    """Make an environment of the cloud's Python without any package.

    :param folder: where; existing parts of an environment are kept.
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


def make(layout: layouts.Layout, cloud: pathlib.Path) -> None:
    """Make the environment of a sandbox, or bring it up to date.

    :param cloud: environment of the cloud.
    """
    mine = empty(layout.magnum_env, cloud)
    folders = [library(cloud), layout.drivers]
    if (layout.drivers / COMPANIONS).is_dir():
        folders.insert(0, layout.drivers / COMPANIONS)
    # Python runs such a line; it also reads the .pth files of the folders.
    outfile.write_private(
        mine / 'sandbox.pth', 'import site; ' + '; '.join(
            f'site.addsitedir({str(path)!r})' for path in folders) + '\n')
    add_library(mine)
    command = layout.magnum_env / 'bin' / 'magnum-capi'
    outfile.write_private(command, _COMMAND.format(
        python=shlex.quote(str(layout.magnum_env / 'bin' / 'python'))))
    command.chmod(0o700)


def add_infrastructure(layout: layouts.Layout, cloud: pathlib.Path) -> None:
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


def add_library(where: pathlib.Path) -> None:
    """Add the package and its metadata, without its neighbours.

    :param where: a folder of ``sys.path``.
    """
    package = pathlib.Path(magnum_capi.__file__).parent
    _link(where / package.name, package)
    found = importlib.metadata.distribution(_DISTRIBUTION)
    # Of the version before an upgrade.
    for old in where.glob(f'{package.name}-*.dist-info'):
        shutil.rmtree(old)
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


def _link(path: pathlib.Path, target: pathlib.Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)
