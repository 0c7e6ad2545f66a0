# SPDX-License-Identifier: Apache-2.0

"""Reads subunit version 2 streams, as recorded by stestr and ``tempest run``.

The stream is the only record that survives a killed worker, so the reader
expects the worst: it may be truncated, contain a program's output or secrets,
or be something else altogether.
"""

import collections
import collections.abc
import dataclasses
import pathlib
import re
import types
import typing

from subunit import v2
import testtools
from testtools.testresult import real

from magnum_capi import errors
from magnum_capi_tempest import redact
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text
from magnum_capi_tempest.report import timeline
from magnum_capi_tempest import texts

#: Test id that python-subunit uses when it cannot read a packet.
_PARSER = 'subunit.parser'
_STATUS = {
    'success': model.PASSED,
    'fail': model.FAILED,
    'skip': model.SKIPPED,
    'xfail': model.XFAILED,
    'uxsuccess': model.XPASSED,
}
#: Tempest appends the attributes of a test: ``test_x[id-1234,smoke]``.
#: Brackets after a blank belong to the name: ``[sig-apps] Job ...``.
_ATTRIBUTES = re.compile(r'(?<=\w)\[([^\[\]]*)\]')

#: How the failure of a class's setup or cleanup is called.
_FIXTURE = re.compile(r'\w+ \(([\w.]+)\)')

#: Subtypes of texts; x-text is that of evidence which is in files, too.
_TEXTS = ('json', 'xml', 'yaml', 'x-text')


class _Noise(testtools.StreamResult):
    """Counts the bytes in the stream that are not subunit."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    # Senders use keywords only.
    def status(self, test_id: str | None = None,  # type: ignore[override]
               file_bytes: memoryview | bytes | None = None,
               **kwargs: typing.Any) -> None:
        if test_id is None and file_bytes is not None:
            self.size += len(file_bytes)


def read(path: pathlib.Path, *, title: str,
         facts: collections.abc.Mapping[str, object] | None = None
         ) -> model.Run:
    """Read a stream.

    :param path: file.
    :param title: title of the run.
    :param facts: mapping of what was tested.
    :returns: :class:`~.model.Run`. A truncated stream gives a run with
        ``problems``, an empty one a run without tests. Neither is ok.
    :raises UsageError: no such file, or not a subunit version 2 stream.
    """
    records: list[real.TestDict] = []
    noise = _Noise()
    result = testtools.CopyStreamResult(
        [testtools.StreamToDict(records.append), noise])
    result.startTestRun()
    try:
        with open(path, 'rb') as stream:
            v2.ByteStreamToStreamResult(stream, 'noise').run(result)
    except ValueError as e:
        # python-subunit expects no packet that is shorter than its head.
        result.status(
            test_id=_PARSER, test_status='fail', file_name='Parser Error',
            file_bytes=str(e).encode(), mime_type='text/plain', eof=True)
    except OSError as e:
        raise errors.UsageError(
            f'Cannot read the subunit stream: {e.strerror}', where=str(path),
            hint='Use the file that "magnum-capi tempest run" or "stestr last '
                 '--subunit" wrote') from e
    result.stopTestRun()

    damage = [r for r in records if r['id'] == _PARSER]
    those = [r for r in records
             if r['id'] != _PARSER and r['status'] != 'exists']
    if not those and (noise.size or damage):
        raise errors.UsageError(
            'This is not a subunit version 2 stream', where=str(path),
            hint='"stestr last --subunit" writes one')
    begins = [t for r in those if (t := r['timestamps'][0])]
    ends = [t for r in those for t in r['timestamps'] if t]
    all_ = [_test(record) for record in those]
    phases = timeline.phases(
        line for test in all_ for detail in test.details
        if detail.name == texts.PHASES for line in detail.text.splitlines())
    tests = tuple(dataclasses.replace(test, details=tuple(
        detail for detail in test.details if detail.name != texts.PHASES))
        for test in all_)
    facts = _versions(tests) | {
        str(k): str(v) for k, v in (facts or {}).items()}
    return model.Run(
        title=title,
        started=min(begins, default=None),
        seconds=(max(ends) - min(begins)).total_seconds() if begins else 0.0,
        tests=tests,
        phases=tuple(phases),
        facts=types.MappingProxyType(facts),
        problems=tuple(sorted({_damage(r, path) for r in damage})),
        sections=(*_not_checked(tests), *_tolerated(tests), *_known(tests)))


def regex_of_failed(run: model.Run) -> str:
    """See :func:`magnum_capi_tempest.report.regex_of_failed`."""
    wanted = []
    for test in run.failures:
        bare = _ATTRIBUTES.sub('', test.id)
        fixture = _FIXTURE.fullmatch(bare)
        wanted.append(re.escape(fixture[1]) + r'\.' if fixture else
                      re.escape(bare) + r'(\[|$)')
    return f'^({"|".join(dict.fromkeys(wanted))})' if wanted else ''


def _versions(tests: collections.abc.Sequence[model.Test]) -> dict[str, str]:
    """Versions of the cloud that tests have seen: {part: versions}."""
    found: dict[str, dict[str, None]] = collections.defaultdict(dict)
    for test in tests:
        for detail in test.details:
            if detail.name.startswith(texts.VERSIONS):
                for line in detail.text.splitlines():
                    part, _, version = line.partition(': ')
                    if version:
                        found[part][version] = None
    return {part: ', '.join(seen) for part, seen in found.items()}


def _not_checked(tests: collections.abc.Sequence[model.Test]
                 ) -> collections.abc.Iterator[model.Section]:
    """A section with what tests did not check for want of access, if any."""
    counts = collections.Counter(
        line for test in tests for detail in test.details
        if detail.name == texts.NOT_CHECKED
        for line in dict.fromkeys(detail.text.splitlines()) if line.strip())
    if counts:
        yield model.Section('Not checked', tuple(
            f'{line} ({texts.number(count, "test")})'
            for line, count in sorted(counts.items())))


def _lines(tests: collections.abc.Sequence[model.Test], name: str
           ) -> list[tuple[str, str]]:
    """Lines of the details of this name, each with its test."""
    return [(test.name, line) for test in tests
            for detail in test.details if detail.name == name
            for line in detail.text.splitlines() if line.strip()]


def _tolerated(tests: collections.abc.Sequence[model.Test]
               ) -> collections.abc.Iterator[model.Section]:
    """A section with the errors that tests tolerated, if any.

    It matters most beside a failure, which they may explain.
    """
    lines = _lines(tests, texts.TOLERATED)
    if lines:
        # "class, request: cause", and perhaps ": " and more.
        causes = collections.Counter(
            line.partition(': ')[2].partition(': ')[0] for _, line in lines)
        yield model.Section(
            f'Tolerated errors: {len(lines)} (they passed while tests waited, '
            'and failed none): ' + '; '.join(
                f'{cause} ({count})' for cause, count in causes.most_common()),
            tuple(f'{test}: {line}' for test, line in lines),
            folded=not any(test.failing for test in tests))


def _known(tests: collections.abc.Sequence[model.Test]
           ) -> collections.abc.Iterator[model.Section]:
    """A section with wrong answers of Magnum that are known, if any."""
    lines = _lines(tests, texts.KNOWN_ANSWERS)
    if lines:
        yield model.Section(
            f'Invalid input that this Magnum is known not to refuse well: '
            f'{texts.number(len(lines), "request")} (no failure; see "Where '
            'Magnum\'s REST API deviates" in the documentation)',
            tuple(f'{test}: {line}' for test, line in lines), folded=True)


def _test(record: real.TestDict) -> model.Test:
    begin, end = record['timestamps']
    status = _STATUS.get(record['status'], model.UNFINISHED)
    ended = status != model.UNFINISHED
    if status == model.FAILED and not record['details']:
        # stestr records a test without an end like this: it was interrupted,
        # or its worker was killed (testtools/testresult/real.py).
        status = model.UNFINISHED
    name, tags = _name(record['id'])
    # fixtures names the log of all loggers "pythonlogging:''".
    details = [model.Detail(name=text.clean(key).removesuffix(":''"),
                            text=_text(content))
               for key, content in record['details'].items()]
    # The error first, then logs; each group as recorded.
    details.sort(key=lambda d: not d.name.startswith(('traceback', 'reason')))
    return model.Test(
        name=name, id=text.clean(record['id']), status=status,
        seconds=(end - begin).total_seconds()
        if begin and end and ended else None,
        started=begin,
        of_class=bool(_FIXTURE.fullmatch(name)),
        details=tuple(d for d in details if d.text.strip()),
        tags=tuple(sorted({*tags, *map(text.clean, record['tags'])})))


def _name(test_id: str) -> tuple[str, list[str]]:
    """Short name and attributes of a test id."""
    test_id = text.clean(test_id)
    tags = [tag for found in _ATTRIBUTES.findall(test_id)
            for tag in found.split(',')
            if tag and not tag.startswith('id-')]
    bare = _ATTRIBUTES.sub('', test_id)
    # A class fixture is called "setUpClass (package.module.Class)".
    if '(' in bare or ' ' in bare:
        return bare, tags
    return '.'.join(bare.split('.')[-2:]), tags


def _text(content: testtools.content.Content) -> str:
    data = b''.join(bytes(part) for part in content.iter_bytes())
    kind = content.content_type
    if kind.type != 'text' and kind.subtype not in _TEXTS:
        return f'[{len(data)} bytes of {kind.type}/{kind.subtype}]'
    return redact.redact(text.clean(data.decode('utf-8', 'replace')))


def _damage(record: real.TestDict, path: pathlib.Path) -> str:
    error = record['details'].get('Parser Error')
    why = text.line(_text(error)) if error else 'unreadable packet'
    return (f'The stream {pathlib.Path(path).name} is truncated or damaged, '
            f'so tests may be missing: {why}')
