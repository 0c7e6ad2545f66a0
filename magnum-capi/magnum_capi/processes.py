# SPDX-License-Identifier: Apache-2.0

"""Run an outside program to its end, with a timeout and a typed error."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

from magnum_capi import errors


def run(argv, *, timeout, env=None, cwd=None, stdin=None, merge=False,
        hint=None, binary=False, spool=None, pass_fds=()):
    """Run a program and return what it printed.

    The program gets a session of its own; after ``timeout``, and when the
    caller is interrupted, the whole session is killed, so that no
    grandchild stays behind.

    :param argv: list of strings; secrets do not belong here.
    :param timeout: seconds.
    :param env: whole environment, the caller's own by default.
    :param stdin: text for its standard input, nothing by default.
    :param merge: return standard error with standard output.
    :param binary: return bytes; standard input is bytes then, too.
    :param spool: folder where its output is kept meanwhile, for a program
        that is to end well even if this process is killed: a program that
        writes to a pipe without a reader is killed, too. Not with ``merge``.
    :param pass_fds: descriptors that the program inherits.
    :returns: standard output, str.
    :raises CommandFailed: exit code not 0, or timeout.
    :raises EnvironmentProblem: there is no such program.
    """
    argv = [str(a) for a in argv]
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        files = [] if spool is None else [stack.enter_context(open(
            os.path.join(spool, name), 'w+b')) for name in ('out', 'err')]
        return _run(argv, files, begin, timeout, env, cwd, stdin, merge,
                    hint, binary, pass_fds)


def _run(argv, files, begin, timeout, env, cwd, stdin, merge, hint, binary,
         pass_fds):
    stdout, stderr = files or (
        subprocess.PIPE, subprocess.STDOUT if merge else subprocess.PIPE)

    def communicate(*args, **kwargs):
        said = process.communicate(*args, **kwargs)
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
        out, err = communicate()
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
    return out


def _content(file, binary):
    file.seek(0)
    content = file.read()
    return content if binary else content.decode(errors='replace')


def start(argv, hint=None, **options) -> subprocess.Popen:
    """Start a program that the caller waits for.

    :param argv: list of strings.
    :param options: of Popen.
    :raises EnvironmentProblem: there is no such program.
    """
    try:
        return subprocess.Popen(argv, **options)
    except (FileNotFoundError, PermissionError) as e:
        raise errors.EnvironmentProblem(
            f'Cannot run {argv[0]}: {e.strerror}', where=' '.join(argv),
            hint=hint) from e


def _text(output):
    if isinstance(output, bytes):
        return output.decode(errors='replace')
    return output or ''


def _kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def inherits(pid, variable, value) -> bool:
    """Whether a process was started with a variable of this value.

    A program that changes its title writes over its environment.

    :raises OSError: it has ended, or belongs to somebody else.
    """
    with open(f'/proc/{pid}/environ', 'rb') as f:
        return f'{variable}={value}'.encode() in f.read().split(b'\0')


def stat(pid):
    """State, parent and beginning (in ticks) of a process; see proc(5).

    :raises OSError: it has ended.
    """
    text = pathlib.Path(f'/proc/{pid}/stat').read_text(errors='replace')
    fields = text.rpartition(')')[2].split()
    return fields[0], int(fields[1]), int(fields[19])


def ended(pid) -> bool:
    """Whether a process has given back all it had, its ports among that.

    Nobody may have asked for its exit code yet. The first thread of a process
    may be a zombie while others still have its files.
    """
    try:
        return (stat(pid)[0] in 'ZX'
                and len(os.listdir(f'/proc/{pid}/task')) < 2)
    except (FileNotFoundError, ProcessLookupError):
        return True
