# SPDX-License-Identifier: Apache-2.0

"""Every error this project raises on purpose.

All are in one file, so that a reader of a log can look them up. Each class
carries its data as attributes and formats itself as one line: what, where, how
long it waited, what was last seen, what to do next. The command line prints
that line and exits with ``exit_code``; a traceback is for bugs.
"""

from __future__ import annotations

import collections.abc
import typing


class MagnumCapiError(Exception):
    """Base of all errors of this project.

    :param what: what went wrong, without a final full stop.
    :param where: file, URL, program or host that it concerns; shown as text.
    :param elapsed: seconds waited before giving up.
    :param last_seen: last state observed; shown as text.
    :param hint: what the user can do next.
    """

    #: Exit code of the command line.
    exit_code = 1

    def __init__(self, what: str, *, where: typing.Any = None,
                 elapsed: float | None = None, last_seen: typing.Any = None,
                 hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.elapsed = elapsed
        self.last_seen = last_seen
        self.hint = hint

    def __str__(self) -> str:
        text = self.what
        if self.where is not None:
            text += f' ({self.where})'
        if self.elapsed is not None:
            text += f', waited {self.elapsed:.1f} s'
        if self.last_seen is not None:
            text += f'; last seen: {self.last_seen}'
        if self.hint is not None:
            text += f'. {self.hint}'
        return text


class UsageError(MagnumCapiError):
    """The caller asked for something that does not exist or is impossible."""

    exit_code = 2


class EnvironmentProblem(MagnumCapiError):
    """This machine lacks something: a package, a port, space, permission."""

    exit_code = 3


class WaitFailed(MagnumCapiError):
    """A wait ended without success.

    :param state: what the last poll returned.
    """

    def __init__(self, what: str, *, state: typing.Any = None,
                 **kwargs: typing.Any) -> None:
        super().__init__(what, **kwargs)
        self.state = state


class WaitTimeout(WaitFailed):
    """The time limit of a wait was reached."""


class WaitAborted(WaitFailed):
    """A state was seen from which the wait cannot succeed."""


class CommandFailed(MagnumCapiError):
    """An outside program failed or took too long.

    :param argv: the command line.
    :param returncode: exit code, None when it was stopped after ``timeout``.
    :param output: the end of what it printed.
    """

    def __init__(self, argv: collections.abc.Sequence[str],
                 returncode: int | None, output: str, *,
                 elapsed: float | None = None,
                 hint: str | None = None) -> None:
        how = ('did not end in time' if returncode is None
               else f'failed with exit code {returncode}')
        super().__init__(
            f'{argv[0]} {how}', where=' '.join(map(str, argv)),
            elapsed=elapsed, last_seen=output.strip()[-2000:] or None,
            hint=hint)
        self.argv = argv
        self.returncode = returncode
        self.output = output
