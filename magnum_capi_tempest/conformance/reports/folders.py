# SPDX-License-Identifier: Apache-2.0

"""Finds the records below a folder, and the reports beside them.

CI jobs and the sandbox leave a tree of results. Beside each record is the
report that was written while its cluster still existed: it contains the
driver, and for loose files also the version of Kubernetes.
"""

import dataclasses
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi_tempest.conformance import model

REPORT = 'report.json'
_JUNIT, _ARCHIVE = 'junit_01.xml', '.tar.gz'
#: Most records that are read at once, and most bytes of a report.
_MOST, _BYTES = 1000, 32 * 2**20
#: Characters of a name in a report that are used.
_NAME = 200
_FIELDS = ('kubernetes', 'name', 'driver', 'cni', 'image')


@dataclasses.dataclass(frozen=True)
class ReportNotes:
    """What the report beside a record says.

    :param cluster: its fields are empty if the report does not say.
    :param stand_in: the images of the run were stand-ins.
    """

    cluster: model.Cluster = model.Cluster()
    stand_in: bool = False


def records(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The records below a folder that is no record itself, by title.

    Archives count, and so do folders with a JUnit file and no archive. Links
    are not followed.

    :raises UsageError: there are none, or too many.
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
    """Whether a folder is no record itself, but may contain records."""
    if not path.is_dir() or (path / 'plugins').is_dir():
        return False
    # As in reading.find: a folder with one archive stands for the archive.
    return not ((path / _JUNIT).exists() or (path / 'e2e.log').exists()
                or len(list(path.glob(f'*{_ARCHIVE}'))) == 1)


def read_report_notes(record: pathlib.Path, sha256: str = '') -> ReportNotes:
    """What the report beside a record says about its cluster.

    An unreadable report is ignored: it only adds to a record. So is that of
    another archive in the same folder.

    :param sha256: of the record, if it is an archive.
    """
    path = (record if record.is_dir() else record.parent) / REPORT
    try:
        if path.stat().st_size > _BYTES:
            return ReportNotes()
        report = json.loads(path.read_bytes())
        if sha256 and report['facts']['SHA-256'] != sha256:
            return ReportNotes()
        said = report['conformance']
        known = {field: said['cluster'].get(field) for field in _FIELDS}
    except (OSError, ValueError, LookupError, TypeError, AttributeError,
            RecursionError):
        return ReportNotes()
    return ReportNotes(
        model.Cluster(**{field: value[:_NAME] for field, value
                         in known.items() if isinstance(value, str)}),
        said.get('stand_in_images') is True)


def _titles(folder, found):
    """The folder is the title if it has only one record."""
    homes = [path if path.is_dir() else path.parent for path in found]
    return {str(home.relative_to(folder) if homes.count(home) == 1
                else path.relative_to(folder)).removesuffix(_ARCHIVE): path
            for home, path in zip(homes, found)}
