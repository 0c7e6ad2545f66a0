# SPDX-License-Identifier: Apache-2.0

"""Which tests a mutant is tried with, from what each test was seen to run."""

import ast
import collections.abc
import dataclasses
import functools
import json
import pathlib
import shutil

import coverage

from magnum_capi import errors
from tests.mutation import rooms
from tests.mutation import running
from tests.mutation import trial

#: Seconds for the tests of a room without a mutant.
_MEASURING = 3600


@dataclasses.dataclass(frozen=True)
class Measured:
    """What the tests of a room do without a mutant.

    :param seconds: by id of those that pass.
    :param reach: ids by line of a file.
    """

    seconds: dict[str, float]
    reach: collections.abc.Callable[[str], dict[int, list[str]]]

    def tests_of(self, file: str, line: int, text: str) -> dict[str, float]:
        """Seconds by test, the fastest first.

        What runs in a function is tried with the tests that reach its
        statement. What runs at import, as constants, decorators and defaults
        do, is tried with those that reach something in the file, then with
        all others.

        :param text: the source of the file.
        """
        lines, imported = statement(text, line)
        near = {test for at, tests in self.reach(file).items()
                if imported or at in lines for test in tests}
        found = self.seconds.keys() if imported else near
        # A test that is skipped or expected to fail reaches lines, too.
        return {test: self.seconds[test] for test in sorted(
            found & self.seconds.keys(), key=lambda test: (
                test not in near, self.seconds[test], test))}


def measure(room: rooms.Room, stem: pathlib.Path,
            processes: running.Processes) -> Measured:
    """What the tests of a room do without a mutant; run once.

    :param stem: beginning of the names of files to keep it in.
    :param processes: have the libraries that the tests use preloaded.
    :raises MagnumCapiError: a test fails.
    """
    kept, data = stem.with_suffix('.json'), stem.with_suffix('.coverage')
    files, modules = room.files(), room.modules()
    if not kept.exists():
        with processes.process(
                _MEASURING, trial.measure, modules,
                [str(rooms.TOP / file) for file in files]) as (scratch, how):
            results = running.read(scratch)
            bad = [test for test, (sign, _) in results.items()
                   if sign == trial.FAILED]
            if how or bad or not results:
                raise errors.MagnumCapiError(
                    'Tests fail without a mutant', where=', '.join(bad[:5]),
                    last_seen=(scratch / trial.LOG).read_text(
                        'utf-8', 'replace')[-2000:])
            shutil.copy(scratch / 'coverage', data)
            kept.write_text(json.dumps({
                'seconds': {test: seconds for test, (sign, seconds)
                            in results.items() if sign == trial.PASSED},
                'libraries': json.loads(
                    (scratch / 'libraries.json').read_text())}))
    found = json.loads(kept.read_text())
    # In this order: oslo_config.sources alone is a circular import.
    processes.preload(sorted(found['libraries']))
    measured = coverage.CoverageData(str(data))
    measured.read()
    return Measured(
        found['seconds'],
        functools.cache(lambda file: measured.contexts_by_lineno(
            str(rooms.TOP / file))))


def statement(text: str, line: int) -> tuple[range, bool]:
    """The lines of the innermost statement around a line.

    Of a statement with a body only its head counts. Tracing tells of lines
    that begin something, not of each that an expression goes on in.

    :returns: the lines, and whether they run when the module is imported.
    """
    best, imported, size = range(line, line + 1), True, None
    for node, inside in _statements(ast.parse(text), False):
        first = min((d.lineno for d in getattr(node, 'decorator_list', ())),
                    default=node.lineno)
        body = getattr(node, 'body', None)
        last = body[0].lineno - 1 if body else node.end_lineno
        for handler in getattr(node, 'handlers', ()):
            last = min(last, handler.lineno - 1)
        lines = range(first, max(first, last) + 1)
        if line in lines and (size is None or len(lines) <= size):
            best, imported, size = lines, not inside, len(lines)
    return best, imported


def _statements(node, inside):
    """All statements and handlers below, and if a function is around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.excepthandler)):
            yield child, inside
        yield from _statements(child, inside or isinstance(
            child, (ast.FunctionDef, ast.AsyncFunctionDef)))
