# SPDX-License-Identifier: Apache-2.0

"""Which records are below a folder, and what lies beside them?

CI jobs and the sandbox leave a tree of results. Beside each record is the
report that was made of it when its cluster was still there: it knows the
driver, and of loose files the version of Kubernetes.
"""

import dataclasses
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi_tempest.conformance import model

REPORT = 'report.json'
_JUNIT, _ARCHIVE = 'junit_01.xml', '.tar.gz'
#: Records that are read at once, and bytes of a report.
_MOST, _BYTES = 1000, 32 * 2**20
#: Characters of a name that a report tells.
_NAME = 200
_FIELDS = ('kubernetes', 'name', 'driver', 'cni', 'image')


@dataclasses.dataclass(frozen=True)
class Told:
    """What the report beside a record says.

    :param cluster: empty where it says nothing.
    :param stand_in: the images of the run were stand-ins.
    """

    cluster: model.Cluster = model.Cluster()
    stand_in: bool = False


def records(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The records below a folder that is none itself, by a title for each.

    An archive counts, and so does a folder with a JUnit file and no archive.
    Links are not followed.

    :raises UsageError: there is none, or there are very many.
    """
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        archives = [name for name in names if name.endswith(_ARCHIVE)]
        found += [pathlib.Path(place, name) for name in sorted(archives)]
        if _JUNIT in names and not archives:
            found.append(pathlib.Path(place))
        if len(found) > _MOST:
            raise errors.UsageError(f'More than {_MOST} records',
                                    where=folder, hint='Name fewer records')
    if not found:
        raise errors.UsageError('There is no record in or below the folder',
                                where=folder)
    return _titles(folder, found)


def is_tree(path: pathlib.Path) -> bool:
    """Whether records may be below a folder, which is none itself."""
    if not path.is_dir() or (path / 'plugins').is_dir():
        return False
    # As in reading.find: of one archive the folder is another name.
    return not ((path / _JUNIT).exists() or (path / 'e2e.log').exists()
                or len(list(path.glob(f'*{_ARCHIVE}'))) == 1)


def told(record: pathlib.Path) -> Told:
    """What the report beside a record says of its cluster.

    A report that cannot be read says nothing: it only adds to a record.
    """
    path = (record if record.is_dir() else record.parent) / REPORT
    try:
        if path.stat().st_size > _BYTES:
            return Told()
        said = json.loads(path.read_bytes())['conformance']
        known = {field: said['cluster'].get(field) for field in _FIELDS}
    except (OSError, ValueError, LookupError, TypeError, AttributeError,
            RecursionError):
        return Told()
    return Told(
        model.Cluster(**{field: value[:_NAME] for field, value
                         in known.items() if isinstance(value, str)}),
        said.get('stand_in_images') is True)


def _titles(folder, found):
    """A folder is title enough where it has one record."""
    homes = [path if path.is_dir() else path.parent for path in found]
    return {str(home.relative_to(folder) if homes.count(home) == 1
                else path.relative_to(folder)).removesuffix(_ARCHIVE): path
            for home, path in zip(homes, found)}
