# SPDX-License-Identifier: Apache-2.0
"""Shows tests while they run: a line for each, and a count.

Attachments, thousands of lines of a failed test, are for the reports that are
written at the end; stestr's own output would print them twice.
"""

import collections.abc
import os
import re
import shutil
import sys
import time
import typing

import subunit
import testtools
from testtools.testresult import real

from magnum_capi import progress
from magnum_capi_tempest import texts
from magnum_capi_tempest.workspace import pool

#: Share of the work after which the time left is estimated.
_ENOUGH = 0.05
#: Seconds between two counts that do not go to a terminal.
_PAUSE = 60
#: Deletes the line of a terminal (ECMA-48).
_CLEAR = '\r\x1b[K'

_WORDS = {'success': 'ok', 'xfail': 'ok', 'fail': 'FAILED', 'skip': 'SKIPPED',
          'uxsuccess': 'FAILED: it is marked as an expected failure'}
#: How unittest names the setup and the cleanup of a class.
_OF_CLASS = re.compile(r'(setUp|tearDown)Class \((.+)\)')


class Live:
    """Shows the tests of a run.

    Lines of tests go to standard output, as those of ``tempest run`` do. The
    count goes to standard error: one line that is refreshed on a terminal,
    else a line a minute.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._ended: set[str] = set()
        self._failed = self._classes = 0
        self._begin = time.monotonic()
        self._reported_at = self._begin
        self._progress = progress.Progress()
        self._terminal = sys.stderr.isatty()

    def read(self, source: typing.IO[bytes]) -> None:
        """Show what a subunit stream says, as it comes.

        :param source: binary file; it is read to its end in any case, as its
            writer would be stopped otherwise.
        """
        result = testtools.CopyStreamResult(
            [testtools.StreamToDict(self._test), _Others(self._say)])
        result.startTestRun()
        try:
            subunit.ByteStreamToStreamResult(source, 'noise').run(result)
            result.stopTestRun()
        except (ValueError, OSError) as e:
            # python-subunit expects no packet that is shorter than its head.
            self._say(f'The tests cannot be shown any more: {e}')
        finally:
            with open(os.devnull, 'wb') as nobody:
                shutil.copyfileobj(source, nobody)
            if self._known:
                self._clear()
                self._progress.info(self._count())

    def _test(self, record: real.TestDict) -> None:
        name, status = pool.name_of(record['id']), record['status']
        if status == 'exists':
            self._known.add(name)
            return
        if status in _WORDS:
            # Others are fixtures of classes, or of stestr.
            self._ended.update({name} & self._known)
            self._ended.update(self._of_class(name))
        if status in ('fail', 'uxsuccess'):
            of_class = bool(_OF_CLASS.fullmatch(name))
            self._failed += not of_class
            self._classes += of_class
        self._say(f'{{{_worker(record)}}} {name}{_took(record)} ... '
                  f'{_WORDS.get(status, "did not end")}{_why(record)}')
        self._report(record)

    def _of_class(self, name: str) -> set[str]:
        """The tests of a class that was not set up: none is reported.

        unittest reports the class instead, as ``setUpClass (module.Class)``
        (unittest/suite.py, _handleClassSetUp).
        """
        found = _OF_CLASS.fullmatch(name)
        return set() if not found else {
            one for one in self._known if pool.class_of(one) == found[2]}

    def _say(self, text: str) -> None:
        self._clear()
        print(texts.clean(text), flush=True)

    def _clear(self) -> None:
        if self._terminal:
            print(_CLEAR, end='', file=sys.stderr, flush=True)

    def _report(self, record: real.TestDict) -> None:
        now = time.monotonic()
        if self._terminal:
            print(self._count() + self._left(), end='', file=sys.stderr,
                  flush=True)
        elif (now - self._reported_at >= _PAUSE
                and record['status'] in _WORDS
                and len(self._ended) < len(self._known)):
            # The last one is at the end.
            self._reported_at = now
            self._progress.info(self._count() + self._left())

    def _count(self) -> str:
        """How many tests are done: ``12 of 446 tests, 1 failed``."""
        classes = (f', {texts.number(self._classes, "class")} failed'
                   if self._classes else '')
        return (f'{len(self._ended)} of '
                f'{texts.number(len(self._known), "test")}, '
                f'{self._failed} failed{classes}')

    def _left(self) -> str:
        done, work = map(pool.seconds, (self._ended, self._known))
        if not work * _ENOUGH < done < work:
            return ''
        left = (time.monotonic() - self._begin) * (work - done) / done
        return f', about {max(1, round(left / 60))} min left'


class _Others(testtools.StreamResult):
    """Passes on lines that programs print that are of no test.

    subunit gives what is no packet byte by byte.
    """

    def __init__(self, say: collections.abc.Callable[[str], None]) -> None:
        super().__init__()
        self._say = say
        self._rest = b''

    # Senders use keywords only.
    def status(self, test_id: str | None = None,  # type: ignore[override]
               file_bytes: memoryview | None = None, **_: object) -> None:
        if test_id is None and file_bytes:
            *lines, self._rest = (self._rest + bytes(file_bytes)).split(b'\n')
            self._pass_on(*lines)

    def stopTestRun(self) -> None:
        super().stopTestRun()
        self._pass_on(self._rest)

    def _pass_on(self, *lines: bytes) -> None:
        for line in lines:
            text = line.decode('utf-8', 'replace').rstrip()
            if text:
                self._say(text)


def _worker(record: real.TestDict) -> str:
    return next((tag.removeprefix('worker-') for tag in record['tags']
                 if tag.startswith('worker-')), '0')


def _took(record: real.TestDict) -> str:
    begin, end = record['timestamps']
    if record['status'] == 'skip' or not (begin and end):
        return ''
    return f' [{(end - begin).total_seconds():.1f}s]'


def _why(record: real.TestDict) -> str:
    """The beginning of the reason for which a test failed or was skipped."""
    details = record['details']
    if record['status'] == 'skip' and 'reason' in details:
        return f': {texts.line(details["reason"].as_text())}'
    for name, content in details.items():
        if record['status'] == 'fail' and name.startswith('traceback'):
            # Often the first line only is a class, or ends with a colon.
            return f': {texts.line(texts.exception(content.as_text()))}'
    return ''
