# SPDX-License-Identifier: Apache-2.0

"""What a proof is: its cases, and how one of them is run and judged."""

import contextlib
import dataclasses
import pathlib
import typing

#: The source that is proved.
TOP = pathlib.Path(__file__).resolve().parents[2]

#: Folder of the tables in the documentation.
DOCS = TOP / 'doc/source'


@dataclasses.dataclass(frozen=True)
class Case:
    """What is run, timed and recorded by itself.

    :param name: unlike that of any other case of the proof.
    :param text: what it is, for ``--list``.
    :param group: another name by which it can be chosen, of several cases.
    :param control: nothing is broken in it. It is run by itself, after the
        others and whichever of them are chosen.
    :param needs: what it lacks here, so that it is left out; empty: nothing.
    :param data: whatever the proof runs it by.
    """

    name: str
    text: str = ''
    group: str = ''
    control: bool = False
    needs: str = ''
    data: typing.Any = None


@dataclasses.dataclass(frozen=True)
class Row:
    """A verdict.

    :param good: it is as it must be.
    :param text: for a terminal, which shows the verdict before it.
    :param cells: by the proof's columns; empty: not a row of its table.
    """

    good: bool
    text: str
    cells: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Work:
    """One run of a proof.

    :param args: of the command line.
    :param chosen: the cases that the user wants.
    :param cases: those of them that are to be run: not what is recorded.
    :param folder: for sandboxes and copies; it goes at the end, unless it is
        that of ``--directory``.
    :param results: for what cases leave to be read later.
    :param progress: progress.Progress.
    """

    args: typing.Any
    chosen: tuple[Case, ...]
    cases: tuple[Case, ...]
    folder: pathlib.Path
    results: pathlib.Path
    progress: typing.Any

    @property
    def keep(self) -> bool:
        """Whether sandboxes are used again, and left up."""
        return bool(getattr(self.args, 'directory', None))

    @property
    def mark(self) -> pathlib.Path:
        """Value of runmarks.MARK for programs that end with the run."""
        return self.folder / 'programs'


class Proof:
    """A proof; the module ``proof`` of its folder has one as ``PROOF``."""

    name: str
    #: What is proved, for ``--help``.
    summary: str
    #: Words for a row that is as it must be, and for one that is not.
    words = 'kept', 'NOT kept'
    #: Head of the table; which columns tell rows apart, and which have to be
    #: as they were recorded in the documentation.
    columns: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    #: Table of the rows in the documentation, and of what cases took.
    docs: pathlib.Path | None = None
    docs_cases: pathlib.Path | None = None
    #: Ports of its sandboxes; a developer's own may run meanwhile. None: it
    #: has no sandbox.
    port_base: int | None = None
    #: Whether one sandbox serves all cases, so that it may be there already.
    one_sandbox = True
    #: How many cases at once, unless the user says otherwise; 1: never more.
    jobs = 1
    #: Seconds for one case. Those that are run beside others bound the
    #: programs that they start.
    limit = 7200
    #: What CASE was called once.
    old_option: str | None = None

    def add_options(self, parser):
        """Add options of its own."""

    def cases(self, args) -> typing.Iterable[Case]:
        """All cases, in the order of the table.

        :raises UsageError: options of its own make no sense.
        """
        raise NotImplementedError

    def open(self, work) -> contextlib.AbstractContextManager:
        """Prepare what cases are run in.

        :param work: Work.
        """
        return contextlib.nullcontext(work)

    def run(self, world, case) -> typing.Iterator[dict]:
        """Run a case; yield what was seen, in the types of JSON.

        :param world: of :meth:`open`.
        :raises MagnumCapiError: the case could not be run.
        """
        raise NotImplementedError

    def judge(self, case, seen, results) -> Row:
        """Judge one thing that was seen.

        :param results: folder of Work.
        """
        raise NotImplementedError

    def epilogue(self, found) -> str:
        """What else is told at the end.

        :param found: records.Record of each case that was run.
        """
        return ''
