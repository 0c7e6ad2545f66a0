# SPDX-License-Identifier: Apache-2.0

"""Run an outside program to its end, with a timeout and a typed error."""

from __future__ import annotations

import collections.abc
import contextlib
import os
import signal
import subprocess
import time
import typing

from magnum_capi import errors

#: Seconds until everything that a killed program printed has been read.
REST = 5

#: For a stream of :func:`start`.
PIPE, NOTHING = subprocess.PIPE, subprocess.DEVNULL

#: A program that :func:`start` has started.
Running: typing.TypeAlias = 'subprocess.Popen[typing.Any]'

#: A program and its arguments.
Argv = collections.abc.Sequence[str | os.PathLike[str]]
Folder = str | os.PathLike[str]


@typing.overload
def run(argv: Argv, *, timeout: float,
        env: collections.abc.Mapping[str, str] | None = None,
        cwd: Folder | None = None, stdin: str | None = None,
        merge: bool = False, hint: str | None = None,
        binary: typing.Literal[False] = False, spool: Folder | None = None,
        pass_fds: tuple[int, ...] = ()) -> str:
    ...


@typing.overload
def run(argv: Argv, *, timeout: float,
        env: collections.abc.Mapping[str, str] | None = None,
        cwd: Folder | None = None, stdin: bytes | None = None,
        merge: bool = False, hint: str | None = None,
        binary: typing.Literal[True], spool: Folder | None = None,
        pass_fds: tuple[int, ...] = ()) -> bytes:
    ...


def run(argv: Argv, *, timeout: float,
        env: collections.abc.Mapping[str, str] | None = None,
        cwd: Folder | None = None, stdin: str | bytes | None = None,
        merge: bool = False, hint: str | None = None, binary: bool = False,
        spool: Folder | None = None,
        pass_fds: tuple[int, ...] = ()) -> str | bytes:
    """Run a program and return what it printed.

    The program gets its own session, which is killed as a whole after
    ``timeout`` or when the caller is interrupted, so that no grandchild
    survives.

    :param argv: must not contain secrets.
    :param timeout: seconds.
    :param env: whole environment, the caller's own by default.
    :param stdin: text for its standard input, nothing by default.
    :param merge: return standard error with standard output.
    :param binary: return bytes; standard input is bytes then, too.
    :param spool: folder for its output, so that the program completes even if
        this process is killed: writing to a pipe without a reader would kill
        it, too. Not with ``merge``.
    :param pass_fds: descriptors that the program inherits.
    :returns: standard output.
    :raises CommandFailed: exit code not 0, or timeout.
    :raises EnvironmentProblem: there is no such program.
    """
    words = [str(a) for a in argv]
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        files = [] if spool is None else [stack.enter_context(open(
            os.path.join(spool, name), 'w+b')) for name in ('out', 'err')]
        return _run(words, files, begin, timeout, env, cwd, stdin, merge,
                    hint, binary, pass_fds)


def _run(argv: list[str],
         files: collections.abc.Sequence[typing.BinaryIO], begin: float,
         timeout: float, env: collections.abc.Mapping[str, str] | None,
         cwd: Folder | None, stdin: str | bytes | None, merge: bool,
         hint: str | None, binary: bool, pass_fds: tuple[int, ...]
         ) -> str | bytes:
    stdout: int | typing.BinaryIO = subprocess.PIPE
    stderr: int | typing.BinaryIO = (
        subprocess.STDOUT if merge else subprocess.PIPE)
    if files:
        stdout, stderr = files

    def communicate(stdin: str | bytes | None = None,
                    timeout: float | None = None) -> typing.Any:
        said = process.communicate(stdin, timeout=timeout)
        return [_content(file, binary) for file in files] or said

    process = start(
        argv, hint, env=env, cwd=cwd, pass_fds=pass_fds,
        start_new_session=True,
        text=not binary, errors=None if binary else 'replace',
        stdout=stdout, stderr=stderr,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL)
    try:
        out, err = communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        _kill(process)
        try:
            out, err = communicate(timeout=REST)
        except subprocess.TimeoutExpired as e:
            # A daemon that it has started still has its pipes open.
            out, err = e.stdout, e.stderr
            process.wait()
            for pipe in filter(None, (process.stdout, process.stderr)):
                pipe.close()
        raise errors.CommandFailed(
            argv, None, _text(err) + _text(out),
            elapsed=time.monotonic() - begin, hint=hint) from None
    except BaseException:
        _kill(process)
        process.wait()
        raise
    if process.returncode:
        raise errors.CommandFailed(
            argv, process.returncode, _text(err or out),
            elapsed=time.monotonic() - begin, hint=hint)
    return typing.cast('str | bytes', out)


def _content(file: typing.BinaryIO, binary: bool) -> str | bytes:
    file.seek(0)
    content = file.read()
    return content if binary else content.decode(errors='replace')


def start(argv: collections.abc.Sequence[str], hint: str | None = None,
          **options: typing.Any) -> Running:
    """Start a program that the caller waits for.

    :param options: of Popen.
    :raises EnvironmentProblem: there is no such program.
    """
    try:
        return subprocess.Popen(argv, **options)
    except (FileNotFoundError, PermissionError) as e:
        raise errors.EnvironmentProblem(
            f'Cannot run {argv[0]}: {e.strerror}', where=' '.join(argv),
            hint=hint) from e


def _text(output: str | bytes | None) -> str:
    if isinstance(output, bytes):
        return output.decode(errors='replace')
    return output or ''


def _kill(process: Running) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
