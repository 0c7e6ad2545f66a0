# SPDX-License-Identifier: Apache-2.0
"""Finds the record that a user names, and what the user adds about it.

A record is an archive, a folder with one, or a folder with Hydrophone's files.
An archive does not say which Magnum driver created the cluster. The run.json
beside it does; without one, the user can.
"""

import dataclasses
import pathlib

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import comparison
from magnum_capi_tempest.conformance.reports import folders
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance.results import damage
from magnum_capi_tempest.conformance.results import reading
from magnum_capi_tempest.conformance.run import outcome
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


def parse(given) -> tuple[str, dict[str, str]]:
    """Parse a record as named on the command line.

    :returns: path or name, and what was added about the cluster.
    :raises UsageError: an attribute is unknown, or it is a URL.
    """
    if reading.local(given).exists():
        return given, {}
    record, *said = given.split(',')
    about = {}
    for statement in said:
        key, found, value = statement.partition('=')
        if not found or key not in KNOWN:
            raise errors.UsageError(
                f'{statement!r} is not a known attribute of a cluster',
                where=given,
                hint=f'Use {FORM}')
        about[key] = value
    return record, about


def load(given, *, title=None) -> comparison.Judged:
    """Read a record and judge it.

    :param given: see :data:`FORM`.
    :param title: its own name by default.
    :raises UsageError: there is no such record.
    :raises Damage: it is broken, or not safe to read.
    """
    name, about = parse(given)
    path = _existing(name)
    version = about.pop('kubernetes', '')
    # An archive is the best source for its version.
    result = reading.find(path, kubernetes=version or version_of(path))
    told = folders.read_report_notes(path, result.sha256)
    run = runs.beside(path, result.sha256)
    if told.stand_in:
        result = dataclasses.replace(result, stand_in_images=True)
    if run is not None:
        result = outcome.with_run_metadata(run, result)
    about = _known(told.cluster) | _known(run and run.about) | about
    result = dataclasses.replace(
        result, title=title or result.title,
        cluster=dataclasses.replace(result.cluster, **about))
    return comparison.Judged(result, verdicts.judge(
        result, required.of(result.cluster.kubernetes)))


def load_all(given) -> tuple[
        list[comparison.Judged], list[comparison.Unreadable]]:
    """Read several records; titles of records with the same name differ.

    :param given: for a folder that is no record, all records below it.
    :raises Damage: one that is named cannot be read, or of those below a
        folder fewer than two can.
    """
    found, faults = [], []
    for one, title in _each(given):
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
        comparison.Unreadable(title, str(e)) for title, e in faults]


def run_of(given, result) -> runs.Run | None:
    """The run that a record belongs to, if its run.json is beside it.

    :param result: that was read from the record.
    """
    name, _ = parse(given)
    return runs.beside(pathlib.Path(name), result.sha256)


def version_of(path) -> str:
    """Version of Kubernetes of Hydrophone's files, which do not have it.

    Empty unless the report beside them, or their run, knows it.

    :param path: of the record.
    """
    path = pathlib.Path(path)
    run = runs.beside(path)
    return (folders.read_report_notes(path).cluster.kubernetes
            or (run.about.kubernetes if run else ''))


def _each(given):
    """Pairs of a record and its title; None for its own name."""
    for one in given:
        name, about = parse(one)
        path = pathlib.Path(name)
        if not folders.is_tree(path):
            yield one, None
            continue
        said = ''.join(f',{key}={value}' for key, value in about.items())
        for title, record in folders.records(path).items():
            yield f'{record}{said}', title


def _existing(name):
    path = pathlib.Path(name)
    if not path.exists():
        raise errors.UsageError('There is no such archive or folder',
                                where=name)
    return path


def _known(cluster):
    about = dataclasses.asdict(cluster or model.Cluster())
    return {key: about[key] for key in KNOWN
            if about[key] and key != 'kubernetes'}
