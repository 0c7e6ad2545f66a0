# SPDX-License-Identifier: Apache-2.0
"""The program that runs tests for stestr, without secrets in its output.

stestr starts ``$PYTHON -m stestr.subunit_runner.run ...``. With this module
in front of that (:mod:`.runs`) the same tests run in the same way, but no
secret leaves the process: not in the subunit stream, from which stestr makes
its record and the output on the terminal; not in logs, such as tempest.log;
and not in what tests print. This applies to the tests of all plugins.
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

from magnum_capi import errors
from magnum_capi_tempest import redact
from magnum_capi_tempest.redact import known as known_values
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import redacting

#: The arguments that stestr gives to Python.
_WANTED = ['-m', runner.__name__]

#: Characters of a private key, at most.
_KEY = 1 << 14


class Runner(runner.SubunitTestRunner):
    """Runs tests and reports on them without secrets.

    :param known: secrets that may be anywhere.
    """

    def __init__(self, *args: typing.Any, known: redact.Known,
                 **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = known

    def run(self, test: unittest.TestCase | unittest.TestSuite) -> typing.Any:
        return super().run(_Interruptible([test]))

    def list(self, test: unittest.TestCase | unittest.TestSuite,
             loader: unittest.TestLoader | None = None) -> None:
        try:
            super().list(test, loader)
        finally:
            self._result.stopTestRun()

    def _list(self, test: unittest.TestCase | unittest.TestSuite
              ) -> tuple[redacting.Redacting, typing.Any]:
        result, failed = super()._list(test)
        self._result = redacting.Redacting(result, self._known)
        return self._result, failed


class _Interruptible(unittest.TestSuite):
    """Tests of which none begins after SIGINT.

    If the cleanup of the interrupted test fails, testtools raises that failure
    in place of KeyboardInterrupt, and the next test would begin.

    The class of the interrupted test is torn down. unittest does not do so for
    KeyboardInterrupt, nor Tempest for a setUpClass that it interrupts
    (tempest/test.py). Another SIGINT ends that, too.
    """

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
        current = next(_classes(self), None)
        if current and (current is getattr(result, '_previousTestClass', None)
                        or vars(current).get('_teardowns')):
            # unittest sets it once setUpClass has ended.
            result._previousTestClass = (  # type: ignore[attr-defined]
                current)
            self._tearDownPreviousClass(  # type: ignore[attr-defined]
                None, result)
        raise interrupt


def _classes(suite: unittest.BaseTestSuite
             ) -> collections.abc.Iterator[type[unittest.TestCase]]:
    """Classes of the tests that have not ended, in their order."""
    for test in suite:
        if isinstance(test, unittest.BaseTestSuite):
            yield from _classes(test)
        elif test is not None:
            yield type(test)


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
            self._tell()
        return len(text)

    def flush(self) -> None:
        self._target.flush()

    def close(self) -> None:
        self._tell()
        self.flush()
        super().close()

    def _tell(self) -> None:
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
    with _sign_of_life(os.environ.get(folder.WORKERS)):
        _run(argv)


@contextlib.contextmanager
def _sign_of_life(where: str | None) -> collections.abc.Iterator[None]:
    """Have a file in a folder until this process ends; not if it is killed."""
    sign = where and pathlib.Path(where, str(os.getpid()))
    if sign:
        sign.touch()
    try:
        yield
    finally:
        if sign:
            sign.unlink(missing_ok=True)


def _run(argv: collections.abc.Sequence[str]) -> None:
    etc = os.environ.get('TEMPEST_CONFIG_DIR')
    known = folder.known_secrets(etc) if etc else redact.Known([])
    _watch_logs(known)
    sys.stdout, sys.stderr = (
        Printed(stream, known) for stream in (sys.stdout, sys.stderr))
    try:
        program.TestProgram(
            module=None, argv=[runner.__name__, *argv[2:]],
            testRunner=functools.partial(
                Runner, stdout=sys.stdout, known=known))
    finally:
        sys.stdout.close()
        sys.stderr.close()


if __name__ == '__main__':
    main()
