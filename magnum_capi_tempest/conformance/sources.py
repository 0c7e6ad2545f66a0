# SPDX-License-Identifier: Apache-2.0
"""Finds the records that a user names, reads them once, and judges them.

A record is an archive, a folder with one, or a folder with Hydrophone's files.
An archive does not say which Magnum driver created the cluster. That is known,
the best source first, from the user, from the ``run.json`` beside the record,
and from the ``report.json`` beside it, which was written while the cluster
still existed.
"""

import collections.abc
import dataclasses
import json
import os
import pathlib
import types
import typing

from magnum_capi import errors
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import compare
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict as verdicts

#: What a user may add about a cluster, as fields of model.Cluster.
KNOWN = ('name', 'driver', 'cni', 'image', 'kubernetes')

FORM = ('RECORD[,driver=NAME][,cni=NAME][,image=NAME][,name=NAME]'
        '[,kubernetes=VERSION]')
HELP = ('An archive, or a folder with an archive or with junit_01.xml and '
        f'e2e.log; {FORM} adds what the record does not say about its '
        'cluster.')
TREES = 'A folder with records anywhere below it counts as all of them.'

_REPORT, _ARCHIVE = 'report.json', '.tar.gz'
#: Most records that are read at once, most bytes of a report, and most
#: characters of a name in it.
_MOST, _BYTES, _NAME = 1000, 32 << 20, 200


@dataclasses.dataclass(frozen=True)
class Notes:
    """What is known about a run beside its record.

    :param cluster: its fields are empty if unknown.
    :param stand_in: the images of the run were stand-ins.
    :param warnings: problems of the cluster that were seen during the run.
    :param run: :class:`~.run.runs.Run`, None if it has no ``run.json``.
    """

    cluster: model.Cluster = model.Cluster()
    stand_in: bool = False
    warnings: tuple[str, ...] = ()
    run: runs.Run | None = None


def of_run(run: runs.Run) -> verdicts.Verdict:
    """The judged results of a run, as they are in its folder.

    :raises Damage: they are gone, or broken.
    """
    return _judged(archive.read(run.source, title=run.folder.name,
                                sha256=run.sha256), _of(run))


def of_nothing(run: runs.Run, reason: str) -> verdicts.Verdict:
    """A run of which nothing is known: the harness failed."""
    return _judged(model.Result(
        run.folder.name, '', run.backend, infra_errors=(
            model.InfraError(model.E2E, reason),)), _of(run))


def load(given: str | pathlib.Path, *, title: str | None = None,
         copy_to: pathlib.Path | None = None) -> verdicts.Verdict:
    """Read a record and judge it.

    :param given: see :data:`FORM`.
    :param title: its own name by default.
    :param copy_to: see :func:`.archive.read`.
    :raises UsageError: there is no such record, or its results have not been
        fetched.
    :raises Damage: it is broken, or not safe to read.
    """
    return loaded(given, title=title, copy_to=copy_to)[0]


def loaded(given: str | pathlib.Path, *, title: str | None = None,
           copy_to: pathlib.Path | None = None
           ) -> tuple[verdicts.Verdict, Notes]:
    """Like :func:`load`, together with what is known beside the record."""
    with archive.reading(given):
        name, attributes = _parse(given)
        path = pathlib.Path(name)
        if _unfetched(path):
            raise errors.UsageError(
                'The results of the run have not been fetched', where=path,
                hint=f'magnum-capi conformance attach {path}')
    result = archive.read(path, title=title, copy_to=copy_to)
    notes = _notes(path, result)
    return _judged(result, notes, attributes), notes


def folder_of(given: str | pathlib.Path) -> pathlib.Path:
    """The folder of a record, or the record itself if it is one.

    :param given: see :data:`FORM`.
    """
    path = pathlib.Path(_parse(given)[0])
    return path if path.is_dir() else path.parent


def load_all(given: collections.abc.Iterable[str | pathlib.Path]) -> tuple[
        list[verdicts.Verdict], list[compare.Unreadable]]:
    """Read several records; titles of records with the same name differ.

    :param given: for a folder that is no record, all records below it.
    :raises Damage: one that is named cannot be read, or of those below a
        folder fewer than two can.
    """
    found: list[verdicts.Verdict] = []
    faults: list[tuple[str, damage.Damage]] = []
    for one, title in [pair for one in given for pair in _each(one)]:
        try:
            found.append(load(one, title=title))
        except damage.Damage as e:
            if title is None:
                raise
            faults.append((title, e))
    if faults and len(found) < 2:
        raise faults[0][1]
    titles = [one.result.title for one in found]
    return [
        one if titles.count(one.result.title) == 1
        else dataclasses.replace(one, result=dataclasses.replace(
            one.result, title=f'{number}: {one.result.title}'))
        for number, one in enumerate(found, 1)], [
        compare.Unreadable(title, str(e)) for title, e in faults]


def _parse(given: str | pathlib.Path) -> tuple[str, dict[str, str]]:
    """Path of a record, and what was added about its cluster.

    :raises UsageError: an attribute is unknown, or it is a URL.
    """
    if archive.local(given).exists():
        return str(given), {}
    record, *statements = str(given).split(',')
    about = {}
    for statement in statements:
        key, found, value = statement.partition('=')
        if not found or key not in KNOWN:
            raise errors.UsageError(
                f'{statement!r} is not a known attribute of a cluster',
                where=given, hint=f'Use {FORM}')
        about[key] = value
    return record, about


def _unfetched(path: pathlib.Path) -> bool:
    """Whether it is the folder of a run, without its results."""
    return ((path / runs.FILE).exists() and _is_tree(path)
            and not any(path.glob(f'*{_ARCHIVE}')))


def _notes(path: pathlib.Path, result: model.Result) -> Notes:
    notes = _report_beside(path, result.sha256)
    run = runs.beside(path, result.sha256)
    return _of(run, notes) if run else notes


def _of(run: runs.Run, notes: Notes = Notes()) -> Notes:
    """What a run knows, and what else is known beside its record."""
    return Notes(_filled(run.about, notes.cluster),
                 notes.stand_in or run.plan.stand_in, run.warnings, run)


def _judged(result: model.Result, notes: Notes,
            attributes: collections.abc.Mapping[str, str] = (
                types.MappingProxyType({}))) -> verdicts.Verdict:
    """A result, completed by what is known beside its record, and judged.

    :param attributes: of the cluster, from the user.
    """
    cluster = _filled(notes.cluster, result.cluster)
    # A record is the best source for its version.
    known: dict[str, typing.Any] = {
        field: value for field, value in attributes.items()
        if field != 'kubernetes' or not result.cluster.kubernetes}
    return verdicts.judge(dataclasses.replace(
        result, cluster=dataclasses.replace(cluster, **known),
        # Of a run that was started elsewhere, the plan is not known.
        mode=(notes.run.plan.mode if notes.run and not notes.run.elsewhere
              and result.mode == model.UNKNOWN else result.mode),
        stand_in_images=result.stand_in_images or notes.stand_in,
        cluster_warnings=notes.warnings))


def _filled(first: model.Cluster, second: model.Cluster) -> model.Cluster:
    """The cluster, from two sources; the first one is the better.

    The record itself is the best source for the version and the nodes.
    """
    found = {key: value for key, value in dataclasses.asdict(first).items()
             if value and (key not in ('kubernetes', 'nodes')
                           or not getattr(second, key))}
    return dataclasses.replace(second, **found)


def _report_beside(path: pathlib.Path, sha256: str) -> Notes:
    """What the report beside a record says.

    An unreadable report is ignored: it only adds to a record. So is that of
    another archive in the same folder.
    """
    file = (path if path.is_dir() else path.parent) / _REPORT
    try:
        if not file.is_file() or file.stat().st_size > _BYTES:
            return Notes()
        report = json.loads(file.read_bytes())
        if sha256 and report['facts']['SHA-256'] != sha256:
            return Notes()
        judged = report['conformance']
        known: dict[str, typing.Any] = {
            field: value[:_NAME] for field in KNOWN if isinstance(
                value := judged['cluster'].get(field), str)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError,
            RecursionError):
        return Notes()
    return Notes(model.Cluster(**known), judged.get('stand_in_images') is True)


def _each(given: str | pathlib.Path
          ) -> list[tuple[str | pathlib.Path, str | None]]:
    """Pairs of a record and its title; None for its own name."""
    with archive.reading(given):
        name, about = _parse(given)
        path = pathlib.Path(name)
        if not _is_tree(path):
            return [(given, None)]
        suffix = ''.join(f',{key}={value}' for key, value in about.items())
        return [(f'{record}{suffix}', title)
                for title, record in _below(path).items()]


def _is_tree(path: pathlib.Path) -> bool:
    """Whether a folder is no record itself, but may contain records."""
    if not path.is_dir() or (path / 'plugins').is_dir():
        return False
    # As for archive.read: a folder with one archive stands for the archive.
    return not ((path / archive.JUNIT).exists()
                or (path / archive.LOG).exists()
                or len(list(path.glob(f'*{_ARCHIVE}'))) == 1)


def _below(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The records below a folder that is no record itself, by title.

    Archives count, and so do folders with a JUnit file and no archive. Links
    are not followed.

    :raises UsageError: there are none, or too many.
    """
    found: list[pathlib.Path] = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        archives = [name for name in names if name.endswith(_ARCHIVE)]
        found += [pathlib.Path(place, name) for name in sorted(archives)]
        if archive.JUNIT in names and not archives:
            found.append(pathlib.Path(place))
        if len(found) > _MOST:
            raise errors.UsageError(f'More than {_MOST} records',
                                    where=folder, hint='Name fewer records')
    if not found:
        raise errors.UsageError('There is no record in or below the folder',
                                where=folder)
    # The folder is the title if it has only one record.
    homes = [path if path.is_dir() else path.parent for path in found]
    return {str(home.relative_to(folder) if homes.count(home) == 1
                else path.relative_to(folder)).removesuffix(_ARCHIVE): path
            for home, path in zip(homes, found)}
