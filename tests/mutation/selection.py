# SPDX-License-Identifier: Apache-2.0


"""Which tests a mutant is tried with, from what each test was seen to run."""

import ast
import dataclasses

from tests.mutation import mutants
from tests.mutation import rooms
from tests.mutation import worker


@dataclasses.dataclass(frozen=True)
class Measured:
    """What the tests of a room do without a mutant.

    :param seconds: by id of those that pass.
    :param lines: ids by line, by file below the package.
    :param importers: files that import a file, by that file; and modules of
        tests that do.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    importers: dict[str, set[str]] = dataclasses.field(default_factory=dict)


def tests_of(place: mutants.Place, text: str, measured: Measured) -> dict:
    """Seconds by test, the fastest first.

    What runs in a function is tried with the tests that reach its statement.
    What runs at import, as constants, decorators and defaults do, is tried
    with those that reach something in the file, then with those that reach
    something in a file that imports it, or import it themselves; if there are
    none, with all.

    :param text: the source of the place.
    """
    lines, imported = mutants.statement(text, place.line)
    by_line = measured.lines.get(place.file, {})
    near = {test for line, tests in by_line.items()
            if imported or line in lines for test in tests}
    found = set(near)
    if imported:
        importing = measured.importers.get(place.file, set())
        for file in importing:
            for tests in measured.lines.get(file, {}).values():
                found.update(tests)
        found.update(test for test in measured.seconds
                     if worker.module_of(test) in importing)
        found = found or set(measured.seconds)
    return {test: measured.seconds[test] for test in sorted(
        found, key=lambda test: (
            test not in near, measured.seconds[test], test))}


def importers(texts: dict[str, str], tests: dict[str, str],
              ) -> dict[str, set[str]]:
    """The importers of each file.

    :param texts: sources of the package by file, as in :mod:`.rooms`.
    :param tests: sources of tests by module.
    :returns: files, and modules of tests, by the file that they import.
    """
    files = {rooms.module(file): file for file in texts}
    found = {file: set() for file in texts}
    for file, text in (*texts.items(), *tests.items()):
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module, *(f'{node.module}.{alias.name}'
                                        for alias in node.names)]
            for name in names:
                if name in files:
                    found[files[name]].add(file)
    return found
