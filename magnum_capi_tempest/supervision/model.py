# SPDX-License-Identifier: Apache-2.0
"""Programs to run, and their state."""

import dataclasses
import pathlib
import typing


@dataclasses.dataclass(frozen=True)
class Program:
    """A program to run.

    :param name: unique within a supervisor; also the name of its log.
    :param argv: command line, absolute path first; no secrets.
    :param ready: called without arguments until it returns true; None when
        the program is ready as soon as it runs. It may raise OSError.
    :param listens: ``(address, port)`` of every TCP socket that it, or a
        process that it starts, listens on when it is ready. ``ready`` is not
        called before: it might reach another program.
    :param env: variables in addition to PATH, HOME, LANG, TMPDIR.
    :param cwd: its working folder, the run's folder by default.
    :param after: names of programs that must be ready before it starts.
    :param stop_signal: name of the signal that stops it, without "SIG".
    :param restart: whether to start it again when it dies.
    """

    name: str
    argv: tuple[str, ...]
    ready: typing.Callable[[], bool] | None = None
    listens: tuple[tuple[str, int], ...] = ()
    env: typing.Mapping[str, str] = dataclasses.field(default_factory=dict)
    cwd: pathlib.Path | None = None
    after: tuple[str, ...] = ()
    stop_signal: str = 'TERM'
    restart: bool = False


@dataclasses.dataclass(frozen=True)
class Status:
    """The state of a program.

    :param memory: its proportional set size, bytes.
    :param cpu: seconds.
    """

    name: str
    state: str
    pid: int | None
    memory: int
    cpu: float
