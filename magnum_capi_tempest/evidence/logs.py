# SPDX-License-Identifier: Apache-2.0

"""Finds the lines in Magnum's logs that belong to some requests and clusters.

The logs are files on this machine (a sandbox), or the output of a command
(devstack: journalctl).

The request id in an answer does not occur in the lines of Magnum's conductor
(see services.journal), so the user is searched for as well: with oslo.log's
default format, and by name with devstack's, each line says whose request it
belongs to. Tempest creates a user for each class of tests. Magnum's periodic
tasks have no user; their lines are found by the cluster.
"""

import collections.abc
import glob
import os
import pathlib
import re
import shlex

from magnum_capi import errors
from magnum_capi import processes

#: Bytes of each file to read, from its end: a debug log grows by about a
#: megabyte per minute.
TAIL = 32 << 20

#: Most lines that are shown, and most characters of each.
LINES, WIDTH = 200, 2000

_BAD = re.compile(r'\b(WARNING|ERROR|CRITICAL|TRACE)\b')

#: Access logs: requests that only read.
_LOOK = re.compile(r'"?\bGET /')

#: Words that may replace ``{words}`` in a command line.
_WORD = re.compile(r'[\w-]+')


def relevant(lines: collections.abc.Iterable[str],
             words: collections.abc.Iterable[str | None], most: int = LINES
             ) -> list[str]:
    """Select the informative lines.

    If there are too many, warnings and errors are kept first, then the latest.

    :param lines: iterable of str.
    :param words: ids of requests, users and clusters, and names of users.
    :returns: list of str, in their order.
    """
    known = [word for word in words if word]
    if not known:
        return []
    mentions = re.compile('|'.join(map(re.escape, known))).search
    good: list[tuple[int, str]] = []
    bad: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if mentions(line) and not _LOOK.search(line):
            (bad if _BAD.search(line) else good).append((number, line))
    bad = bad[-most:]
    good = good[len(good) - min(len(good), most - len(bad)):]
    return [line if len(line) <= WIDTH else f'{line[:WIDTH]} ...'
            for _, line in sorted(bad + good)]


def from_files(patterns: collections.abc.Sequence[str],
               words: collections.abc.Sequence[str]) -> str:
    """Search files.

    :param patterns: of paths, as in a shell.
    :returns: text: each file's lines under its name.
    :raises EnvironmentProblem: there is no such file.
    """
    paths = sorted({p for pattern in patterns for p in glob.glob(pattern)})
    if not paths:
        raise errors.EnvironmentProblem(
            'No log file', where=', '.join(patterns),
            hint='Check [magnum_capi] log_files')
    return '\n'.join(
        _shown(os.path.basename(path), relevant(
            (line.rstrip('\n') for line in tail(path)), words))
        for path in paths)


def from_command(command: str, words: collections.abc.Sequence[str],
                 since: float, timeout: float) -> str:
    """Search the output of a command.

    :param command: split like a shell command; ``{since}`` is replaced by a
        time in the format of journalctl, ``{words}`` by a regular expression
        of all words, for commands that can search by themselves.
    :param since: seconds since the epoch.
    :param timeout: seconds.
    :returns: text.
    :raises CommandFailed: it failed, or took too long.
    :raises EnvironmentProblem: there is no such program.
    """
    pattern = '|'.join(w for w in words if w and _WORD.fullmatch(w))
    argv = [part.replace('{since}', f'@{int(since)}').replace(
        '{words}', pattern) for part in shlex.split(command)]
    lines = processes.run(argv, timeout=timeout,
                          hint='Check [magnum_capi] log_command')
    return _shown(argv[0], relevant(lines.splitlines(), words))


def _shown(name: str, lines: collections.abc.Sequence[str]) -> str:
    return '\n'.join((f'{name}:', *(lines or ['nothing about this test'])))


def tail(path: pathlib.Path | str) -> collections.abc.Iterator[str]:
    """Yield the last lines of a file, at most :data:`TAIL` bytes."""
    with open(path, 'rb') as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        if size > TAIL:
            file.readline()
        for line in file:
            yield line.decode(errors='replace')
