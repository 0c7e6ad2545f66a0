# SPDX-License-Identifier: Apache-2.0

"""The base of proofs: their cases, and how to run and judge a case."""

import contextlib
import dataclasses
import pathlib
import typing

#: The source under test.
TOP = pathlib.Path(__file__).resolve().parents[2]

#: Folder of the tables in the documentation.
DOCS = TOP / 'doc/source'


@dataclasses.dataclass(frozen=True)
class Case:
    """A unit that is run, timed and recorded separately.

    :param name: unique within the proof.
    :param text: description, for ``--list``.
    :param control: nothing is broken in it. It always runs alone, after all
        others.
    :param needs: a missing requirement, for which it is skipped; else empty.
    :param data: the proof's own data for the case.
    """

    name: str
    text: str = ''
    control: bool = False
    needs: str = ''
    data: typing.Any = None


@dataclasses.dataclass(frozen=True)
class Row:
    """A verdict.

    :param good: whether the result is as expected.
    :param text: for a terminal, which shows the verdict before it.
    :param cells: for the proof's columns; empty: no row of its table.
    """

    good: bool
    text: str
    cells: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Work:
    """One run of a proof.

    :param args: of the command line.
    :param chosen: the requested cases.
    :param cases: those to run, without cases that are already recorded.
    :param folder: for sandboxes and copies; removed at the end, unless it was
        given by ``--directory``.
    :param results: for files of cases that are read later.
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
        """Whether sandboxes are reused and left up."""
        return bool(getattr(self.args, 'directory', None))

    @property
    def mark(self) -> pathlib.Path:
        """Value of runmarks.MARK for programs that end with the run."""
        return self.folder / 'programs'


class Proof:
    """A proof; the module ``proof`` of its folder has one as ``PROOF``."""

    name: str
    #: What it proves, for ``--help``.
    summary: str
    #: Words for a row that is as expected, and for one that is not.
    words = 'kept', 'NOT kept'
    #: Head of the table; the columns that identify a row, and those that must
    #: be as recorded in the documentation.
    columns: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    #: Tables of the rows and of the durations in the documentation.
    docs: pathlib.Path | None = None
    docs_cases: pathlib.Path | None = None
    #: Ports of its sandboxes, as a developer's own may run meanwhile. None: it
    #: has no sandbox.
    port_base: int | None = None
    #: Whether one sandbox serves all cases, so that an existing one can be
    #: used.
    one_sandbox = True
    #: Default number of parallel cases; 1: never more.
    jobs = 1
    #: Seconds for one case. Parallel cases limit the programs that they start.
    limit = 7200

    def add_options(self, parser):
        """Add the proof's own options."""

    def cases(self, args) -> typing.Iterable[Case]:
        """All cases, in the order of the table.

        :raises UsageError: its own options make no sense.
        """
        raise NotImplementedError

    def open(self, work) -> contextlib.AbstractContextManager:
        """Prepare the environment of the cases.

        :param work: Work.
        """
        return contextlib.nullcontext(work)

    def run(self, world, case) -> typing.Iterator[dict]:
        """Run a case; yields observations, in the types of JSON.

        :param world: result of :meth:`open`.
        :raises MagnumCapiError: the case could not be run.
        """
        raise NotImplementedError

    def judge(self, case, seen, results) -> Row:
        """Judge one observation.

        :param results: folder of Work.
        """
        raise NotImplementedError

    def epilogue(self, found) -> str:
        """More text for the end.

        :param found: records.Record of each case that was run.
        """
        return ''
