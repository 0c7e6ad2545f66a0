# SPDX-License-Identifier: Apache-2.0
"""The program that runs tests for stestr, without secrets in its output.

stestr starts ``$PYTHON -m stestr.subunit_runner.run ...``. With this module
in front of that (:mod:`.runs`) the tests run in the same way, but no secret
leaves the process: not in the subunit stream, from which stestr makes its
record and the output on the terminal; not in logs, such as tempest.log; and
not in what tests print. This applies to the tests of all plugins.

stestr gives each worker a list of tests. They go into the pool of the run
(:mod:`.pool`), from which each worker takes classes.
"""

import collections.abc
import contextlib
import functools
import io
import logging
import os
import pathlib
import signal
import sys
import typing
import unittest

from stestr.subunit_runner import program
from stestr.subunit_runner import run as runner
from tempest import test as tempest_test

from magnum_capi import errors
from magnum_capi_tempest import redact
from magnum_capi_tempest.redact import known as known_values
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import pool
from magnum_capi_tempest.workspace import redacting

#: The arguments that stestr gives to Python.
_WANTED = ['-m', runner.__name__]

#: The argument before the name of a file with the ids of the tests to run.
_LIST = '--load-list'

#: Characters of a private key, at most.
_KEY = 1 << 14


class Runner(runner.SubunitTestRunner):
    """Runs tests and reports on them without secrets.

    :param known: secrets that may be anywhere.
    :param shared: the folder that the workers of the run share, and the ids of
        this worker's tests; None: all tests are its own.
    """

    def __init__(self, *args: typing.Any, known: redact.Known,
                 shared: tuple[pathlib.Path, list[str]] | None = None,
                 **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = known
        self._shared = shared
        self._own: unittest.TestSuite | None = None

    def run(self, test: unittest.TestCase | unittest.TestSuite) -> typing.Any:
        tests = list(program.iterate_tests(test))
        if self._shared is None:
            return super().run(_Interruptible(tests))
        folder, ids = self._shared
        own = set(ids)
        self._own = unittest.TestSuite(
            one for one in tests if one.id() in own)
        alone = {pool.class_of(one.id()) for one in tests
                 if isinstance(one, tempest_test.BaseTestCase)
                 and one.is_serial_execution_requested()}
        return super().run(_Interruptible(
            _taken(tests, pool.Pool(folder, ids, alone))))

    def list(self, test: unittest.TestCase | unittest.TestSuite,
             loader: unittest.TestLoader | None = None) -> None:
        try:
            super().list(test, loader)
        finally:
            self._result.stopTestRun()

    def _list(self, test: unittest.TestCase | unittest.TestSuite
              ) -> tuple[redacting.Redacting, typing.Any]:
        # Those of other workers are theirs to list.
        result, failed = super()._list(self._own or test)
        self._result = redacting.Redacting(result, self._known)
        return self._result, failed


def _taken(tests: list[unittest.TestCase], classes: pool.Pool
           ) -> collections.abc.Iterator[unittest.TestCase]:
    """The tests of the classes that this worker takes.

    Those of a class come in the order in which they were loaded.
    """
    for ids in map(set, classes):
        yield from (test for test in tests if test.id() in ids)


class _Interruptible(unittest.TestSuite):
    """Tests of which none begins after SIGINT.

    If the cleanup of the interrupted test fails, testtools raises that failure
    in place of KeyboardInterrupt, and the next test would begin.

    The class of the interrupted test is torn down. unittest does not do so for
    KeyboardInterrupt, nor Tempest for a setUpClass that it interrupts
    (tempest/test.py). Another SIGINT ends that, too.

    :param tests: the next one is asked for when the one before has ended.
    """

    # It has no list of the tests.
    _cleanup = False

    def __init__(self, tests: collections.abc.Iterable[unittest.TestCase]
                 ) -> None:
        super().__init__()
        self._next = tests
        self._class: type[unittest.TestCase] | None = None

    def __iter__(self) -> collections.abc.Iterator[unittest.TestCase]:
        for test in self._next:
            self._class = type(test)
            yield test

    def run(self, result: unittest.TestResult, debug: bool = False
            ) -> unittest.TestResult:
        def interrupt(*_: object) -> None:
            result.stop()
            raise KeyboardInterrupt

        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupt)
        try:
            return self._run(result, debug)
        finally:
            signal.signal(signal.SIGINT, before)

    def _run(self, result: unittest.TestResult, debug: bool
             ) -> unittest.TestResult:
        try:
            return super().run(result, debug)
        except KeyboardInterrupt as e:
            interrupt = e
        # Tempest only logs what fails while an exception is handled.
        current = self._class
        if current and (current is getattr(result, '_previousTestClass', None)
                        or vars(current).get('_teardowns')):
            # unittest sets it once setUpClass has ended.
            result._previousTestClass = (  # type: ignore[attr-defined]
                current)
            self._tearDownPreviousClass(  # type: ignore[attr-defined]
                None, result)
        raise interrupt


class Printed(io.TextIOBase):
    """A text stream that removes secrets from complete lines and keys.

    :param target: text stream.
    :param known: secrets that may be anywhere.
    """

    def __init__(self, target: typing.TextIO, known: redact.Known) -> None:
        super().__init__()
        self._target = target
        self._known = known
        self._rest = ''

    @property
    def buffer(self) -> typing.BinaryIO:
        """For the stream of results, which is already free of secrets."""
        return self._target.buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._target.encoding

    def fileno(self) -> int:
        return self._target.fileno()

    def isatty(self) -> bool:
        return self._target.isatty()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._rest += text
        if text.endswith('\n') and (
                len(self._rest) > _KEY or self._rest.rfind('-----BEGIN ')
                <= self._rest.rfind('-----END ')):
            self._write_rest()
        return len(text)

    def flush(self) -> None:
        self._target.flush()

    def close(self) -> None:
        self._write_rest()
        self.flush()
        super().close()

    def _write_rest(self) -> None:
        text, self._rest = self._rest, ''
        if text:
            self._target.write(redact.redact(text, self._known))


def _watch_logs(known: known_values.Known) -> None:
    """Make every log handler write its records without secrets.

    All handlers ask this method for the text of a record, including its
    exception and everything else that a formatter adds.
    """
    plain = logging.Handler.format

    def without_secrets(
            handler: logging.Handler, record: logging.LogRecord) -> str:
        return redact.redact(plain(handler, record), known)

    logging.Handler.format = (  # type: ignore[method-assign]
        without_secrets)  # type: ignore[assignment]


def main() -> None:
    """Run the tests that stestr names in the arguments of this program."""
    argv = sys.argv[1:]
    if argv[:2] != _WANTED:
        sys.exit(str(errors.UsageError(
            f'This program runs {" ".join(_WANTED)} for stestr',
            last_seen=' '.join(argv))))
    where = os.environ.get(folder.WORKERS)
    if not where:
        _run(argv)
        return
    shared = pathlib.Path(where)
    with _sign_of_life(shared / pool.ALIVE / str(os.getpid())):
        argv, ids = _without_list(argv)
        _run(argv, None if ids is None else (shared, ids))


@contextlib.contextmanager
def _sign_of_life(sign: pathlib.Path) -> collections.abc.Iterator[None]:
    """Have a file until this process ends; not if it is killed."""
    sign.touch()
    try:
        yield
    finally:
        sign.unlink(missing_ok=True)


def _without_list(argv: list[str]) -> tuple[list[str], list[str] | None]:
    """Take the list of tests, if there is one, out of stestr's arguments."""
    if _LIST not in argv:
        return argv, None
    at = argv.index(_LIST)
    return argv[:at] + argv[at + 2:], pathlib.Path(
        argv[at + 1]).read_text(encoding='utf-8').splitlines()


def _run(argv: collections.abc.Sequence[str],
         shared: tuple[pathlib.Path, list[str]] | None = None) -> None:
    etc = os.environ.get('TEMPEST_CONFIG_DIR')
    known = folder.known_secrets(etc) if etc else redact.Known([])
    _watch_logs(known)
    sys.stdout, sys.stderr = (
        Printed(stream, known) for stream in (sys.stdout, sys.stderr))
    try:
        program.TestProgram(
            module=None, argv=[runner.__name__, *argv[2:]],
            testRunner=functools.partial(
                Runner, stdout=sys.stdout, known=known, shared=shared))
    finally:
        sys.stdout.close()
        sys.stderr.close()


if __name__ == '__main__':
    main()
