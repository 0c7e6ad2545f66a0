# SPDX-License-Identifier: Apache-2.0

"""Copies of a run's results that can be published.

A Sonobuoy archive contains data of the whole cluster. By default only the log
and the JUnit file of the tests and a report are published, without secrets;
``redacted.json`` counts what was redacted by file and kind. This is not for
CNCF, whose files must not be changed (:mod:`submission`).
"""

import collections
import collections.abc
import dataclasses
import functools
import json
import pathlib
import shutil
import types

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.conformance.reports import files as forms
from magnum_capi_tempest.conformance.reports import folders
from magnum_capi_tempest.conformance.reports import page
from magnum_capi_tempest.conformance.reports import sources
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance.results import members
from magnum_capi_tempest.conformance.results import reading
from magnum_capi_tempest.conformance.submission import redactedxml
from magnum_capi_tempest.conformance import verdict as verdicts
from magnum_capi_tempest import redact

COUNTS = 'redacted.json'
JSON, HTML = 'report.json', 'report.html'
#: The content of archives (vmware-tanzu/sonobuoy, pkg/discovery; issue 1539).
FULL_WARNING = (
    'The archive is not redacted. It holds what the cluster holds: '
    'ConfigMaps, custom resources, environment and arguments of pods, '
    'events, logs of kube-system, configuration and addresses of the nodes; '
    'Secrets too, if the run asked for them. Its file is for you only (mode '
    '0600): look through it before you pass it on')
#: Longest line, in bytes, that is not split.
_LONGEST = 1 << 20


@dataclasses.dataclass(frozen=True)
class Published:
    """The files that were written.

    :param files: paths, in the order of writing.
    :param counts: name of a file -> number of secrets by kind.
    """

    files: tuple[pathlib.Path, ...]
    counts: dict[str, dict[str, int]]

    @property
    def total(self) -> int:
        return sum(sum(c.values()) for c in self.counts.values())


def publish(source, folder, *, full=False) -> Published:
    """Write the copies.

    :param source: Sonobuoy archive, or folder of Hydrophone's files.
    :param folder: created if missing; files of the same names are replaced.
    :param full: also copy the archive, unchanged; see FULL_WARNING.
    :raises Damage: the record cannot be read.
    :raises UsageError: there is no archive to publish in full.
    :raises EnvironmentProblem: a file cannot be written.
    """
    source, folder = pathlib.Path(source), pathlib.Path(folder)
    if full and source.is_dir():
        raise errors.UsageError('The record is a folder, not an archive',
                                where=source, hint='Omit --full')
    result, counts = clean(_read(source))
    found = {'report': dict(counts)}
    files = []
    for name, pieces in members.each(source):
        with outfile.whole(folder / name) as stream:
            copy = (redactedxml.copy if name == members.JUNIT else _copy_log)
            found[name] = dict(copy(pieces, stream, f'{source}: {name}'))
        files.append(folder / name)
    for name, text in _reports(result).items():
        files.append(_write(folder / name, text))
    files.append(_write(folder / COUNTS, _document(found, full)))
    if full:
        target = folder / source.name
        if target.exists() and target.samefile(source):
            raise errors.UsageError('The archive is already in that folder',
                                    where=folder)
        with open(source, 'rb') as archive, outfile.whole(
                target, outfile.PRIVATE) as stream:
            shutil.copyfileobj(archive, stream)
        files.append(target)
    return Published(tuple(files), found)


def _read(source):
    """The result, completed from the report beside its record."""
    result = reading.find(source, kubernetes=sources.version_of(source))
    told = folders.read_report_notes(source, result.sha256)
    return dataclasses.replace(
        result, stand_in_images=result.stand_in_images or told.stand_in,
        cluster=dataclasses.replace(told.cluster, **{
            field: value for field, value
            in dataclasses.asdict(result.cluster).items() if value}))


def clean(value):
    """A result, or a part of it, without secrets.

    :returns: the same with every text redacted, and a Counter of kinds.
    """
    counts = collections.Counter()

    @functools.cache
    def text(line):
        found = redact.examine(line)
        counts.update(found.counts)
        return found.text

    def walk(part):
        if isinstance(part, str):
            return text(part) if part else part
        if isinstance(part, tuple):
            return tuple(map(walk, part))
        if isinstance(part, collections.abc.Mapping):
            return types.MappingProxyType(
                {key: walk(item) for key, item in part.items()})
        if dataclasses.is_dataclass(part):
            return dataclasses.replace(part, **{
                field.name: walk(getattr(part, field.name))
                for field in dataclasses.fields(part) if field.init})
        return part

    return walk(value), counts


def _copy_log(pieces, stream, where):
    """Copy a text; bytes that are not UTF-8 stay unchanged."""
    counts = collections.Counter()
    for block in redact.blocks(_lines(pieces)):
        found = redact.examine(block)
        counts.update(found.counts)
        stream.write(found.text.encode('utf-8', 'surrogateescape'))
    return counts


def _lines(pieces):
    rest = b''
    for piece in pieces:
        *lines, rest = (rest + bytes(piece)).split(b'\n')
        for line in lines:
            yield (line + b'\n').decode('utf-8', 'surrogateescape')
        if len(rest) > _LONGEST:
            yield rest.decode('utf-8', 'surrogateescape')
            rest = b''
    if rest:
        yield rest.decode('utf-8', 'surrogateescape')


def _reports(result):
    verdict = verdicts.judge(
        result, required.of(result.cluster.kubernetes))
    return {JSON: forms.to_json(result, verdict),
            HTML: page.render(result, verdict)}


def _document(found, full):
    total = collections.Counter()
    for counts in found.values():
        total.update(counts)
    return json.dumps({'files': found, 'total': dict(total),
                       'archive': 'not redacted' if full else 'left out'},
                      indent=1, sort_keys=True) + '\n'


def _write(path, text):
    with outfile.whole(path) as stream:
        stream.write(text.encode())
    return path
