# SPDX-License-Identifier: Apache-2.0

"""Copies of a run's results that can be published.

A Sonobuoy archive contains data of the whole cluster: ConfigMaps, environment
of pods, logs of kube-system (vmware-tanzu/sonobuoy, pkg/discovery; issue
1539). Only the log and the JUnit file of the tests and a report are published,
without secrets; ``redacted.json`` counts what was redacted by file and kind.
This is not for CNCF, whose files must not be changed (:mod:`.build`).
"""

import collections
import collections.abc
import dataclasses
import functools
import json
import pathlib
import tempfile
import types
import typing

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance.submission import redactedxml
from magnum_capi_tempest.conformance import verdict as verdicts
from magnum_capi_tempest import redact
from magnum_capi_tempest import report as reports

if typing.TYPE_CHECKING:
    import _typeshed

_Dataclass = typing.TypeVar('_Dataclass', bound='_typeshed.DataclassInstance')

COUNTS = 'redacted.json'
JSON, HTML = 'report.json', report.PAGE
#: Longest line, in bytes, that is not split.
_LONGEST = 1 << 20


@dataclasses.dataclass(frozen=True)
class Published:
    """What was written.

    :param files: paths, in the order of writing.
    :param counts: name of a file -> number of secrets by kind.
    :param judged: the run, :class:`~..verdict.Verdict`.
    """

    files: tuple[pathlib.Path, ...]
    counts: dict[str, dict[str, int]]
    judged: verdicts.Verdict

    @property
    def total(self) -> int:
        return sum(sum(c.values()) for c in self.counts.values())


def publish(record: str | pathlib.Path, folder: str | pathlib.Path, *,
            title: str | None = None,
            reruns: collections.abc.Iterable[model.Result] = ()
            ) -> Published:
    """Write the copies.

    :param record: see :data:`..sources.FORM`.
    :param folder: made if missing; files of the same names are replaced. A
        log or a JUnit file that the record does not have is left out.
    :param title: see :func:`..sources.load`.
    :param reruns: results of rerunning its failures.
    :raises UsageError: it is the folder of the record, or of a run.
    :raises Damage: the record cannot be read.
    :raises EnvironmentProblem: a file cannot be written.
    """
    folder = pathlib.Path(folder).absolute()
    if (folder / runs.FILE).exists() or (
            folder.resolve() == sources.folder_of(record).resolve()):
        raise errors.UsageError(
            'The copies would replace a record, or be taken for it',
            where=folder, hint='Name another folder')
    found: dict[str, dict[str, int]] = {}
    files = []
    with tempfile.TemporaryDirectory() as scratch:
        copies = pathlib.Path(scratch)
        judged = sources.load(record, title=title, copy_to=copies)
        result, found['report'] = _without_secrets(judged.result)
        for name, copy in ((archive.LOG, _copy_log),
                           (archive.JUNIT, redactedxml.copy)):
            if not (copies / name).exists():
                # The tests write it at their end. That of another record
                # must not stay beside the report.
                _remove(folder / name)
                continue
            with open(copies / name, 'rb') as source, outfile.whole(
                    folder / name) as stream:
                found[name] = dict(copy(source, stream))
            files.append(folder / name)
    shown = report.view(verdicts.judge(result),
                        [_without_secrets(one)[0] for one in reruns])
    written = reports.write_files(folder, {
        JSON: report.to_json(shown), HTML: report.to_html(shown),
        COUNTS: _document(found)})
    return Published((*files, *written.values()), found, judged)


def _remove(file: pathlib.Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot remove the file: {e.strerror}', where=file,
            hint='Name another folder') from e


def _without_secrets(result: model.Result
                     ) -> tuple[model.Result, dict[str, int]]:
    """The result with redacted texts, and the number of secrets by kind."""
    counts: collections.Counter[str] = collections.Counter()

    @functools.cache
    def text(line: str) -> str:
        found = redact.examine(line)
        counts.update(found.counts)
        return found.text

    def walk(part: object) -> object:
        if isinstance(part, str):
            return text(part) if part else part
        if isinstance(part, tuple):
            return tuple(map(walk, part))
        if isinstance(part, collections.abc.Mapping):
            return types.MappingProxyType(
                {key: walk(item) for key, item in part.items()})
        if dataclasses.is_dataclass(part) and not isinstance(part, type):
            return fields(part)
        return part

    def fields(part: _Dataclass) -> _Dataclass:
        return dataclasses.replace(part, **{
            field.name: walk(getattr(part, field.name))
            for field in dataclasses.fields(part)})

    return fields(result), dict(counts)


def _copy_log(source: typing.BinaryIO, stream: typing.BinaryIO
              ) -> collections.Counter[str]:
    """Copy a text; bytes that are not UTF-8 stay unchanged."""
    counts: collections.Counter[str] = collections.Counter()
    lines = iter(lambda: source.readline(_LONGEST).decode(
        'utf-8', 'surrogateescape'), '')
    for block in redact.blocks(lines):
        found = redact.examine(block)
        counts.update(found.counts)
        stream.write(found.text.encode('utf-8', 'surrogateescape'))
    return counts


def _document(found: collections.abc.Mapping[str, dict[str, int]]) -> str:
    total: collections.Counter[str] = collections.Counter()
    for counts in found.values():
        total.update(counts)
    return json.dumps({'files': found, 'total': dict(total)},
                      indent=1, sort_keys=True) + '\n'
